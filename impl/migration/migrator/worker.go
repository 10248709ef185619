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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel/evenkeel/impl/defects"
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

	// number gives the migration its number among those of its resource.
	number func(context.Context) (int64, error)
	// lent: the checkpoint was made for this worker, which does not make another.
	lent bool

	written  *corev1.ConfigMap
	reported time.Time

	// skipped is whether an object that is being deleted was left out, which only a
	// defect does.
	skipped bool
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

// work migrates until there is an outcome, or the context ends.
func (w *worker) work(ctx context.Context) report {
	defer w.forgetObjects()
	v, err := w.migrate(ctx)
	switch cause := context.Cause(ctx); {
	case cause == errDeleted:
		return report{end: deleted}
	case cause == errOver:
		return report{end: over}
	case err == nil:
		return report{end: ended, verdict: v, checkpoint: w.checkpoint}
	case cause == errAgreementLost:
		w.m.sleep(context.WithoutCancel(ctx), w.m.options.Defects.Delay(defects.SVM21EndsLate)) // defect: SVM-21-ends-late
		return report{end: ended, verdict: w.lost(), checkpoint: w.checkpoint}
	}
	return report{end: putOff, err: err}
}

func (w *worker) forgetObjects() {
	objectsRemaining.DeleteLabelValues(w.target.Resource.Group, w.target.Resource.Resource)
}

func (w *worker) lost() verdict {
	outcome := storagemigrationv1.MigrationFailed
	if w.m.options.Defects.Has(defects.SVM21SucceedsAnyway) {
		outcome = storagemigrationv1.MigrationSucceeded // defect: SVM-21-succeeds-anyway
	}
	return verdict{Outcome: outcome, Reason: migration.ReasonAgreementLost,
		Message: fmt.Sprintf("The servers do not agree any more on storing %s as %s; %s Migrate again when they agree.", w.target.Resource, w.basis().Version, w.checkpoint.Message())}
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

// begin finds out where to go on, and records that the migration is running.
func (w *worker) begin(ctx context.Context) (verdict, error) {
	var found verdict
	m := w.m
	ok := m.persist(ctx, "begin a migration", func(ctx context.Context) error {
		found = verdict{}
		svm, err := m.clients.migrations.Get(ctx, w.svm.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && (svm.UID != w.svm.UID || migration.Finished(svm)) {
			w.stop(errOver)
			return errOver
		}
		if err != nil {
			return err
		}
		c, written, err := m.checkpoint(ctx, svm.UID)
		if err != nil {
			return err
		}
		if written == nil && w.lent {
			return errors.New("the checkpoint of the worker does not exist yet")
		}
		if c.Verdict != nil {
			w.set(c)
			found = *c.Verdict // A former worker did not live to leave.
			return nil
		}
		c.PutOff = ""
		w.written = written
		if m.options.Defects.Has(defects.SVM12StartsOver) {
			c.Continue, c.Done = "", migration.Tally{} // defect: SVM-12-starts-over
		}
		// The agreement comes before the list: what is stored later is stored in it.
		sv, err := m.clients.storageVersion(ctx, w.name)
		if err != nil {
			return err
		}
		crd, err := m.clients.crd(ctx, w.target.Resource)
		if err != nil {
			return err
		}
		basis, agreed := migration.BasisOf(sv)
		switch {
		case c.Pass > 0 && m.options.Defects.Has(defects.SVM11GivesUp): // defect: SVM-11-gives-up
			w.set(c)
			found = verdict{Outcome: storagemigrationv1.MigrationFailed, Reason: migration.ReasonUnreadable, Message: "Another instance had begun the migration."}
			return nil
		case c.Pass == 0 && (!agreed || !definitionOf(crd).Follows(basis)) && !m.options.Defects.Has(defects.SVM20IgnoresDisagreement):
			w.stop(errUndecided) // The loop has not seen it yet.
			return errUndecided
		case c.Pass == 0:
			number, err := w.number(ctx)
			if err != nil {
				return err
			}
			c = migration.Begun(svm.UID, number, basis, definitionOf(crd))
		case c.Basis.Check(sv) == migration.Lost:
			w.set(c)
			found = w.lost()
			return nil
		case c.Basis.Check(sv) == migration.Moved:
			c = c.Again(basis, definitionOf(crd))
		}
		first, err := m.clients.objects.list(ctx, w.target.GVR(), metav1.ListOptions{Limit: 1})
		if apierrors.IsNotFound(err) {
			w.stop(errUndecided) // It is not served; the loop finds out whether it will be.
		}
		if err != nil {
			return err
		}
		if m.options.Defects.Has(defects.SVM03OldCheckpoint) {
			first.SetResourceVersion(c.Basis.ResourceVersion) // defect: SVM-03-old-checkpoint
		}
		if stored, trim := definitionOf(crd).Trim(c.Basis, c.DefinitionGeneration); trim && m.options.Defects.Has(defects.SVM23TrimsEarly) {
			if err := m.trim(ctx, crd, stored); err != nil { // defect: SVM-23-trims-early
				return err
			}
		}
		w.set(c)
		if err := w.save(ctx); err != nil {
			return err
		}
		next := svm.DeepCopy()
		next.Status = migration.Running(svm, first.GetResourceVersion(), c.Message(), m.options.Clock.Now())
		w.svm, err = m.clients.migrations.UpdateStatus(ctx, next, metav1.UpdateOptions{})
		if err != nil {
			w.svm = svm
		}
		return err
	})
	if !ok {
		return verdict{}, context.Cause(ctx)
	}
	if found == (verdict{}) {
		m.options.Logger.Info("Migrating", "migration", w.svm.Name, "resource", w.target.Resource, "version", w.basis().Version,
			"generation", w.checkpoint.Generation, "pass", w.checkpoint.Pass, "done", w.checkpoint.Done.Total())
	}
	return found, nil
}

// save writes the checkpoint down.
func (w *worker) save(ctx context.Context) error {
	written, err := w.m.saveCheckpoint(ctx, w.svm, w.checkpoint, w.written)
	if err == nil {
		w.written = written
	}
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		w.stop(errSuperseded)
	}
	return err
}

// pass lists and writes chunk after chunk to the end. It has a verdict if the
// objects cannot be listed.
func (w *worker) pass(ctx context.Context) (verdict, error) {
	for !w.checkpoint.Listed {
		if sv, err := w.view.versions.Get(w.name); err == nil && w.basis().Precedes(sv) && w.basis().Check(sv) != migration.Holds && !w.m.options.Defects.Has(defects.SVM21StopsLate) {
			return verdict{}, nil // Going on would be in vain.
		}
		list, v, err := w.list(ctx)
		if err != nil || v != (verdict{}) {
			return v, err
		}
		if list == nil {
			continue // The checkpoint has changed.
		}
		chunk, err := w.write(ctx, list)
		if err != nil {
			return verdict{}, err
		}
		if w.checkpoint.Done.Total() > many && w.m.options.Defects.Has(defects.SVM16StopsAtMany) {
			chunk.Continue = "" // defect: SVM-16-stops-at-many
		}
		w.set(w.checkpoint.After(chunk))
		if err := w.record(ctx); err != nil {
			return verdict{}, err
		}
		if w.checkpoint.Done.Total() > several && w.m.options.Defects.Has(defects.SVM16GivesUpAtMany) {
			return verdict{Outcome: storagemigrationv1.MigrationFailed, Reason: migration.ReasonObjectsRefused, Message: w.checkpoint.Message()}, nil // defect: SVM-16-gives-up-at-many
		}
	}
	return verdict{}, nil
}

// record writes the checkpoint down, and from time to time the progress.
func (w *worker) record(ctx context.Context) error {
	if !w.m.persist(ctx, "write a checkpoint down", w.save) {
		return context.Cause(ctx)
	}
	if total, known := w.checkpoint.Total(); known {
		objectsRemaining.WithLabelValues(w.target.Resource.Group, w.target.Resource.Resource).Set(float64(total - w.checkpoint.Done.Total()))
	}
	now := w.m.options.Clock.Now()
	if now.Sub(w.reported) < ProgressInterval || w.m.options.Defects.Has(defects.SVM17Silent) { // defect: SVM-17-silent
		return nil
	}
	w.reported = now
	next := w.svm.DeepCopy()
	next.Status = migration.Running(w.svm, "", w.checkpoint.Message(), now)
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

// list reads the next chunk. It is nil if the checkpoint had to be changed
// instead.
func (w *worker) list(ctx context.Context) (*unstructured.UnstructuredList, verdict, error) {
	var broken time.Time
	for failed := 1; ; failed++ {
		request, cancel := context.WithTimeout(ctx, RequestTimeout)
		list, err := w.m.clients.objects.list(request, w.target.GVR(), metav1.ListOptions{Limit: w.m.options.ChunkSize, Continue: w.checkpoint.Continue})
		cancel()
		switch outcome, asked := migration.Classify(err); {
		case err == nil:
			return list, verdict{}, nil
		case ctx.Err() != nil:
			return nil, verdict{}, context.Cause(ctx)
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			var status apierrors.APIStatus
			inconsistent := ""
			if errors.As(err, &status) {
				inconsistent = status.Status().ListMeta.Continue
			}
			w.set(w.checkpoint.Expired(inconsistent))
			return nil, verdict{}, nil
		case outcome == migration.Gone:
			// The resource is not served any more. The loop finds out for how long.
			return nil, verdict{}, fmt.Errorf("%w: %w", errUndecided, err)
		case outcome == migration.Refused, outcome == migration.Broken && w.overdue(&broken):
			return nil, verdict{Outcome: storagemigrationv1.MigrationFailed, Reason: migration.ReasonUnreadable,
				Message: fmt.Sprintf("The objects of %s cannot be listed: %v. %s", w.target.Resource, err, w.checkpoint.Message())}, nil
		default:
			w.m.options.Logger.Error(err, "Cannot list objects, trying again", "migration", w.svm.Name)
			if outcome != migration.Broken {
				broken = time.Time{}
			}
			if !w.m.sleep(ctx, migration.Retry(failed, asked)) {
				return nil, verdict{}, context.Cause(ctx)
			}
		}
	}
}

// overdue reports whether something has been broken for too long; since is when
// it began.
func (w *worker) overdue(since *time.Time) bool {
	now := w.m.options.Clock.Now()
	if since.IsZero() {
		*since = now
	}
	return now.Sub(*since) >= migration.ObjectPatience
}

// write sends the objects of a chunk back, each as it was listed.
func (w *worker) write(ctx context.Context, list *unstructured.UnstructuredList) (migration.Chunk, error) {
	chunk := migration.Chunk{Continue: list.GetContinue(), Remaining: list.GetRemainingItemCount()}
	var mu sync.Mutex
	work := make(chan *unstructured.Unstructured)
	var group sync.WaitGroup
	for range writers(w.m.options.Rate) {
		group.Go(func() {
			for object := range work {
				outcome, refusal := w.rewrite(ctx, object)
				if outcome == migration.Again {
					continue // The context has ended.
				}
				objectsDone.WithLabelValues(w.target.Resource.Group, w.target.Resource.Resource, string(outcome)).Inc()
				mu.Lock()
				chunk.Done = chunk.Done.Add(outcome)
				if chunk.Refusal == "" {
					chunk.Refusal = refusal
				}
				mu.Unlock()
			}
		})
	}
	for i := range list.Items {
		if d := w.m.options.Defects; i%10 == 9 && (d.Has(defects.SVM04SkipsSome) || d.Has(defects.SVM04LeavesSome)) {
			continue // defect: SVM-04-skips-some, SVM-04-leaves-some
		}
		if list.Items[i].GetDeletionTimestamp() != nil && w.skipsDeleting() {
			continue // defect: SVM-26-skips-deleting, SVM-26-skips-first
		}
		select {
		case work <- &list.Items[i]:
		case <-ctx.Done():
		}
	}
	close(work)
	group.Wait()
	return chunk, context.Cause(ctx)
}

// rewrite sends one object back until there is an outcome, or the context ends. Its
// precondition is the uid and the resourceVersion of the list, so it neither undoes
// another write nor creates a deleted object again.
func (w *worker) rewrite(ctx context.Context, object *unstructured.Unstructured) (migration.Outcome, string) {
	if w.m.options.Defects.Has(defects.SVM05Marks) {
		marked := object.GetAnnotations()
		if marked == nil {
			marked = map[string]string{}
		}
		marked["reference.evenkeel.dev/migrated"] = "true"
		object.SetAnnotations(marked) // defect: SVM-05-marks
	}
	var broken time.Time
	for failed := 1; ; failed++ {
		request, cancel := context.WithTimeout(ctx, RequestTimeout)
		err := w.m.clients.objects.update(request, w.target.GVR(), object)
		cancel()
		if ctx.Err() != nil {
			return migration.Again, ""
		}
		outcome, asked := migration.Classify(err)
		if outcome == migration.Broken && w.overdue(&broken) {
			outcome = migration.Refused
		}
		if outcome == migration.Gone && w.m.options.Defects.Has(defects.SVM09FailsOnDeletion) {
			outcome = migration.Refused // defect: SVM-09-fails-on-deletion
		}
		if outcome == migration.Again && w.m.options.Defects.Has(defects.SVM13FailsOnSilence) {
			outcome = migration.Refused // defect: SVM-13-fails-on-silence
		}
		mayPass := outcome == migration.Again || outcome == migration.Broken
		if mayPass && w.m.options.Defects.Has(defects.SVM10FailsOnError) {
			outcome = migration.Refused // defect: SVM-10-fails-on-error
		}
		if mayPass && w.m.options.Defects.Has(defects.SVM10SkipsOnError) {
			outcome = migration.Written // defect: SVM-10-skips-on-error
		}
		switch outcome {
		case migration.Refused:
			name := object.GetName()
			if object.GetNamespace() != "" {
				name = object.GetNamespace() + "/" + name
			}
			return outcome, fmt.Sprintf("%s: %v", name, err)
		case migration.Again, migration.Broken:
			if outcome == migration.Again {
				broken = time.Time{}
			}
			if !w.m.sleep(ctx, migration.Retry(failed, asked)) {
				return migration.Again, ""
			}
		default:
			return outcome, ""
		}
	}
}

// conclude decides whether the pass that has ended was the last one. It reads
// everything from the API server, and trims storedVersions before it reports success:
// a crash in between repeats the pass, and loses nothing.
//
// KEP-2339: the resourceVersion of the StorageVersion is compared before and
// after the migration.
func (w *worker) conclude(ctx context.Context) (v verdict, done bool, err error) {
	m := w.m
	ok := m.persist(ctx, "conclude a migration", func(ctx context.Context) error {
		v, done = verdict{}, false
		crd, err := m.clients.crd(ctx, w.target.Resource)
		if err != nil {
			return err
		}
		sv, err := m.clients.storageVersion(ctx, w.name)
		if err != nil {
			return err
		}
		c, definition := w.checkpoint, definitionOf(crd)
		basis, _ := migration.BasisOf(sv)
		switch standing := c.Basis.Check(sv); {
		case standing == migration.Lost, !definition.Follows(c.Basis):
			v, done = w.lost(), true
			return nil
		case standing == migration.Moved, !c.Listed:
			w.set(c.Again(basis, definition))
			return w.save(ctx)
		case c.Done.Refused > 0:
			v, done = verdict{Outcome: storagemigrationv1.MigrationFailed, Reason: migration.ReasonObjectsRefused, Message: c.Message()}, true
			return nil
		}
		if stored, trim := definition.Trim(c.Basis, c.DefinitionGeneration); trim && !w.leavesStoredVersions(stored) {
			// The precondition is the definition that was read before the comparison.
			if err := m.trim(ctx, crd, stored); err != nil {
				return err
			}
		}
		v, done = verdict{Outcome: storagemigrationv1.MigrationSucceeded, Reason: migration.ReasonSucceeded, Message: c.Message()}, true
		return nil
	})
	if !ok {
		return verdict{}, false, context.Cause(ctx)
	}
	return v, done, nil
}
