// Package registry is the storage of the reference API server's built-in
// resources: defaults, validation, and the etcd keys of objects.
package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Rules are what distinguishes one built-in resource from another. Functions
// may be nil.
type Rules struct {
	// Resource is the plural name with its group; Singular is without.
	Resource schema.GroupResource
	Singular string
	// ShortNames are what kubectl accepts in place of the plural name.
	ShortNames []string
	Namespaced bool
	// New and NewList make empty objects in the in-memory form.
	New, NewList func() runtime.Object

	// ValidName checks metadata.name; all names that can stand in a path are
	// valid where it is nil.
	ValidName apimachineryvalidation.ValidateNameFunc
	// PrepareCreate and PrepareUpdate put right what clients may not set.
	PrepareCreate func(obj runtime.Object)
	PrepareUpdate func(obj, old runtime.Object)
	// Validate checks an object on its own.
	Validate func(obj runtime.Object) field.ErrorList
	// ValidateUpdate checks a change, in addition to Validate.
	ValidateUpdate func(obj, old runtime.Object) field.ErrorList

	// RefuseUnconditional is whether an update must name the resourceVersion
	// that it is based on.
	RefuseUnconditional bool
	// CreateOnUpdate is whether a PUT may create the object.
	CreateOnUpdate bool
	// TTLSeconds is how long etcd keeps an object; 0 is forever.
	TTLSeconds uint64
	// Ignored are the fields, by served version, in which a client's wishes are
	// passed over; server-side apply must know so as not to record an owner.
	Ignored map[fieldpath.APIVersion]*fieldpath.Set
}

// strategy applies Rules in the way the generic registry asks for it.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	rules Rules
}

var (
	_ rest.RESTCreateStrategy  = strategy{}
	_ rest.RESTUpdateStrategy  = strategy{}
	_ rest.RESTDeleteStrategy  = strategy{}
	_ rest.ResetFieldsStrategy = strategy{}
)

func newStrategy(typer runtime.ObjectTyper, rules Rules) strategy {
	return strategy{ObjectTyper: typer, NameGenerator: names.SimpleNameGenerator, rules: rules}
}

func (s strategy) NamespaceScoped() bool { return s.rules.Namespaced }

func (s strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	if s.rules.PrepareCreate != nil {
		s.rules.PrepareCreate(obj)
	}
}

func (s strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	if s.rules.PrepareUpdate != nil {
		s.rules.PrepareUpdate(obj, old)
	}
}

func (s strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	errs := s.validateMeta(obj)
	if s.rules.Validate != nil {
		errs = append(errs, s.rules.Validate(obj)...)
	}
	return errs
}

func (s strategy) validateMeta(obj runtime.Object) field.ErrorList {
	if s.rules.ValidName == nil {
		return nil
	}
	meta, err := metaOf(obj)
	if err != nil {
		return field.ErrorList{err}
	}
	return apimachineryvalidation.ValidateObjectMetaAccessor(meta, s.rules.Namespaced, s.rules.ValidName, field.NewPath("metadata"))
}

func (s strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	var errs field.ErrorList
	if s.rules.Validate != nil {
		errs = append(errs, s.rules.Validate(obj)...)
	}
	if s.rules.ValidateUpdate != nil {
		errs = append(errs, s.rules.ValidateUpdate(obj, old)...)
	}
	return errs
}

func (s strategy) AllowCreateOnUpdate(context.Context) bool { return s.rules.CreateOnUpdate }

func (s strategy) AllowUnconditionalUpdate(context.Context) bool { return !s.rules.RefuseUnconditional }

func (s strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

func (s strategy) WarningsOnUpdate(_ context.Context, _, _ runtime.Object) []string { return nil }

func (s strategy) Canonicalize(runtime.Object) {}

func (s strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set { return s.rules.Ignored }

// bumpGeneration raises metadata.generation when the specification changed,
// and leaves it alone otherwise, whatever the client sent.
func bumpGeneration(obj, old runtime.Object, spec, oldSpec any) {
	meta, err := metaOf(obj)
	if err != nil {
		return
	}
	oldMeta, err := metaOf(old)
	if err != nil {
		return
	}
	meta.SetGeneration(oldMeta.GetGeneration())
	if !equality.Semantic.DeepEqual(spec, oldSpec) {
		meta.SetGeneration(oldMeta.GetGeneration() + 1)
	}
}
