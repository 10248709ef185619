package registry

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// StatusStore is the status subresource of a Store: it changes the status and
// nothing else, and creates and deletes nothing.
type StatusStore struct {
	parent *Store
	status *Store
}

var (
	_ rest.Patcher             = (*StatusStore)(nil)
	_ rest.ResetFieldsStrategy = (*StatusStore)(nil)
)

// NewStatusStore opens the status subresource of a resource under rules of its
// own; those for creation are not used.
func NewStatusStore(typer runtime.ObjectTyper, parent *Store, rules Rules) *StatusStore {
	strategy := newStrategy(typer, rules)
	store := *parent.Store
	store.CreateStrategy = nil
	store.DeleteStrategy = nil
	store.UpdateStrategy = strategy
	store.ResetFieldsStrategy = strategy
	return &StatusStore{parent: parent, status: &Store{Store: &store, rules: rules}}
}

// New returns an empty object.
func (s *StatusStore) New() runtime.Object { return s.parent.New() }

// Destroy has nothing to do: the storage belongs to the parent.
func (s *StatusStore) Destroy() {}

// Get returns the whole object.
func (s *StatusStore) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.status.Get(ctx, name, options)
}

// Update changes the status of an object that exists.
func (s *StatusStore) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.status.Update(ctx, name, info, create, update, false, options)
}

// GetResetFields tells server-side apply which fields this subresource ignores.
func (s *StatusStore) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.status.GetResetFields()
}

// ConvertToTable shows the object as kubectl wants it.
func (s *StatusStore) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return s.status.ConvertToTable(ctx, object, options)
}
