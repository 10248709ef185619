package apiserver

import (
	"fmt"

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

// StorageEncodingFor is the version that objects are written to etcd in.
func (e encoding) StorageEncodingFor(resource schema.GroupResource) (schema.GroupVersion, error) {
	for _, row := range e.release.Resources {
		if row.Group == resource.Group && row.Resource == resource.Resource {
			return schema.GroupVersion{Group: row.Group, Version: row.Encoding}, nil
		}
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
