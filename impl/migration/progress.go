package migration

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// Phase is how a resource stands.
type Phase string

// Phases of a resource.
const (
	// PhaseWaiting: a migration was created and has not begun.
	PhaseWaiting Phase = "waiting"
	// PhaseRunning: a worker is going through the objects.
	PhaseRunning Phase = "running"
	// PhaseDone: everything is stored in the agreed version.
	PhaseDone Phase = "done"
	// PhaseFailed: the last migration failed.
	PhaseFailed Phase = "failed"
	// PhaseDue: objects may be stored in other versions, and no migration exists.
	PhaseDue Phase = "due"
)

// Progress is how far the migration of one resource is.
type Progress struct {
	Resource schema.GroupResource
	Phase    Phase
	// Migration is the name of the one that the phase is about, if any.
	Migration string
	// Generation and CompletedGeneration are those of the State.
	Generation, CompletedGeneration int64
	// Done of Total objects are processed; Total is 0 if it is unknown.
	Done, Total int64
	// Detail explains the phase.
	Detail string
}

// Overview is the progress of every resource that was ever migrated or has to
// be, by name. states go by the name of the StorageVersion object.
//
// KEP-25: an administrator checks whether the migration has completed, before
// upgrading or downgrading.
func Overview(states map[string]State, svms []*storagemigrationv1.StorageVersionMigration, checkpoints map[types.UID]Checkpoint) []Progress {
	rows := map[schema.GroupResource]Progress{}
	for name, state := range states {
		group, resource, ok := storageversion.ParseName(name)
		if !ok {
			continue
		}
		row := Progress{
			Resource: schema.GroupResource{Group: group, Resource: resource}, Phase: PhaseDone,
			Generation: state.Generation, CompletedGeneration: state.CompletedGeneration,
			Detail: "stored as " + strings.Join(state.Persisted, ", "),
		}
		if state.Agreed == "" || !state.Settled(state.Agreed) {
			row.Phase, row.Detail = PhaseDue, fmt.Sprintf("objects may be stored as %s", strings.Join(state.Persisted, ", "))
		}
		rows[row.Resource] = row
	}
	for _, svm := range latest(svms) {
		resource := ResourceOf(svm)
		row := rows[resource]
		row.Resource, row.Migration = resource, svm.Name
		succeeded := meta.FindStatusCondition(svm.Status.Conditions, string(storagemigrationv1.MigrationSucceeded))
		failed := meta.FindStatusCondition(svm.Status.Conditions, string(storagemigrationv1.MigrationFailed))
		running := meta.FindStatusCondition(svm.Status.Conditions, string(storagemigrationv1.MigrationRunning))
		switch {
		case succeeded != nil && succeeded.Status == metav1.ConditionTrue:
			if row.Phase == "" {
				row.Phase, row.Detail = PhaseDone, succeeded.Message
			}
		case failed != nil && failed.Status == metav1.ConditionTrue:
			if row.Phase != PhaseDone {
				row.Phase, row.Detail = PhaseFailed, failed.Message
			}
		case running != nil && running.Status == metav1.ConditionTrue:
			row.Phase, row.Detail = PhaseRunning, running.Message
			if checkpoint, ok := checkpoints[svm.UID]; ok {
				row.Done, row.Detail = checkpoint.Done.Total(), checkpoint.Message()
				row.Total, _ = checkpoint.Total()
			}
		default:
			row.Phase, row.Detail = PhaseWaiting, "no controller manager has read it yet; one must lead"
			if running != nil {
				row.Detail = running.Message
			}
		}
		rows[resource] = row
	}
	return slices.SortedFunc(maps.Values(rows), func(a, b Progress) int {
		return strings.Compare(a.Resource.String(), b.Resource.String())
	})
}

// latest returns, for each resource, the migration that determines its phase: the one
// whose turn it is, or the one that ended last.
func latest(svms []*storagemigrationv1.StorageVersionMigration) map[schema.GroupResource]*storagemigrationv1.StorageVersionMigration {
	last := map[schema.GroupResource]*storagemigrationv1.StorageVersionMigration{}
	for _, svm := range svms {
		if before := last[ResourceOf(svm)]; Finished(svm) && (before == nil || endOf(before).Before(endOf(svm))) {
			last[ResourceOf(svm)] = svm
		}
	}
	for _, svm := range Heads(svms) {
		last[ResourceOf(svm)] = svm
	}
	return last
}

// endOf is when a finished migration got its outcome.
func endOf(svm *storagemigrationv1.StorageVersionMigration) *metav1.Time {
	for _, kind := range []storagemigrationv1.MigrationConditionType{storagemigrationv1.MigrationSucceeded, storagemigrationv1.MigrationFailed} {
		if condition := meta.FindStatusCondition(svm.Status.Conditions, string(kind)); condition != nil && condition.Status == metav1.ConditionTrue {
			return &condition.LastTransitionTime
		}
	}
	return &metav1.Time{}
}

// UnderWay reports whether a migration has not ended.
func UnderWay(rows []Progress) bool {
	return slices.ContainsFunc(rows, func(p Progress) bool { return p.Phase == PhaseWaiting || p.Phase == PhaseRunning })
}

// Complete reports whether nothing is left to migrate.
func Complete(rows []Progress) bool {
	return !slices.ContainsFunc(rows, func(p Progress) bool { return p.Phase != PhaseDone })
}
