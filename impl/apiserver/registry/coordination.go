package registry

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Coordination are the resources of the group coordination.k8s.io.
func Coordination() []Rules {
	return []Rules{{
		Resource: coordinationv1.SchemeGroupVersion.WithResource("leases").GroupResource(), Singular: "lease", Namespaced: true,
		New:       func() runtime.Object { return &coordinationv1.Lease{} },
		NewList:   func() runtime.Object { return &coordinationv1.LeaseList{} },
		ValidName: apimachineryvalidation.NameIsDNSSubdomain,
		Validate:  validateLease,
		// A Lease is taken over from somebody else; that must never happen on
		// the strength of an old copy.
		RefuseUnconditional: true,
		CreateOnUpdate:      true,
	}}
}

func validateLease(obj runtime.Object) field.ErrorList {
	spec, path := &obj.(*coordinationv1.Lease).Spec, field.NewPath("spec")
	var errs field.ErrorList
	if duration := spec.LeaseDurationSeconds; duration != nil && *duration <= 0 {
		errs = append(errs, field.Invalid(path.Child("leaseDurationSeconds"), *duration, "must be greater than 0"))
	}
	if transitions := spec.LeaseTransitions; transitions != nil && *transitions < 0 {
		errs = append(errs, field.Invalid(path.Child("leaseTransitions"), *transitions, "must not be negative"))
	}
	return errs
}
