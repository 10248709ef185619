package registry

import (
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/evenkeel/evenkeel/impl/apis/reference"
)

// Reference are the resources of the group reference.evenkeel.dev.
func Reference() []Rules {
	return []Rules{{
		Resource: schema.GroupResource{Group: reference.GroupName, Resource: "ballasts"}, Singular: "ballast", Namespaced: true,
		New:           func() runtime.Object { return &reference.Ballast{} },
		NewList:       func() runtime.Object { return &reference.BallastList{} },
		ValidName:     apimachineryvalidation.NameIsDNSSubdomain,
		PrepareCreate: func(obj runtime.Object) { obj.(*reference.Ballast).Generation = 1 },
		PrepareUpdate: func(obj, old runtime.Object) {
			bumpGeneration(obj, old, obj.(*reference.Ballast).Spec, old.(*reference.Ballast).Spec)
		},
		Validate: validateBallast,
	}}
}

// validateBallast names fields as the in-memory form has them; every version
// spells them differently.
func validateBallast(obj runtime.Object) field.ErrorList {
	spec, path := &obj.(*reference.Ballast).Spec, field.NewPath("spec")
	var errs field.ErrorList
	if spec.Kilograms < 0 {
		errs = append(errs, field.Invalid(path.Child("kilograms"), spec.Kilograms, "must not be negative"))
	}
	switch spec.Position {
	case reference.PositionUndecided, reference.PositionFore, reference.PositionMidships, reference.PositionAft:
	default:
		errs = append(errs, field.NotSupported(path.Child("position"), spec.Position,
			[]string{reference.PositionFore, reference.PositionMidships, reference.PositionAft}))
	}
	return errs
}
