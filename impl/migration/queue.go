package migration

import (
	"slices"
	"strings"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Finished reports whether a migration has its outcome.
func Finished(svm *storagemigrationv1.StorageVersionMigration) bool {
	return isTrue(svm.Status.Conditions, storagemigrationv1.MigrationSucceeded) ||
		isTrue(svm.Status.Conditions, storagemigrationv1.MigrationFailed)
}

// Started reports whether a worker has begun with a migration.
func Started(svm *storagemigrationv1.StorageVersionMigration) bool {
	return isTrue(svm.Status.Conditions, storagemigrationv1.MigrationRunning)
}

// ResourceOf is what a migration migrates.
func ResourceOf(svm *storagemigrationv1.StorageVersionMigration) schema.GroupResource {
	return schema.GroupResource{Group: svm.Spec.Resource.Group, Resource: svm.Spec.Resource.Resource}
}

// Heads are the migrations that may have their turn, in the order in which they
// should: one for each resource, so that those of one resource come one after
// the other. A migration that was begun comes first, or else a leader change
// could leave two of them half done; then the older one, then by name.
func Heads(svms []*storagemigrationv1.StorageVersionMigration) []*storagemigrationv1.StorageVersionMigration {
	var open []*storagemigrationv1.StorageVersionMigration
	for _, svm := range svms {
		if !Finished(svm) && svm.DeletionTimestamp == nil {
			open = append(open, svm)
		}
	}
	slices.SortFunc(open, func(a, b *storagemigrationv1.StorageVersionMigration) int {
		switch {
		case Started(a) != Started(b):
			if Started(a) {
				return -1
			}
			return 1
		case !a.CreationTimestamp.Equal(&b.CreationTimestamp):
			return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
		}
		return strings.Compare(a.Name, b.Name)
	})
	taken := map[schema.GroupResource]bool{}
	var heads []*storagemigrationv1.StorageVersionMigration
	for _, svm := range open {
		if resource := ResourceOf(svm); !taken[resource] {
			taken[resource] = true
			heads = append(heads, svm)
		}
	}
	return heads
}
