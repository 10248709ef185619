package registry

import (
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// StorageVersions are the rules of KEP-2339's resource: those of the object
// itself, and those of its status subresource. The status belongs to the API
// servers, so it starts out empty and changes through the subresource only;
// and because every server edits its own entry in a list that they share, a
// write must always name the resourceVersion that it was merged into.
func StorageVersions() (object, status Rules) {
	version := fieldpath.APIVersion(apiserverinternalv1alpha1.SchemeGroupVersion.String())
	object = Rules{
		Resource: apiserverinternalv1alpha1.SchemeGroupVersion.WithResource("storageversions").GroupResource(),
		Singular: "storageversion",
		New:      func() runtime.Object { return &apiserverinternalv1alpha1.StorageVersion{} },
		NewList:  func() runtime.Object { return &apiserverinternalv1alpha1.StorageVersionList{} },
		PrepareCreate: func(obj runtime.Object) {
			storageVersion(obj).Status = apiserverinternalv1alpha1.StorageVersionStatus{}
		},
		PrepareUpdate: func(obj, old runtime.Object) {
			storageVersion(obj).Status = storageVersion(old).Status
		},
		Validate: func(obj runtime.Object) field.ErrorList {
			return storageversion.ValidateName(storageVersion(obj).Name)
		},
		RefuseUnconditional: true,
		Ignored: map[fieldpath.APIVersion]*fieldpath.Set{
			version: fieldpath.NewSet(fieldpath.MakePathOrDie("status")),
		},
	}
	status = object
	status.PrepareUpdate = func(obj, old runtime.Object) {
		changed, before := storageVersion(obj), storageVersion(old)
		changed.Spec = before.Spec
		// A status update carries the metadata of the object it was read from;
		// only what tells one write from another is taken over.
		meta := before.ObjectMeta
		meta.ResourceVersion = changed.ResourceVersion
		meta.ManagedFields = changed.ManagedFields
		changed.ObjectMeta = meta
	}
	status.Validate = func(obj runtime.Object) field.ErrorList {
		return storageversion.ValidateStatus(&storageVersion(obj).Status)
	}
	status.Ignored = map[fieldpath.APIVersion]*fieldpath.Set{
		version: fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "labels"), fieldpath.MakePathOrDie("metadata", "annotations")),
	}
	return object, status
}

func storageVersion(obj runtime.Object) *apiserverinternalv1alpha1.StorageVersion {
	return obj.(*apiserverinternalv1alpha1.StorageVersion)
}
