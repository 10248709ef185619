package storageversion

import "strings"

// CoreGroup is the name of the core group in names of StorageVersion objects. The name
// of the group itself is empty.
const CoreGroup = "core"

// Name is the name of the object that describes a resource.
//
// KEP-2339: the object is named after group and resource, with a dot between.
func Name(group, resource string) string {
	if group == "" {
		group = CoreGroup
	}
	return group + "." + resource
}

// ParseName is the inverse of Name. A group may hold dots and a resource may
// not, so the last dot divides them.
func ParseName(name string) (group, resource string, ok bool) {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || dot == len(name)-1 {
		return "", "", false
	}
	group, resource = name[:dot], name[dot+1:]
	if group == CoreGroup {
		group = ""
	}
	return group, resource, true
}
