package registry

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// metaOf is the metadata of an object; every kind that is stored has some.
func metaOf(obj runtime.Object) (metav1.Object, *field.Error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, field.InternalError(field.NewPath("metadata"), err)
	}
	return accessor, nil
}
