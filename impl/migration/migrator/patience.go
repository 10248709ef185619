package migrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// aboutList and aboutRecords are what a failed request was about, where it was no object.
const (
	aboutList    = ""
	aboutRecords = "(records)"
)

// errGaveWay ends a worker that makes no progress, so that another resource has its turn.
var errGaveWay = errors.New("there was no progress, and another resource has its turn")

// errImpatient ends attempts that have failed for too long.
var errImpatient = errors.New("tried for too long")

// progress is whether a worker gets anywhere.
type progress struct {
	// last is when a request of the worker was answered last.
	last time.Time
	// why is the answer to a request that failed since, stuck whether that is GiveWay ago.
	why   error
	stuck bool
}

// failed records that a request failed. It reports whether the worker should not try it
// again, because it has failed for as long as the migration is patient.
func (w *worker) failed(ctx context.Context, about string, outcome migration.Outcome, err error) (over bool) {
	now := w.m.options.Clock.Now()
	w.mu.Lock()
	w.checkpoint.Trouble = w.checkpoint.Trouble.Failed(about, outcome, now)
	over = w.checkpoint.Trouble.Over(about, w.checkpoint.Patience(), now)
	w.progress.why = err
	stuck := !w.progress.stuck && now.Sub(w.progress.last) >= migration.GiveWay
	w.progress.stuck = w.progress.stuck || stuck
	w.mu.Unlock()
	if stuck {
		w.noteStuck(ctx, err)
		w.m.wake()
	}
	return over
}

// passed records that a request was answered.
func (w *worker) passed(about string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checkpoint.Trouble = w.checkpoint.Trouble.Passed(about)
	w.progress = progress{last: w.m.options.Clock.Now()}
}

// troubled is the trouble of the worker.
func (w *worker) troubled() migration.Trouble {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.checkpoint.Trouble
}

// stuck is why the worker makes no progress, nil if it does.
func (w *worker) stuck() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.progress.stuck {
		return nil
	}
	return w.progress.why
}

// noteStuck writes to the checkpoint that the worker makes no progress, and since when: a
// worker that continues from it is not patient anew. It is tried once, since the loop
// does not depend on it.
func (w *worker) noteStuck(ctx context.Context, why error) {
	w.saving.Lock()
	defer w.saving.Unlock()
	if w.written == nil {
		return
	}
	w.mu.Lock()
	w.checkpoint.PutOff = why.Error()
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	if err := w.saveLocked(ctx); err != nil && ctx.Err() == nil {
		w.m.options.Logger.Error(err, "Cannot write that a migration makes no progress", "migration", w.svm.Name)
	}
}

// insist tries until f succeeds, the context ends, or f has failed for as long as a
// migration is patient. f is about what the migrator itself keeps and reads: an API server
// that refuses it erred as much as one that cannot answer.
func (w *worker) insist(ctx context.Context, what string, f func(context.Context) error) error {
	began := w.m.options.Clock.Now()
	defer retrying.DeleteLabelValues(what)
	for failed := 1; ; failed++ {
		attempt, cancel := context.WithTimeout(ctx, RequestTimeout)
		err := f(attempt)
		cancel()
		if err == nil {
			w.passed(aboutRecords)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.m.options.Logger.Error(err, "Cannot "+what+", trying again", "migration", w.svm.Name)
		outcome, asked := migration.Classify(err, w.target.Resource, "")
		if outcome == migration.Refused || outcome == migration.Unserved {
			outcome = migration.Broken
		}
		if w.failed(ctx, aboutRecords, outcome, err) {
			return fmt.Errorf("%w to %s: %w", errImpatient, what, err)
		}
		retrying.WithLabelValues(what).Set(w.m.options.Clock.Since(began).Seconds())
		if !w.m.sleep(ctx, migration.Retry(failed, asked)) {
			return context.Cause(ctx)
		}
	}
}

// yielded is a migration that gave way.
type yielded struct {
	at      time.Time
	trouble migration.Trouble
}

// turns remembers which migrations gave way to others, and when.
type turns map[types.UID]yielded

// compare orders heads: those that never gave way come first, then those that did so
// earlier.
func (t turns) compare(a, b types.UID) int { return t[a].at.Compare(t[b].at) }

// yield records that a migration gave way, with the trouble that its worker had.
func (m *Migrator) yield(svm types.UID, trouble migration.Trouble) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turns[svm] = yielded{at: m.options.Clock.Now(), trouble: trouble}
}

// rest records that a migration whose worker has ended without an outcome does not run,
// before another one does.
func (m *Migrator) rest(ctx context.Context, name string, uid types.UID, why error) {
	m.persist(ctx, migration.GiveWay, "record that a migration gave way", func(ctx context.Context) error {
		svm, err := m.clients.migrations.Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err), err == nil && (svm.UID != uid || migration.Finished(svm) || !migration.Started(svm)):
			return nil
		case err != nil:
			return err
		}
		svm.Status = migration.Waiting(svm, migration.ReasonRetrying, why.Error(), m.options.Clock.Now())
		_, err = m.clients.migrations.UpdateStatus(ctx, svm, metav1.UpdateOptions{})
		return err
	})
}

// inTurn orders heads by whose turn it is, and forgets migrations that have ended or were
// deleted, with what is left of their workers.
func (m *Migrator) inTurn(ctx context.Context, all, heads []*storagemigrationv1.StorageVersionMigration) []*storagemigrationv1.StorageVersionMigration {
	open := map[types.UID]bool{}
	for _, svm := range all {
		open[svm.UID] = !migration.Finished(svm)
	}
	var over []types.UID
	m.mu.Lock()
	for uid := range m.turns {
		if !open[uid] {
			over = append(over, uid)
			delete(m.turns, uid)
		}
	}
	slices.SortStableFunc(heads, func(a, b *storagemigrationv1.StorageVersionMigration) int { return m.turns.compare(a.UID, b.UID) })
	m.mu.Unlock()
	for _, uid := range over {
		m.crew.dismiss(ctx, uid)
	}
	return heads
}
