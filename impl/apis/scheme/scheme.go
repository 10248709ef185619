// Package scheme says which kinds a release of the reference API server knows,
// and in which versions it can read and write them.
package scheme

import (
	"fmt"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
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

// published are the kinds of k8s.io/api that are served, by group and version.
// They have one version each, but for storage migrations (migrations.go) and
// candidates for leadership (candidates.go).
var published = []struct {
	version schema.GroupVersion
	objects []runtime.Object
}{
	{corev1.SchemeGroupVersion, []runtime.Object{
		&corev1.ConfigMap{}, &corev1.ConfigMapList{},
		&corev1.Event{}, &corev1.EventList{},
		&corev1.Namespace{}, &corev1.NamespaceList{},
		&corev1.Secret{}, &corev1.SecretList{},
		&corev1.Service{}, &corev1.ServiceList{},
	}},
	{coordinationv1.SchemeGroupVersion, []runtime.Object{
		&coordinationv1.Lease{}, &coordinationv1.LeaseList{},
	}},
	// kube-aggregator's availability controller wants to watch EndpointSlices.
	{discoveryv1.SchemeGroupVersion, []runtime.Object{
		&discoveryv1.EndpointSlice{}, &discoveryv1.EndpointSliceList{},
	}},
	{apiserverinternalv1alpha1.SchemeGroupVersion, []runtime.Object{
		&apiserverinternalv1alpha1.StorageVersion{}, &apiserverinternalv1alpha1.StorageVersionList{},
	}},
	{storagemigrationv1.SchemeGroupVersion, []runtime.Object{
		&storagemigrationv1.StorageVersionMigration{}, &storagemigrationv1.StorageVersionMigrationList{},
	}},
	{authenticationv1.SchemeGroupVersion, []runtime.Object{
		&authenticationv1.TokenReview{}, &authenticationv1.SelfSubjectReview{},
	}},
	{authorizationv1.SchemeGroupVersion, []runtime.Object{
		&authorizationv1.SubjectAccessReview{}, &authorizationv1.SelfSubjectAccessReview{},
	}},
}

// ballastVersions are the versions of the resource that releases differ in.
var ballastVersions = map[string]func(*runtime.Scheme) error{
	release.V1alpha1: referencev1alpha1.AddToScheme,
	release.V1beta1:  referencev1beta1.AddToScheme,
	release.V1:       referencev1.AddToScheme,
}

// New returns what a release knows. A version that the release cannot decode
// is not registered, so that the release really cannot read what a later one
// stored in it.
func New(r release.Release) *runtime.Scheme {
	scheme := runtime.NewScheme()
	addOptions(scheme)
	for _, group := range published {
		addPublished(scheme, group.version, group.objects)
	}
	addDefaults(scheme)
	addMigrations(scheme)
	addCandidates(scheme)
	addBallasts(scheme, r.Ballasts())
	return scheme
}

// addOptions registers options and statuses, which are the same for all groups.
func addOptions(scheme *runtime.Scheme) {
	options := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, options)
	scheme.AddUnversionedTypes(options,
		&metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{},
		&metav1.APIGroup{}, &metav1.APIResourceList{})
}

// addPublished registers kinds under their published version and as their own
// in-memory form. Where a group has one version there is nothing that a form of
// its own would have to reconcile.
func addPublished(scheme *runtime.Scheme, version schema.GroupVersion, objects []runtime.Object) {
	scheme.AddKnownTypes(version, objects...)
	scheme.AddKnownTypes(schema.GroupVersion{Group: version.Group, Version: runtime.APIVersionInternal}, objects...)
	metav1.AddToGroupVersion(scheme, version)
	utilruntime.Must(scheme.SetVersionPriority(version))
}

func addBallasts(scheme *runtime.Scheme, versions release.Resource) {
	utilruntime.Must(reference.AddToScheme(scheme))
	for _, version := range versions.Decodable {
		add, ok := ballastVersions[version]
		if !ok {
			panic(fmt.Sprintf("a release decodes ballasts in %s, which no package defines", version))
		}
		utilruntime.Must(add(scheme))
	}
	var preferred []schema.GroupVersion
	for _, version := range versions.Served {
		preferred = append(preferred, schema.GroupVersion{Group: versions.Group, Version: version})
	}
	utilruntime.Must(scheme.SetVersionPriority(preferred...))
}
