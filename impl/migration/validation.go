package migration

import (
	"fmt"
	"strconv"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateSpec checks which resource a migration names. The controller checks when the
// migration begins whether the resource exists: it may be served later.
func ValidateSpec(spec *storagemigrationv1.StorageVersionMigrationSpec) field.ErrorList {
	path := field.NewPath("spec", "resource")
	var errs field.ErrorList
	if group := spec.Resource.Group; group != "" {
		for _, message := range validation.IsDNS1123Subdomain(group) {
			errs = append(errs, field.Invalid(path.Child("group"), group, message))
		}
	}
	resource := spec.Resource.Resource
	if resource == "" {
		return append(errs, field.Required(path.Child("resource"), "a migration is of one resource"))
	}
	for _, message := range validation.IsDNS1035Label(resource) {
		errs = append(errs, field.Invalid(path.Child("resource"), resource, message))
	}
	return errs
}

// ValidateSpecUpdate checks a change of the specification: there is none.
//
// KEP-25: the resource is immutable.
func ValidateSpecUpdate(spec, old *storagemigrationv1.StorageVersionMigrationSpec) field.ErrorList {
	if equality.Semantic.DeepEqual(spec, old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "must not change; create another migration")}
}

// ValidateStatus checks a status on its own: at most one outcome, and a
// resourceVersion that can be compared.
func ValidateStatus(status *storagemigrationv1.StorageVersionMigrationStatus) field.ErrorList {
	path := field.NewPath("status")
	errs := metav1validation.ValidateConditions(status.Conditions, path.Child("conditions"))
	if isTrue(status.Conditions, storagemigrationv1.MigrationSucceeded) && isTrue(status.Conditions, storagemigrationv1.MigrationFailed) {
		errs = append(errs, field.Invalid(path.Child("conditions"), storagemigrationv1.MigrationFailed, "a migration cannot have both succeeded and failed"))
	}
	if version := status.ResourceVersion; version != "" {
		if n, err := strconv.ParseUint(version, 10, 64); err != nil || n == 0 {
			errs = append(errs, field.Invalid(path.Child("resourceVersion"), version, "must be a positive whole number"))
		}
	}
	return errs
}

// ValidateStatusUpdate checks a change of the status: an outcome is final, and
// the resourceVersion is recorded once.
func ValidateStatusUpdate(status, old *storagemigrationv1.StorageVersionMigrationStatus) field.ErrorList {
	path := field.NewPath("status")
	var errs field.ErrorList
	for _, outcome := range []storagemigrationv1.MigrationConditionType{storagemigrationv1.MigrationSucceeded, storagemigrationv1.MigrationFailed} {
		if isTrue(old.Conditions, outcome) && !isTrue(status.Conditions, outcome) {
			errs = append(errs, field.Forbidden(path.Child("conditions"), fmt.Sprintf("%s is final", outcome)))
		}
	}
	if old.ResourceVersion != "" && status.ResourceVersion != old.ResourceVersion {
		errs = append(errs, field.Forbidden(path.Child("resourceVersion"), "must not change once it is recorded"))
	}
	return errs
}

func isTrue(conditions []metav1.Condition, condition storagemigrationv1.MigrationConditionType) bool {
	return meta.IsStatusConditionTrue(conditions, string(condition))
}
