package apiserver

import (
	"fmt"

	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel/evenkeel/impl/release"
)

// encoding says in which version each resource is stored: the one of the
// release's table where there is a row, the only one that exists elsewhere.
type encoding struct {
	scheme  *runtime.Scheme
	release release.Release
}

// storedIn are resources that do not exist in the preferred version of their group.
var storedIn = map[schema.GroupResource]schema.GroupVersion{
	coordinationv1beta1.SchemeGroupVersion.WithResource(candidates).GroupResource(): coordinationv1beta1.SchemeGroupVersion,
}

// StorageEncodingFor is the version that objects are written to etcd in.
func (e encoding) StorageEncodingFor(resource schema.GroupResource) (schema.GroupVersion, error) {
	for _, row := range e.release.Resources {
		if row.Group == resource.Group && row.Resource == resource.Resource {
			return schema.GroupVersion{Group: row.Group, Version: row.Encoding}, nil
		}
	}
	if version, ok := storedIn[resource]; ok {
		return version, nil
	}
	versions := e.scheme.PrioritizedVersionsForGroup(resource.Group)
	if len(versions) == 0 {
		return schema.GroupVersion{}, fmt.Errorf("release %s knows no version of group %q", e.release.Name, resource.Group)
	}
	return versions[0], nil
}

// InMemoryEncodingFor is the version that objects are held in by the server.
func (e encoding) InMemoryEncodingFor(resource schema.GroupResource) (schema.GroupVersion, error) {
	return schema.GroupVersion{Group: resource.Group, Version: runtime.APIVersionInternal}, nil
}
