package migrator

import (
	"context"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// decisions are where the loop and the worker decide, each by a function of package
// migration. A planted defect replaces one of them, see planted.go.
type decisions struct {
	// heads are the migrations that may have their turn.
	heads func(all []*storagemigrationv1.StorageVersionMigration) []*storagemigrationv1.StorageVersionMigration
	// assess is what a migration needs next.
	assess func(svm *storagemigrationv1.StorageVersionMigration, facts migration.Facts, now time.Time) migration.Assessment
	// busy reports whether a migration has to wait for the worker of another one.
	busy func(svm, at types.UID) bool
	// givesWay reports whether a worker ends that makes no progress while another resource
	// waits.
	givesWay func(stuck error) bool
	// due is what there is to do about a resource without a request.
	due func(name string, trigger migration.Trigger) migration.Trigger
	// begins reports whether a worker may begin, and on which agreement.
	begins func(sv *apiserverinternalv1alpha1.StorageVersion, definition *migration.Definition) (migration.Basis, bool)
	// resumes is the checkpoint that a worker continues from; a verdict ends it.
	resumes func(migration.Checkpoint) (migration.Checkpoint, migration.Verdict)
	// revision is what the status records as resourceVersion, of the first list.
	revision func(first string, basis migration.Basis) string
	// begun is called when the migration is recorded as running.
	begun func(ctx context.Context, w *worker) error
	// standing is what has become of the basis by an object that a watch showed.
	standing func(basis migration.Basis, sv *apiserverinternalv1alpha1.StorageVersion) migration.Standing
	// stops calls stop, which ends a worker for a cause.
	stops func(cause error, stop func())
	// trims reports whether storedVersions is written before the success.
	trims func(w *worker, stored []string) bool
	// outcome is what the migration gets of a verdict.
	outcome func(ctx context.Context, v migration.Verdict) migration.Verdict
	// marks reports whether the mark of a definition is written now.
	marks func(definition string, runs bool) bool
	// progressEvery is the least time between two reports of progress.
	progressEvery time.Duration
}

// sound are the decisions of a Migrator without a defect.
func sound() decisions {
	return decisions{
		heads:    migration.Heads,
		assess:   migration.Assess,
		busy:     func(_, at types.UID) bool { return at != "" },
		givesWay: func(stuck error) bool { return stuck != nil },
		due:      func(_ string, trigger migration.Trigger) migration.Trigger { return trigger },
		begins: func(sv *apiserverinternalv1alpha1.StorageVersion, definition *migration.Definition) (migration.Basis, bool) {
			basis, agreed := migration.BasisOf(sv)
			return basis, agreed && definition.Follows(basis)
		},
		resumes:  func(c migration.Checkpoint) (migration.Checkpoint, migration.Verdict) { return c, migration.Verdict{} },
		revision: func(first string, _ migration.Basis) string { return first },
		begun:    func(context.Context, *worker) error { return nil },
		standing: func(basis migration.Basis, sv *apiserverinternalv1alpha1.StorageVersion) migration.Standing {
			if !basis.Precedes(sv) {
				return migration.Holds // A watch may show older objects.
			}
			return basis.Check(sv)
		},
		stops:         func(_ error, stop func()) { stop() },
		trims:         func(*worker, []string) bool { return true },
		outcome:       func(_ context.Context, v migration.Verdict) migration.Verdict { return v },
		marks:         func(string, bool) bool { return true },
		progressEvery: ProgressInterval,
	}
}
