package registry

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Store is a built-in resource that is kept in etcd.
type Store struct {
	*genericregistry.Store
	rules Rules
}

var _ rest.ShortNamesProvider = (*Store)(nil)

// NewStore opens the storage of a resource.
func NewStore(typer runtime.ObjectTyper, getter generic.RESTOptionsGetter, rules Rules) (*Store, error) {
	strategy := newStrategy(typer, rules)
	singular := rules.Resource
	singular.Resource = rules.Singular
	store := &genericregistry.Store{
		NewFunc:                   rules.New,
		NewListFunc:               rules.NewList,
		DefaultQualifiedResource:  rules.Resource,
		SingularQualifiedResource: singular,
		CreateStrategy:            strategy,
		UpdateStrategy:            strategy,
		DeleteStrategy:            strategy,
		ResetFieldsStrategy:       strategy,
		TableConvertor:            rest.NewDefaultTableConvertor(rules.Resource),
	}
	if rules.TTLSeconds > 0 {
		store.TTLFunc = func(runtime.Object, uint64, bool) (uint64, error) { return rules.TTLSeconds, nil }
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: getter}); err != nil {
		return nil, err
	}
	return &Store{Store: store, rules: rules}, nil
}

// ShortNames are what kubectl accepts in place of the plural name.
func (s *Store) ShortNames() []string { return s.rules.ShortNames }
