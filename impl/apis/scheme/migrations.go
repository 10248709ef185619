package scheme

import (
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	storagemigrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// addMigrations adds the older version of storage migrations, which clients of
// Kubernetes 1.35 and 1.36 use. It has the same fields as v1, which is the form
// in memory and in storage.
func addMigrations(scheme *runtime.Scheme) {
	version := storagemigrationv1beta1.SchemeGroupVersion
	scheme.AddKnownTypes(version, &storagemigrationv1beta1.StorageVersionMigration{}, &storagemigrationv1beta1.StorageVersionMigrationList{})
	metav1.AddToGroupVersion(scheme, version)
	utilruntime.Must(scheme.SetVersionPriority(storagemigrationv1.SchemeGroupVersion, version))

	convert(scheme, func(in *storagemigrationv1beta1.StorageVersionMigration, out *storagemigrationv1.StorageVersionMigration) {
		migrationToV1(in, out)
	})
	convert(scheme, func(in *storagemigrationv1.StorageVersionMigration, out *storagemigrationv1beta1.StorageVersionMigration) {
		migrationToV1beta1(in, out)
	})
	convert(scheme, func(in *storagemigrationv1beta1.StorageVersionMigrationList, out *storagemigrationv1.StorageVersionMigrationList) {
		out.ListMeta = in.ListMeta
		out.Items = make([]storagemigrationv1.StorageVersionMigration, len(in.Items))
		for i := range in.Items {
			migrationToV1(&in.Items[i], &out.Items[i])
		}
	})
	convert(scheme, func(in *storagemigrationv1.StorageVersionMigrationList, out *storagemigrationv1beta1.StorageVersionMigrationList) {
		out.ListMeta = in.ListMeta
		out.Items = make([]storagemigrationv1beta1.StorageVersionMigration, len(in.Items))
		for i := range in.Items {
			migrationToV1beta1(&in.Items[i], &out.Items[i])
		}
	})
}

// convert registers a conversion that cannot fail.
func convert[In, Out any](scheme *runtime.Scheme, f func(*In, *Out)) {
	utilruntime.Must(scheme.AddConversionFunc((*In)(nil), (*Out)(nil), func(in, out any, _ conversion.Scope) error {
		f(in.(*In), out.(*Out))
		return nil
	}))
}

func migrationToV1(in *storagemigrationv1beta1.StorageVersionMigration, out *storagemigrationv1.StorageVersionMigration) {
	out.ObjectMeta = in.ObjectMeta
	out.Spec = storagemigrationv1.StorageVersionMigrationSpec(in.Spec)
	out.Status = storagemigrationv1.StorageVersionMigrationStatus(in.Status)
}

func migrationToV1beta1(in *storagemigrationv1.StorageVersionMigration, out *storagemigrationv1beta1.StorageVersionMigration) {
	out.ObjectMeta = in.ObjectMeta
	out.Spec = storagemigrationv1beta1.StorageVersionMigrationSpec(in.Spec)
	out.Status = storagemigrationv1beta1.StorageVersionMigrationStatus(in.Status)
}
