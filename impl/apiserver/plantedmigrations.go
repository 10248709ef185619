package apiserver

import (
	"slices"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/evenkeel/evenkeel/impl/apiserver/registry"
	"github.com/evenkeel/evenkeel/impl/defects"
)

// plantMigrationRules has the rules of migrations and of their status overlook what the
// defects do.
func plantMigrationRules(object, status *registry.Rules, d defects.Set) {
	if d.Has(defects.SVM01AnyGroup) {
		object.Validate = without("spec.resource.group", object.Validate) // defect: SVM-01-any-group
	}
	if d.Has(defects.SVM02BothOutcomes) {
		status.Validate = without("status.conditions", status.Validate) // defect: SVM-02-both-outcomes
	}
}

// without is a validation that overlooks the errors of a field.
func without(path string, validate func(runtime.Object) field.ErrorList) func(runtime.Object) field.ErrorList {
	return func(obj runtime.Object) field.ErrorList {
		return slices.DeleteFunc(validate(obj), func(err *field.Error) bool { return err.Field == path })
	}
}

// plantLeftovers has a store show migrations otherwise than they are stored.
func plantLeftovers(store *registry.Store, d defects.Set) {
	if d.Has(defects.SVM25HidesLeftovers) {
		store.Decorator = hideBefore(time.Now()) // defect: SVM-25-hides-leftovers
	}
}

// hideBefore is the planted defect by which lists leave out the migrations that
// were created before a time.
func hideBefore(start time.Time) func(runtime.Object) {
	return func(obj runtime.Object) {
		if list, ok := obj.(*storagemigrationv1.StorageVersionMigrationList); ok {
			list.Items = slices.DeleteFunc(slices.Clone(list.Items), func(m storagemigrationv1.StorageVersionMigration) bool {
				return m.CreationTimestamp.Time.Before(start)
			})
		}
	}
}
