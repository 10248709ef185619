package migration

import (
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Waiting is the status of a migration that no worker has begun with.
func Waiting(svm *storagemigrationv1.StorageVersionMigration, reason, message string, now time.Time) storagemigrationv1.StorageVersionMigrationStatus {
	status := *svm.Status.DeepCopy()
	set(&status, svm, storagemigrationv1.MigrationRunning, false, reason, message, now)
	return status
}

// Running is the status of a migration that a worker is busy with.
// resourceVersion is recorded once; it is of a time after the servers agreed.
func Running(svm *storagemigrationv1.StorageVersionMigration, resourceVersion, message string, now time.Time) storagemigrationv1.StorageVersionMigrationStatus {
	status := *svm.Status.DeepCopy()
	if status.ResourceVersion == "" {
		status.ResourceVersion = resourceVersion
	}
	set(&status, svm, storagemigrationv1.MigrationRunning, true, ReasonRunning, message, now)
	return status
}

// Ended is the status of a migration with its outcome.
func Ended(svm *storagemigrationv1.StorageVersionMigration, outcome storagemigrationv1.MigrationConditionType, reason, message string, now time.Time) storagemigrationv1.StorageVersionMigrationStatus {
	status := *svm.Status.DeepCopy()
	set(&status, svm, storagemigrationv1.MigrationRunning, false, ReasonCompleted, "The migration has ended.", now)
	set(&status, svm, outcome, true, reason, message, now)
	return status
}

// set leaves the transition time alone unless the condition changes.
func set(status *storagemigrationv1.StorageVersionMigrationStatus, svm *storagemigrationv1.StorageVersionMigration, kind storagemigrationv1.MigrationConditionType, is bool, reason, message string, now time.Time) {
	condition := metav1.Condition{
		Type: string(kind), Status: metav1.ConditionFalse, Reason: reason, Message: message,
		ObservedGeneration: svm.Generation, LastTransitionTime: metav1.NewTime(now).Rfc3339Copy(),
	}
	if is {
		condition.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&status.Conditions, condition)
}
