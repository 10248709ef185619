// Package review serves the reviews that the API server answers and does not store: who
// a user is, and what a user may do. KEP-2339 lets them pass at any time, because they
// have no storage version.
package review

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// answer fills in the status of a review; it refuses one that asks nothing.
type answer func(ctx context.Context, obj runtime.Object) error

// REST is a resource that can be created only, and then is gone.
type REST struct {
	singular string
	empty    func() runtime.Object
	answer   answer
	scoped   bool
}

var (
	_ rest.Creater              = (*REST)(nil) //nolint:misspell // the name of the interface
	_ rest.Scoper               = (*REST)(nil)
	_ rest.SingularNameProvider = (*REST)(nil)
	_ rest.Storage              = (*REST)(nil)
)

// New returns an empty review.
func (r *REST) New() runtime.Object { return r.empty() }

// Destroy has nothing to do: nothing is stored.
func (r *REST) Destroy() {}

// NamespaceScoped is whether the review belongs to a namespace; none does.
func (r *REST) NamespaceScoped() bool { return r.scoped }

// GetSingularName is what kubectl calls one of them.
func (r *REST) GetSingularName() string { return r.singular }

// Create answers the review and returns it.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	if validate != nil {
		if err := validate(ctx, obj.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	if err := r.answer(ctx, obj); err != nil {
		return nil, err
	}
	return obj, nil
}

// unexpected says that a review of another kind arrived, which the decoder
// before us rules out.
func unexpected(obj runtime.Object) error {
	return apierrors.NewInternalError(fmt.Errorf("a review of type %T cannot be answered here", obj))
}
