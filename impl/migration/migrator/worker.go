package migrator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// worker migrates one resource once.
type worker struct {
	m      *Migrator
	uid    types.UID
	svm    *storagemigrationv1.StorageVersionMigration
	name   string
	target migration.Target
	view   view
	// stop ends the worker early.
	stop context.CancelCauseFunc

	mu         sync.Mutex
	checkpoint migration.Checkpoint
	progress   progress

	// number gives the migration its number among those of its resource.
	number func(context.Context) (int64, error)
	// lent: the checkpoint was made for this worker, which does not make another.
	lent bool

	// saving guards written, the checkpoint as it was written last.
	saving   sync.Mutex
	written  *corev1.ConfigMap
	reported time.Time
}

// verdict is how a worker ended.
type verdict = migration.Verdict

// errUndecided ends a worker that cannot determine an outcome now; the loop starts
// another one when it can.
var errUndecided = errors.New("the migration cannot continue now")

// errOver ends a worker whose migration has its outcome, or is gone, as the view
// did not show yet.
var errOver = errors.New("the migration is over")

// errSuperseded ends a worker whose checkpoint another client has written or removed:
// another worker may run the migration.
var errSuperseded = errors.New("another worker runs the migration, or its checkpoint was removed")

func (w *worker) basis() migration.Basis {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.checkpoint.Basis
}

func (w *worker) set(c migration.Checkpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checkpoint = c
}

// change edits the checkpoint.
func (w *worker) change(edit func(migration.Checkpoint) migration.Checkpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checkpoint = edit(w.checkpoint)
}

// work migrates until there is an outcome, or the context ends.
func (w *worker) work(ctx context.Context) report {
	defer w.forgetObjects()
	v, err := w.migrate(ctx)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errDeleted):
		return report{end: deleted}
	case errors.Is(cause, errOver):
		return report{end: over}
	case err == nil:
		return report{end: ended, verdict: w.m.decide.outcome(ctx, v), checkpoint: w.checkpoint}
	case errors.Is(cause, errAgreementLost):
		return report{end: ended, verdict: w.m.decide.outcome(context.WithoutCancel(ctx), w.lost()), checkpoint: w.checkpoint}
	case errors.Is(err, errImpatient):
		return report{end: ended, verdict: w.unreadable(err), checkpoint: w.checkpoint}
	}
	return report{end: putOff, err: err, checkpoint: w.checkpoint}
}

func (w *worker) forgetObjects() {
	objectsRemaining.DeleteLabelValues(w.target.Resource.Group, w.target.Resource.Resource)
}

func (w *worker) lost() verdict {
	return verdict{Outcome: storagemigrationv1.MigrationFailed, Reason: migration.ReasonAgreementLost,
		Message: fmt.Sprintf("The servers do not agree any more on storing %s as %s; %s Migrate again when they agree.", w.target.Resource, w.basis().Version, w.checkpoint.Message())}
}

func (w *worker) unreadable(err error) verdict {
	return verdict{Outcome: storagemigrationv1.MigrationFailed, Reason: migration.ReasonUnreadable,
		Message: fmt.Sprintf("The objects of %s cannot be read: %v. %s", w.target.Resource, err, w.checkpoint.Message())}
}

// migrate goes through all objects, as often as it takes until the agreement has
// not moved meanwhile.
func (w *worker) migrate(ctx context.Context) (verdict, error) {
	if v, err := w.begin(ctx); err != nil || v != (verdict{}) {
		return v, err
	}
	for {
		if v, err := w.pass(ctx); err != nil || v != (verdict{}) {
			return v, err
		}
		if v, done, err := w.conclude(ctx); err != nil || done {
			return v, err
		}
	}
}

// save writes the checkpoint down.
func (w *worker) save(ctx context.Context) error {
	w.saving.Lock()
	defer w.saving.Unlock()
	return w.saveLocked(ctx)
}

func (w *worker) saveLocked(ctx context.Context) error {
	w.mu.Lock()
	c := w.checkpoint
	w.mu.Unlock()
	written, err := w.m.saveCheckpoint(ctx, w.svm, c, w.written)
	if err == nil {
		w.written = written
	}
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		w.stop(errSuperseded)
	}
	return err
}

// record writes the checkpoint down, and from time to time the progress.
func (w *worker) record(ctx context.Context) error {
	if err := w.insist(ctx, "write a checkpoint down", w.save); err != nil {
		return err
	}
	if total, known := w.checkpoint.Total(); known {
		objectsRemaining.WithLabelValues(w.target.Resource.Group, w.target.Resource.Resource).Set(float64(total - w.checkpoint.Done.Total()))
	}
	return w.report(ctx, migration.Tally{})
}

// report writes the progress to the status if the last report is old, with what is done of
// the present chunk.
func (w *worker) report(ctx context.Context, done migration.Tally) error {
	now := w.m.options.Clock.Now()
	if now.Sub(w.reported) < w.m.decide.progressEvery {
		return nil
	}
	w.reported = now
	w.mu.Lock()
	message := w.checkpoint.Within(done).Message()
	w.mu.Unlock()
	next := w.svm.DeepCopy()
	next.Status = migration.Running(w.svm, "", message, now)
	request, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	client := w.m.clients.migrations
	svm, err := client.UpdateStatus(request, next, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		if svm, err = client.Get(request, w.svm.Name, metav1.GetOptions{}); err == nil && (svm.UID != w.svm.UID || migration.Finished(svm)) {
			w.stop(errOver)
			return errOver
		}
	}
	if err == nil {
		w.svm = svm
	}
	return nil // The worker writes its progress again after the next chunk.
}
