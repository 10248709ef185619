package discovery

import (
	"cmp"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Source is the kind of server that hosts a group-version.
type Source int

// The sources, in the order in which requests meet them: the aggregator hands a
// group-version that has an APIService with a Service to that Service, whatever
// this process could serve itself, and the built-in server comes before the one
// of custom resources.
const (
	Remote Source = iota
	Builtin
	Custom
)

// Priority orders group-versions as an APIService does; the greater comes first.
type Priority struct {
	// Group is the rank of the group among all. That of a group is the highest
	// of its versions.
	Group int32
	// Version is the rank of the version within its group.
	Version int32
}

// Entry is a group-version as one source hosts it.
type Entry struct {
	Source   Source
	Group    string
	Priority Priority
	Version  apidiscoveryv2.APIVersionDiscovery
}

// GroupVersion names what the entry describes.
func (e Entry) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: e.Group, Version: e.Version.Version}
}

// Merge makes one list of groups from all sources. The order of the entries does
// not matter; the result shares their content.
//
// KEP-3352: "Versions are in descending order of preference, with the first
// version being the preferred entry." Where two sources host the same
// group-version, the one that requests reach is listed. Ties are broken by what
// is the same on every server: versions by maturity, groups by name.
func Merge(entries []Entry) []apidiscoveryv2.APIGroupDiscovery {
	reached := map[schema.GroupVersion]Entry{}
	for _, entry := range entries {
		if other, twice := reached[entry.GroupVersion()]; !twice || entry.Source < other.Source {
			reached[entry.GroupVersion()] = entry
		}
	}
	groups := map[string][]Entry{}
	for _, entry := range reached {
		groups[entry.Group] = append(groups[entry.Group], entry)
	}
	ordered := make([][]Entry, 0, len(groups))
	for _, group := range groups {
		slices.SortFunc(group, byPreferredVersion)
		ordered = append(ordered, group)
	}
	slices.SortFunc(ordered, func(a, b []Entry) int {
		return cmp.Or(cmp.Compare(rankOf(b), rankOf(a)), strings.Compare(a[0].Group, b[0].Group))
	})
	list := make([]apidiscoveryv2.APIGroupDiscovery, 0, len(ordered))
	for _, group := range ordered {
		versions := make([]apidiscoveryv2.APIVersionDiscovery, 0, len(group))
		for _, entry := range group {
			versions = append(versions, entry.Version)
		}
		list = append(list, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group[0].Group}, Versions: versions})
	}
	return list
}

// byPreferredVersion puts the preferred of two versions of a group first.
func byPreferredVersion(a, b Entry) int {
	return cmp.Or(
		cmp.Compare(b.Priority.Version, a.Priority.Version),
		version.CompareKubeAwareVersionStrings(b.Version.Version, a.Version.Version),
		strings.Compare(a.Version.Version, b.Version.Version),
	)
}

// rankOf is the rank of a group: the highest that a version of it has.
func rankOf(group []Entry) int32 {
	return slices.MaxFunc(group, func(a, b Entry) int { return cmp.Compare(a.Priority.Group, b.Priority.Group) }).Priority.Group
}
