package registry

import (
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	storagemigrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// StorageMigrations are the rules of KEP-25's resource: those of the object and
// those of its status subresource. What is to be migrated is the user's and
// never changes; how it goes is the migrator's and starts out empty.
func StorageMigrations() (object, status Rules) {
	object = Rules{
		Resource:  storagemigrationv1.SchemeGroupVersion.WithResource("storageversionmigrations").GroupResource(),
		Singular:  "storageversionmigration",
		New:       func() runtime.Object { return &storagemigrationv1.StorageVersionMigration{} },
		NewList:   func() runtime.Object { return &storagemigrationv1.StorageVersionMigrationList{} },
		ValidName: apimachineryvalidation.NameIsDNSSubdomain,
		PrepareCreate: func(obj runtime.Object) {
			created := storageMigration(obj)
			created.Status = storagemigrationv1.StorageVersionMigrationStatus{}
			created.Generation = 1
		},
		PrepareUpdate: func(obj, old runtime.Object) {
			changed, before := storageMigration(obj), storageMigration(old)
			changed.Status = before.Status
			bumpGeneration(obj, old, changed.Spec, before.Spec)
		},
		Validate: func(obj runtime.Object) field.ErrorList {
			return migration.ValidateSpec(&storageMigration(obj).Spec)
		},
		ValidateUpdate: func(obj, old runtime.Object) field.ErrorList {
			return migration.ValidateSpecUpdate(&storageMigration(obj).Spec, &storageMigration(old).Spec)
		},
		Ignored: ignoredIn(fieldpath.MakePathOrDie("status")),
	}
	status = object
	status.PrepareUpdate = func(obj, old runtime.Object) {
		changed, before := storageMigration(obj), storageMigration(old)
		changed.Spec = before.Spec
		// Only what tells one write from another is taken over.
		meta := before.ObjectMeta
		meta.ResourceVersion = changed.ResourceVersion
		meta.ManagedFields = changed.ManagedFields
		changed.ObjectMeta = meta
	}
	status.Validate = func(obj runtime.Object) field.ErrorList {
		return migration.ValidateStatus(&storageMigration(obj).Status)
	}
	status.ValidateUpdate = func(obj, old runtime.Object) field.ErrorList {
		return migration.ValidateStatusUpdate(&storageMigration(obj).Status, &storageMigration(old).Status)
	}
	status.Ignored = ignoredIn(fieldpath.MakePathOrDie("spec"),
		fieldpath.MakePathOrDie("metadata", "labels"), fieldpath.MakePathOrDie("metadata", "annotations"))
	return object, status
}

// ignoredIn are fields in which a client's wishes are passed over, the same in
// both served versions.
func ignoredIn(paths ...fieldpath.Path) map[fieldpath.APIVersion]*fieldpath.Set {
	set := fieldpath.NewSet(paths...)
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(storagemigrationv1.SchemeGroupVersion.String()):      set,
		fieldpath.APIVersion(storagemigrationv1beta1.SchemeGroupVersion.String()): set,
	}
}

func storageMigration(obj runtime.Object) *storagemigrationv1.StorageVersionMigration {
	return obj.(*storagemigrationv1.StorageVersionMigration)
}
