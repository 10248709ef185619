package apiserver

import (
	"slices"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// hideBefore is the planted defect by which lists leave out the migrations that
// were created before a time.
func hideBefore(start time.Time) func(runtime.Object) {
	return func(obj runtime.Object) {
		if list, ok := obj.(*storagemigrationv1.StorageVersionMigrationList); ok {
			list.Items = slices.DeleteFunc(slices.Clone(list.Items), func(m storagemigrationv1.StorageVersionMigration) bool {
				return m.CreationTimestamp.Time.Before(start)
			})
		}
	}
}
