package election

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"
)

// ValidateCandidate says what is wrong with a LeaseCandidate.
func ValidateCandidate(spec *coordinationv1beta1.LeaseCandidateSpec) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	for _, problem := range apimachineryvalidation.NameIsDNSSubdomain(spec.LeaseName, false) {
		errs = append(errs, field.Invalid(path.Child("leaseName"), spec.LeaseName, problem))
	}
	binary, err := version.ParseSemantic(spec.BinaryVersion)
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("binaryVersion"), spec.BinaryVersion, "must be a semantic version such as 1.2.0"))
	}
	switch emulated, emulatedErr := version.ParseSemantic(spec.EmulationVersion); {
	case spec.EmulationVersion == "" && compares(spec.Strategy):
		errs = append(errs, field.Required(path.Child("emulationVersion"), "needed by the strategy "+string(spec.Strategy)))
	case spec.EmulationVersion == "":
	case emulatedErr != nil:
		errs = append(errs, field.Invalid(path.Child("emulationVersion"), spec.EmulationVersion, "must be a semantic version such as 1.2.0"))
	case err == nil && binary.LessThan(emulated):
		errs = append(errs, field.Invalid(path.Child("emulationVersion"), spec.EmulationVersion, "must not be later than binaryVersion"))
	}
	if spec.Strategy == "" {
		return append(errs, field.Required(path.Child("strategy"), ""))
	}
	return append(errs, validateStrategy(spec.Strategy, path.Child("strategy"))...)
}

// ValidateCandidateUpdate says what is wrong with a change of one.
func ValidateCandidateUpdate(spec, old *coordinationv1beta1.LeaseCandidateSpec) field.ErrorList {
	return apimachineryvalidation.ValidateImmutableField(spec.LeaseName, old.LeaseName, field.NewPath("spec", "leaseName"))
}

// ValidateLease says what is wrong with the fields of a Lease that are for
// coordination.
func ValidateLease(spec *coordinationv1.LeaseSpec) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if spec.Strategy != nil {
		errs = validateStrategy(*spec.Strategy, path.Child("strategy"))
	} else if ptr.Deref(spec.PreferredHolder, "") != "" {
		errs = append(errs, field.Forbidden(path.Child("preferredHolder"), "needs a strategy"))
	}
	return errs
}

// compares is whether a strategy compares the versions of candidates.
func compares(s Strategy) bool {
	_, elects := OrderOf(s)
	return elects
}

// validateStrategy: what this coordinator does not know must say whose it is.
func validateStrategy(s Strategy, path *field.Path) field.ErrorList {
	if compares(s) || s == NoCoordination {
		return nil
	}
	return validation.IsDomainPrefixedPath(path, string(s))
}
