package apiserver

import (
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"

	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// guardedCodec encodes objects for etcd only while the server may store any.
// The barrier asks the same question when a request arrives; asking again here
// catches a request that was under way while the process stood still for so
// long that the others take it for departed.
type guardedCodec struct {
	runtime.Codec
	// standing says why nothing may be stored now, or nil.
	standing func() error
}

// Encode writes the object in the version that is stored.
func (c guardedCodec) Encode(obj runtime.Object, w io.Writer) error {
	if err := c.standing(); err != nil {
		return apierrors.NewServiceUnavailable(storageversion.BarrierMessage + ": " + err.Error())
	}
	return c.Codec.Encode(obj, w)
}

// guardingGetter puts a guard around the codec of every resource.
type guardingGetter struct {
	generic.RESTOptionsGetter
	// mayPersist says why an object of a resource may not be stored now, or nil.
	mayPersist func(group, resource string) error
}

// GetRESTOptions returns the options of a resource, with a guarded codec.
func (g guardingGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	options.StorageConfig.Codec = guardedCodec{
		Codec:    options.StorageConfig.Codec,
		standing: func() error { return g.mayPersist(resource.Group, resource.Resource) },
	}
	return options, nil
}
