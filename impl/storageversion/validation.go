package storageversion

import (
	"slices"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateName checks the name of a StorageVersion: group and resource, so that
// a consumer can tell what the object describes without a lookup.
func ValidateName(name string) field.ErrorList {
	path := field.NewPath("metadata", "name")
	if _, _, ok := ParseName(name); !ok {
		return field.ErrorList{field.Invalid(path, name, "must be <group>.<resource>, with "+CoreGroup+" for the core group")}
	}
	var errs field.ErrorList
	// The words of the name, not those ParseName makes of them: "core" is one.
	dot := len(name) - len(resourceOf(name)) - 1
	for _, msg := range validation.IsDNS1123Subdomain(name[:dot]) {
		errs = append(errs, field.Invalid(path, name, "group: "+msg))
	}
	for _, msg := range validation.IsDNS1035Label(name[dot+1:]) {
		errs = append(errs, field.Invalid(path, name, "resource: "+msg))
	}
	return errs
}

func resourceOf(name string) string {
	_, resource, _ := ParseName(name)
	return resource
}

// ValidateStatus checks what can be checked of a status without knowing who
// takes part: that each server reports once and can read what it writes, and
// that the agreed version and the condition do not contradict the entries. An
// agreed version may be missing although all entries are equal, because a
// participant that has not reported yet forbids agreement.
func ValidateStatus(status *apiserverinternalv1alpha1.StorageVersionStatus) field.ErrorList {
	path := field.NewPath("status")
	errs := validateEntries(status.StorageVersions, path.Child("storageVersions"))
	errs = append(errs, validateAgreement(status, path.Child("commonEncodingVersion"))...)
	errs = append(errs, validateConditions(status, path.Child("conditions"))...)
	return errs
}

func validateEntries(entries []apiserverinternalv1alpha1.ServerStorageVersion, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i := range entries {
		entry, path := &entries[i], path.Index(i)
		id := path.Child("apiServerID")
		switch {
		case entry.APIServerID == "":
			errs = append(errs, field.Required(id, "an entry belongs to a server"))
		case seen.Has(entry.APIServerID):
			errs = append(errs, field.Duplicate(id, entry.APIServerID))
		default:
			// The ID is also the name of the server's identity Lease.
			for _, msg := range validation.IsDNS1123Subdomain(entry.APIServerID) {
				errs = append(errs, field.Invalid(id, entry.APIServerID, msg))
			}
		}
		seen.Insert(entry.APIServerID)
		errs = append(errs, validateVersions(entry, path)...)
	}
	return errs
}

// KEP-2339: the version that a server encodes in is one of those it decodes.
// The same holds for the versions that it serves.
func validateVersions(entry *apiserverinternalv1alpha1.ServerStorageVersion, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch encoding := path.Child("encodingVersion"); {
	case entry.EncodingVersion == "":
		errs = append(errs, field.Required(encoding, "a server stores the resource in some version"))
	case !slices.Contains(entry.DecodableVersions, entry.EncodingVersion):
		errs = append(errs, field.Invalid(encoding, entry.EncodingVersion, "must be one of the decodableVersions"))
	}
	errs = append(errs, validateSet(entry.DecodableVersions, path.Child("decodableVersions"))...)
	errs = append(errs, validateSet(entry.ServedVersions, path.Child("servedVersions"))...)
	for i, served := range entry.ServedVersions {
		if !slices.Contains(entry.DecodableVersions, served) {
			errs = append(errs, field.Invalid(path.Child("servedVersions").Index(i), served, "must be one of the decodableVersions"))
		}
	}
	return errs
}

func validateSet(versions []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, version := range versions {
		switch {
		case version == "":
			errs = append(errs, field.Required(path.Index(i), "a version has a name"))
		case seen.Has(version):
			errs = append(errs, field.Duplicate(path.Index(i), version))
		}
		seen.Insert(version)
	}
	return errs
}

// KEP-2339: the agreed version is set only when the servers share it.
func validateAgreement(status *apiserverinternalv1alpha1.StorageVersionStatus, path *field.Path) field.ErrorList {
	common := status.CommonEncodingVersion
	if common == nil {
		return nil
	}
	if len(status.StorageVersions) == 0 {
		return field.ErrorList{field.Invalid(path, *common, "must be unset while no server has reported")}
	}
	for i := range status.StorageVersions {
		if entry := &status.StorageVersions[i]; entry.EncodingVersion != *common {
			return field.ErrorList{field.Invalid(path, *common, "must be unset: server "+entry.APIServerID+" encodes in "+entry.EncodingVersion)}
		}
	}
	return nil
}

func validateConditions(status *apiserverinternalv1alpha1.StorageVersionStatus, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[apiserverinternalv1alpha1.StorageVersionConditionType]()
	agreed := false
	for i := range status.Conditions {
		condition, path := &status.Conditions[i], path.Index(i)
		switch {
		case condition.Type == "":
			errs = append(errs, field.Required(path.Child("type"), "a condition has a type"))
		case seen.Has(condition.Type):
			errs = append(errs, field.Duplicate(path.Child("type"), condition.Type))
		}
		seen.Insert(condition.Type)
		switch condition.Status {
		case apiserverinternalv1alpha1.ConditionTrue, apiserverinternalv1alpha1.ConditionFalse, apiserverinternalv1alpha1.ConditionUnknown:
		default:
			errs = append(errs, field.NotSupported(path.Child("status"), condition.Status, []apiserverinternalv1alpha1.ConditionStatus{
				apiserverinternalv1alpha1.ConditionTrue, apiserverinternalv1alpha1.ConditionFalse, apiserverinternalv1alpha1.ConditionUnknown}))
		}
		if condition.Reason == "" {
			errs = append(errs, field.Required(path.Child("reason"), "a condition says why"))
		}
		if condition.Message == "" {
			errs = append(errs, field.Required(path.Child("message"), "a condition explains itself"))
		}
		if condition.Type == apiserverinternalv1alpha1.AllEncodingVersionsEqual && condition.Status == apiserverinternalv1alpha1.ConditionTrue {
			agreed = true
		}
	}
	switch {
	case agreed && status.CommonEncodingVersion == nil:
		errs = append(errs, field.Invalid(path, apiserverinternalv1alpha1.AllEncodingVersionsEqual, "must not be True while commonEncodingVersion is unset"))
	case !agreed && status.CommonEncodingVersion != nil:
		errs = append(errs, field.Invalid(path, apiserverinternalv1alpha1.AllEncodingVersionsEqual, "must be True while commonEncodingVersion is set"))
	}
	return errs
}
