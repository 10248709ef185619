package registry

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/evenkeel/evenkeel/impl/election"
)

// Leases are the rules of Leases. Where leaders are not elected by a coordinator,
// the fields that are for that are dropped from new Leases, and kept on those that
// have them.
func Leases(coordinated bool) Rules {
	return Rules{
		Resource: coordinationv1.SchemeGroupVersion.WithResource("leases").GroupResource(), Singular: "lease", Namespaced: true,
		New:       func() runtime.Object { return &coordinationv1.Lease{} },
		NewList:   func() runtime.Object { return &coordinationv1.LeaseList{} },
		ValidName: apimachineryvalidation.NameIsDNSSubdomain,
		PrepareCreate: func(obj runtime.Object) {
			if !coordinated {
				uncoordinate(&obj.(*coordinationv1.Lease).Spec)
			}
		},
		PrepareUpdate: func(obj, old runtime.Object) {
			before := &old.(*coordinationv1.Lease).Spec
			if !coordinated && before.Strategy == nil && before.PreferredHolder == nil {
				uncoordinate(&obj.(*coordinationv1.Lease).Spec)
			}
		},
		Validate: validateLease,
		// A client takes a Lease over from another holder; it must never do so
		// based on an old copy.
		RefuseUnconditional: true,
		CreateOnUpdate:      true,
	}
}

// uncoordinate drops what is for coordination.
func uncoordinate(spec *coordinationv1.LeaseSpec) { spec.Strategy, spec.PreferredHolder = nil, nil }

func validateLease(obj runtime.Object) field.ErrorList {
	spec, path := &obj.(*coordinationv1.Lease).Spec, field.NewPath("spec")
	errs := election.ValidateLease(spec)
	if duration := spec.LeaseDurationSeconds; duration != nil && *duration <= 0 {
		errs = append(errs, field.Invalid(path.Child("leaseDurationSeconds"), *duration, "must be greater than 0"))
	}
	if transitions := spec.LeaseTransitions; transitions != nil && *transitions < 0 {
		errs = append(errs, field.Invalid(path.Child("leaseTransitions"), *transitions, "must not be negative"))
	}
	return errs
}

// LeaseCandidates are the rules of candidates for leadership. Their names may be
// identities, which have an underscore between host and process.
func LeaseCandidates() Rules {
	return Rules{
		Resource: coordinationv1beta1.SchemeGroupVersion.WithResource("leasecandidates").GroupResource(), Singular: "leasecandidate", Namespaced: true,
		New:       func() runtime.Object { return &coordinationv1beta1.LeaseCandidate{} },
		NewList:   func() runtime.Object { return &coordinationv1beta1.LeaseCandidateList{} },
		ValidName: validCandidateName,
		Validate: func(obj runtime.Object) field.ErrorList {
			return election.ValidateCandidate(&obj.(*coordinationv1beta1.LeaseCandidate).Spec)
		},
		ValidateUpdate: func(obj, old runtime.Object) field.ErrorList {
			return election.ValidateCandidateUpdate(&obj.(*coordinationv1beta1.LeaseCandidate).Spec, &old.(*coordinationv1beta1.LeaseCandidate).Spec)
		},
		RefuseUnconditional: true,
		CreateOnUpdate:      true,
	}
}

// validCandidateName takes what may be a key of a ConfigMap.
func validCandidateName(name string, _ bool) []string { return validation.IsConfigMapKey(name) }
