package migrator

import (
	"context"
	"errors"
	"fmt"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// assignment is a migration that a worker is to begin with, or to go on with.
type assignment struct {
	svm *storagemigrationv1.StorageVersionMigration
	// name of the StorageVersion of its resource.
	name   string
	target migration.Target
}

// crew has done what the loop decides on. There is one worker at a time, in this
// process (inProcess) or in a Job (jobCrew); what it does is the same in both.
type crew interface {
	// look reads the state of the workers, and finishes the migrations that they have
	// ended. If it fails, it is unknown whether a worker runs.
	look(ctx context.Context, view view) error
	// busy is the migration that has a worker, empty if none has.
	busy() types.UID
	// launch gives a migration a worker.
	launch(ctx context.Context, a assignment, view view)
	// stuck is why the worker makes no progress, nil if it does or there is none.
	stuck() error
	// giveWay ends the worker, which makes no progress, and keeps its checkpoint. What it
	// leaves is ready for another worker once busy is empty.
	giveWay(ctx context.Context) error
	// dismiss removes what is left of a migration's worker, its checkpoint included.
	dismiss(ctx context.Context, svm types.UID)
	// wait until no worker is left in this process.
	wait()
}

// ending is how a worker ended.
type ending string

const (
	// ended: with a verdict.
	ended ending = "ended"
	// deleted: the migration was deleted.
	deleted ending = "deleted"
	// over: the migration had its outcome, or was gone, before the worker began.
	over ending = "over"
	// putOff: the migration has no outcome; another worker continues from the checkpoint.
	putOff ending = "put off"
)

// report is what a worker leaves.
type report struct {
	end ending
	// verdict and the checkpoint that it rests on, if it ended.
	verdict    verdict
	checkpoint migration.Checkpoint
	// err is why it was put off.
	err error
}

// settle does what follows from the end of a worker. It is false if the loop need not look
// at once what to do next.
func (m *Migrator) settle(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, name string, r report) (next bool) {
	switch r.end {
	case deleted:
		// KEP-25: to delete a migration is to abort it.
		m.options.Logger.Info("A migration was deleted before it ended", "migration", svm.Name)
		m.states.stopped(name, m.options.Clock.Now())
		m.crew.dismiss(ctx, svm.UID)
		return true
	case over:
		m.crew.dismiss(ctx, svm.UID)
		return false
	case ended:
		if r.verdict.Outcome == storagemigrationv1.MigrationSucceeded {
			m.states.change(name, func(s migration.State) migration.State {
				return s.Completed(r.checkpoint.Generation, r.checkpoint.Basis)
			})
		}
		m.finish(ctx, svm, name, r.verdict)
		return true
	case putOff: // as any other end
	}
	m.yield(svm.UID, r.checkpoint.Trouble)
	if ctx.Err() == nil && !errors.Is(r.err, errSuperseded) {
		m.rest(ctx, svm.Name, svm.UID, r.err)
	}
	m.options.Logger.Info("A migration is postponed", "migration", svm.Name, "reason", r.err)
	return errors.Is(r.err, errGaveWay)
}

// enroll gives a migration its number among those of its resource, and records that
// its worker is started.
//
// KEP-25: the observed generation shows that a worker was started for it.
func (m *Migrator) enroll(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, name string, given int64) (int64, error) {
	m.states.change(name, func(s migration.State) migration.State {
		if given == 0 {
			given, s = numbered(svm, s)
		}
		return s.Launched(given)
	})
	if err := m.states.write(ctx, name); err != nil {
		return given, fmt.Errorf("recording that a worker is started: %w", err)
	}
	return given, nil
}
