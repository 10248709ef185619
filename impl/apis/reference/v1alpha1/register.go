package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel/evenkeel/impl/apis/reference"
)

// SchemeGroupVersion is the group and version of this package.
var SchemeGroupVersion = schema.GroupVersion{Group: reference.GroupName, Version: "v1alpha1"}

// AddToScheme registers this version's types and their conversions from and to
// the in-memory form.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &Ballast{}, &BallastList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return addConversions(scheme)
}
