package scheme

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/evenkeel/evenkeel/impl/apis/reference"
	referencev1 "github.com/evenkeel/evenkeel/impl/apis/reference/v1"
	referencev1alpha1 "github.com/evenkeel/evenkeel/impl/apis/reference/v1alpha1"
	referencev1beta1 "github.com/evenkeel/evenkeel/impl/apis/reference/v1beta1"
	"github.com/evenkeel/evenkeel/impl/release"
)

// aggregatedObjects are the forms of a Ballast by version.
var aggregatedObjects = map[string][]runtime.Object{
	release.V1alpha1: {&referencev1alpha1.Ballast{}, &referencev1alpha1.BallastList{}},
	release.V1beta1:  {&referencev1beta1.Ballast{}, &referencev1beta1.BallastList{}},
	release.V1:       {&referencev1.Ballast{}, &referencev1.BallastList{}},
}

// NewAggregated returns what an aggregated server of a release knows: ballasts once
// more, in a group of their own. They have the same forms and conversions as those
// of the reference API server, so these are registered too, and not served.
func NewAggregated(r release.Release) *runtime.Scheme {
	scheme := runtime.NewScheme()
	addOptions(scheme)
	addBallasts(scheme, r.Ballasts())

	ballasts := r.Aggregated()
	group := func(version string) schema.GroupVersion {
		return schema.GroupVersion{Group: ballasts.Group, Version: version}
	}
	scheme.AddKnownTypes(group(runtime.APIVersionInternal), &reference.Ballast{}, &reference.BallastList{})
	for _, version := range ballasts.Decodable {
		scheme.AddKnownTypes(group(version), aggregatedObjects[version]...)
		metav1.AddToGroupVersion(scheme, group(version))
	}
	var preferred []schema.GroupVersion
	for _, version := range ballasts.Served {
		preferred = append(preferred, group(version))
	}
	utilruntime.Must(scheme.SetVersionPriority(preferred...))
	return scheme
}
