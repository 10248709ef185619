package migrator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/workload"
)

// Jobs say how workers are made that are Jobs.
type Jobs struct {
	// Pod is what their Pods are made of.
	Pod workload.Pod
}

// jobCrew is the crew for clusters that run workloads. It reads its whole state from
// the API server at each look, so another controller can continue after a crash.
//
// KEP-25: each worker is a Job, and its checkpoint a ConfigMap that the Job owns.
type jobCrew struct {
	m    *Migrator
	jobs Jobs

	// at is the migration of the existing Job, if any; why is what its worker cannot
	// continue for. Only the loop uses them.
	at   types.UID
	name string
	why  error
	// given are the numbers of migrations whose Job could not be made at once.
	given map[types.UID]int64
}

var _ crew = (*jobCrew)(nil)

func newJobCrew(m *Migrator, jobs Jobs) *jobCrew {
	return &jobCrew{m: m, jobs: jobs, given: map[types.UID]int64{}}
}

func (c *jobCrew) busy() types.UID { return c.at }

func (c *jobCrew) stuck() error { return c.why }

// giveWay has the migration own the checkpoint, which would go with the Job otherwise, and
// deletes the Job. The next Job of the migration gets the checkpoint (lend).
func (c *jobCrew) giveWay(ctx context.Context) error {
	checkpoint, written, err := c.m.checkpoint(ctx, c.at)
	if err != nil {
		return err
	}
	if written != nil && !ownedByMigration(written) {
		next := written.DeepCopy()
		next.OwnerReferences = []metav1.OwnerReference{migrationOwner(c.name, c.at)}
		if _, err := c.m.clients.CoreV1().ConfigMaps(written.Namespace).Update(ctx, next, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("keeping the checkpoint of a worker: %w", err)
		}
	}
	c.m.yield(c.at, checkpoint.Trouble)
	c.why = nil
	c.dismiss(ctx, c.at)
	c.m.rest(ctx, c.name, c.at, errGaveWay)
	return nil
}

// wait has nothing to wait for: Jobs outlive the controller.
func (*jobCrew) wait() {}

// look reads what Jobs there are. One that is being deleted still counts: its Pods
// may not have ended.
func (c *jobCrew) look(ctx context.Context, view view) error {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	list, err := c.m.clients.BatchV1().Jobs(c.m.options.Namespace).List(ctx, metav1.ListOptions{LabelSelector: workload.WorkerSelector})
	if err != nil {
		return fmt.Errorf("listing the Jobs of workers: %w", err)
	}
	c.at, c.why = "", nil
	c.forgetNumbers(view)
	for i := range list.Items {
		job := &list.Items[i]
		c.name, c.at = workload.MigrationOf(job)
		delete(c.given, c.at)
		if job.DeletionTimestamp != nil {
			continue
		}
		if err := c.inspect(ctx, view, job); err != nil {
			return err
		}
	}
	workerRunning.Set(0)
	if c.at != "" {
		workerRunning.Set(1)
	}
	return nil
}

// inspect does what a Job calls for.
func (c *jobCrew) inspect(ctx context.Context, view view, job *batchv1.Job) error {
	svm, err := c.migrationOf(ctx, view, job)
	if err != nil {
		return err
	}
	completed, failed, why := workload.Ended(job)
	name := workload.StorageVersionOf(job)
	switch {
	case svm.UID == "":
		gone := &storagemigrationv1.StorageVersionMigration{}
		gone.Name, gone.UID = workload.MigrationOf(job)
		c.m.settle(ctx, gone, workload.StorageVersionOf(job), report{end: deleted})
		return nil
	case migration.Finished(svm):
		c.dismiss(ctx, svm.UID)
		return nil
	case failed:
		c.m.finish(ctx, svm, name, migration.Verdict{Outcome: storagemigrationv1.MigrationFailed, Reason: migration.ReasonWorkerFailed,
			Message: fmt.Sprintf("The Job of the worker has failed: %s. Look at the logs of its Pods, and migrate again.", why)})
		return nil
	}
	c.m.states.change(name, func(s migration.State) migration.State { return s.Launched(workload.GenerationOf(job)) })
	checkpoint, written, err := c.m.checkpoint(ctx, svm.UID)
	switch {
	case err != nil:
		return err
	case written != nil && ownedByMigration(written):
		return c.lendAgain(ctx, job, svm.UID)
	case written != nil && !slices.ContainsFunc(written.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == job.UID }):
		// It belongs to a Job that is gone, and goes as well.
		return c.m.clients.CoreV1().ConfigMaps(written.Namespace).Delete(ctx, written.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &written.UID}})
	case completed && checkpoint.Verdict == nil:
		// Another client has stopped it, or removed its checkpoint. Its result is
		// unknown, so it does not count.
		c.m.options.Logger.Info("The Job of a worker has ended without a verdict, making another", "migration", svm.Name, "job", job.Name)
		c.dismiss(ctx, svm.UID)
	case completed:
		return c.conclude(ctx, svm, name, checkpoint)
	case written == nil:
		return c.lend(ctx, job)
	case checkpoint.PutOff != "":
		c.why = errors.New(checkpoint.PutOff)
	}
	return nil
}

// forgetNumbers drops the numbers of migrations that were deleted or have ended.
func (c *jobCrew) forgetNumbers(view view) {
	if len(c.given) == 0 {
		return
	}
	open := map[types.UID]bool{}
	for _, svm := range view.migrations.All() {
		open[svm.UID] = !migration.Finished(svm)
	}
	for uid := range c.given {
		if !open[uid] {
			delete(c.given, uid)
		}
	}
}

// conclude gives a migration the outcome that its worker came to. That may have been
// long ago: a success counts only while the agreement that it rests on holds.
func (c *jobCrew) conclude(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, name string, checkpoint migration.Checkpoint) error {
	verdict := *checkpoint.Verdict
	if verdict.Outcome == storagemigrationv1.MigrationSucceeded {
		crd, err := c.m.clients.crd(ctx, migration.ResourceOf(svm))
		if err != nil {
			return err
		}
		sv, err := c.m.clients.storageVersion(ctx, name)
		if err != nil {
			return err
		}
		switch standing := checkpoint.Basis.Check(sv); {
		case standing == migration.Lost, !definitionOf(crd).Follows(checkpoint.Basis):
			verdict = migration.Verdict{Outcome: storagemigrationv1.MigrationFailed, Reason: migration.ReasonAgreementLost,
				Message: fmt.Sprintf("The servers ceased to agree on storing %s as %s before the success could be recorded; migrate again when they agree.", migration.ResourceOf(svm), checkpoint.Basis.Version)}
		case standing == migration.Moved:
			c.m.options.Logger.Info("The agreement moved before a success could be recorded, migrating again", "migration", svm.Name)
			c.dismiss(ctx, svm.UID)
			return nil
		}
	}
	c.m.settle(ctx, svm, name, report{end: ended, verdict: verdict, checkpoint: checkpoint})
	return nil
}

// migrationOf returns the migration of a Job; its uid is empty if it was deleted. The
// view may be old, so only a request to the API server shows that it was deleted.
func (c *jobCrew) migrationOf(ctx context.Context, view view, job *batchv1.Job) (*storagemigrationv1.StorageVersionMigration, error) {
	name, uid := workload.MigrationOf(job)
	for _, svm := range view.migrations.All() {
		if svm.UID == uid && svm.DeletionTimestamp == nil {
			return svm, nil
		}
	}
	svm, err := c.m.clients.migrations.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (svm.UID != uid || svm.DeletionTimestamp != nil) {
		return &storagemigrationv1.StorageVersionMigration{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading migration %s: %w", name, err)
	}
	return svm, nil
}

// launch makes the Job and its checkpoint.
//
// KEP-25: the controller creates the ConfigMap when it creates the Job, and sets
// the Job as the owner.
func (c *jobCrew) launch(ctx context.Context, a assignment, _ view) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	// The view may not show the outcome of a moment ago.
	if !c.m.current(ctx, a.svm) {
		return
	}
	if err := c.make(ctx, a); err != nil && ctx.Err() == nil {
		c.m.options.Logger.Error(err, "Cannot launch a worker, trying again", "migration", a.svm.Name)
	}
}

func (c *jobCrew) make(ctx context.Context, a assignment) error {
	number, err := c.m.enroll(ctx, a.svm, a.name, c.given[a.svm.UID])
	c.given[a.svm.UID] = number
	if err != nil {
		return err
	}
	job, err := c.m.clients.BatchV1().Jobs(c.m.options.Namespace).Create(ctx, c.jobs.Pod.Job(workload.Worker{
		Migration: a.svm, StorageVersion: a.name, Generation: number, Namespace: c.m.options.Namespace, Rate: c.m.options.Rate,
	}), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating the Job of a worker: %w", err)
	}
	// From now on there is a worker, whatever becomes of the rest: look lends again.
	c.at, c.name, c.why = a.svm.UID, a.svm.Name, nil
	c.m.options.Logger.Info("Launched a worker", "migration", a.svm.Name, "job", job.Name, "generation", number)
	return c.lend(ctx, job)
}

// lend makes the checkpoint of a Job, with nothing done yet, or gives it the one that a Job
// has left which gave way.
func (c *jobCrew) lend(ctx context.Context, job *batchv1.Job) error {
	_, uid := workload.MigrationOf(job)
	begin := migration.Checkpoint{Migration: uid, Generation: workload.GenerationOf(job)}
	_, err := c.m.clients.CoreV1().ConfigMaps(job.Namespace).Create(ctx, checkpointOf(begin, uid, workload.Owner(job)), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return c.lendAgain(ctx, job, uid)
	}
	if err != nil {
		return fmt.Errorf("creating the checkpoint of a worker: %w", err)
	}
	return nil
}

// lendAgain gives a Job the checkpoint that its migration owns.
func (c *jobCrew) lendAgain(ctx context.Context, job *batchv1.Job, svm types.UID) error {
	checkpoint, written, err := c.m.checkpoint(ctx, svm)
	if err != nil || written == nil || !ownedByMigration(written) {
		return err
	}
	checkpoint.Migration, checkpoint.PutOff = svm, ""
	next := written.DeepCopy()
	next.OwnerReferences = []metav1.OwnerReference{workload.Owner(job)}
	next.Data = map[string]string{migration.RecordKey: checkpoint.Encode()}
	if _, err := c.m.clients.CoreV1().ConfigMaps(written.Namespace).Update(ctx, next, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("giving a worker its checkpoint: %w", err)
	}
	return nil
}

// dismiss deletes the Job. It stays until its Pods have ended, so that no other
// worker begins beside them; its checkpoint goes with it.
func (c *jobCrew) dismiss(ctx context.Context, svm types.UID) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	err := c.m.clients.BatchV1().Jobs(c.m.options.Namespace).Delete(ctx, workload.JobName(svm), metav1.DeleteOptions{
		PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)})
	if err != nil && !apierrors.IsNotFound(err) && !errors.Is(err, context.Canceled) {
		c.m.options.Logger.Error(err, "Cannot delete the Job of a worker, trying again", "job", workload.JobName(svm))
	}
}
