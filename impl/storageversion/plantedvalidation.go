package storageversion

import (
	"slices"
	"strings"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// PlantValidateName gives how a name is checked with the defects of a set.
func PlantValidateName(d defects.Set) func(name string) field.ErrorList {
	return func(name string) field.ErrorList {
		if d.Has(defects.SV02NamelessCore) && len(validation.IsDNS1035Label(name)) == 0 {
			return nil // defect: SV-02-nameless-core
		}
		return ValidateName(name)
	}
}

// PlantValidateStatus gives how a status is checked with the defects of a set.
func PlantValidateStatus(d defects.Set) func(*apiserverinternalv1alpha1.StorageVersionStatus) field.ErrorList {
	overlooks := func(err *field.Error) bool {
		contradiction := err.Field == "status.commonEncodingVersion" && d.Has(defects.SV06AcceptsFalseAgreement) ||
			err.Field == "status.conditions" && (d.Has(defects.SV06AcceptsFalseAgreement) || d.Has(defects.SV06InvertedCondition))
		switch {
		case contradiction:
			return true // defect: SV-06-accepts-false-agreement, SV-06-inverted-condition
		case strings.HasSuffix(err.Field, "].apiServerID") && err.Type == field.ErrorTypeDuplicate:
			return d.Has(defects.SV03DuplicateEntry) // defect: SV-03-duplicate-entry
		case strings.HasSuffix(err.Field, "].encodingVersion") && err.Type == field.ErrorTypeInvalid:
			return d.Has(defects.SV04AcceptsUndecodable) // defect: SV-04-accepts-undecodable
		}
		return false
	}
	return func(status *apiserverinternalv1alpha1.StorageVersionStatus) field.ErrorList {
		return slices.DeleteFunc(ValidateStatus(status), overlooks)
	}
}
