package migrator

import (
	"context"
	"errors"
	"fmt"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/evenkeel/evenkeel/impl/follow"
	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// Task is the task of the worker of a Job.
type Task struct {
	// Migration is its name, and UID distinguishes it from others of that name.
	Migration string
	UID       types.UID
	// Generation is its number among those of its resource.
	Generation int64
}

// errStopped ends a worker whose process is to end. The Job replaces it.
var errStopped = errors.New("stopped before the migration had ended; another worker continues from the checkpoint")

// Work is the worker of a Job: it returns nil once its work is done. It writes its
// verdict to the checkpoint, and the controller writes the outcome of the migration.
//
// KEP-25: when a worker starts, it continues from the continue token in the checkpoint.
func Work(ctx context.Context, options Options, task Task) error {
	if err := options.complete(); err != nil {
		return fmt.Errorf("migration worker: %w", err)
	}
	// Whatever it writes is based on what it has read, and there is no leadership.
	clients, err := newClients(options.Config, newPacer(options.Rate, options.Clock), func() error { return nil }, options.Defects)
	if err != nil {
		return fmt.Errorf("migration worker: %w", err)
	}
	if err := newMigrator(options, clients).work(ctx, task); err != nil {
		return fmt.Errorf("migration %s: %w", task.Migration, err)
	}
	return nil
}

func (m *Migrator) work(ctx context.Context, task Task) error {
	svm, err := m.task(ctx, task)
	if err != nil || svm == nil {
		return err
	}
	resource := migration.ResourceOf(svm)
	name := storageversion.Name(resource.Group, resource.Resource)
	view, stop := m.watchOne(ctx, name, svm.Name)
	defer stop()
	if !cache.WaitForCacheSync(ctx.Done(), view.synced...) {
		return errStopped
	}
	for {
		r := m.attempt(ctx, svm, name, task.Generation, view)
		switch {
		case r.end == ended:
			return m.leaveVerdict(ctx, svm.UID, r)
		case r.end == deleted, r.end == over:
			m.options.Logger.Info("The migration has ended already", "migration", svm.Name)
			return nil
		case ctx.Err() != nil:
			return errStopped
		case errors.Is(r.err, errSuperseded):
			return errSuperseded
		}
		m.options.Logger.Info("A migration is postponed", "migration", svm.Name, "reason", r.err)
		m.notePutOff(ctx, svm.UID, r.err)
		if !m.sleep(ctx, Recheck) {
			return errStopped
		}
	}
}

// task reads the migration; it is nil if there is nothing to do about it any more.
func (m *Migrator) task(ctx context.Context, task Task) (svm *storagemigrationv1.StorageVersionMigration, err error) {
	read := m.persist(ctx, migration.OutagePatience, "read the migration", func(ctx context.Context) error {
		svm, err = m.clients.migrations.Get(ctx, task.Migration, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && (svm.UID != task.UID || migration.Finished(svm)) {
			svm, err = nil, nil
		}
		return err
	})
	if !read {
		return nil, errStopped
	}
	return svm, nil
}

// attempt migrates until there is a reason not to go on.
func (m *Migrator) attempt(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, name string, generation int64, view view) report {
	look, cancel := context.WithTimeout(ctx, RequestTimeout)
	targets, err := m.clients.targets(look)
	cancel()
	if err != nil {
		return report{end: putOff, err: err}
	}
	target, found, _ := targets.Find(migration.ResourceOf(svm))
	if !found {
		return report{end: putOff, err: fmt.Errorf("no API server serves %s", migration.ResourceOf(svm))}
	}
	term, w := m.worker(ctx, assignment{svm: svm, name: name, target: target}, view)
	defer m.leave(w)
	w.lent = true
	w.number = func(context.Context) (int64, error) { return generation, nil }
	return w.work(term)
}

// leaveVerdict writes down how the worker ended.
func (m *Migrator) leaveVerdict(ctx context.Context, svm types.UID, r report) error {
	gone := false
	left := m.persist(ctx, migration.OutagePatience, "write the verdict down", func(ctx context.Context) error {
		c, written, err := m.checkpoint(ctx, svm)
		if err != nil {
			return err
		}
		if gone = written == nil || c.Generation != r.checkpoint.Generation || c.Pass > r.checkpoint.Pass; gone {
			return nil
		}
		next := r.checkpoint
		next.Verdict = &r.verdict
		_, err = m.saveCheckpoint(ctx, nil, next, written)
		return err
	})
	switch {
	case !left:
		return errStopped
	case gone:
		return errSuperseded
	}
	m.options.Logger.Info("The worker has ended", "outcome", r.verdict.Outcome, "reason", r.verdict.Reason, "message", r.verdict.Message)
	return nil
}

// notePutOff reports to the controller that the worker cannot continue at present. It
// only saves time: the controller determines whether the migration can ever continue.
func (m *Migrator) notePutOff(ctx context.Context, svm types.UID, why error) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	c, written, err := m.checkpoint(ctx, svm)
	if err == nil && written != nil {
		c.Migration, c.PutOff = svm, why.Error()
		_, err = m.saveCheckpoint(ctx, nil, c, written)
	}
	if err != nil && ctx.Err() == nil {
		m.options.Logger.Error(err, "Cannot write that a migration is postponed")
	}
}

// watchOne follows what the worker of a Job stops for.
func (m *Migrator) watchOne(ctx context.Context, storageVersion, svm string) (view, func()) {
	versions, migrations := m.followVersions(follow.Named(storageVersion)), m.followMigrations(follow.Named(svm))
	v := view{versions: versions, migrations: migrations, synced: []cache.InformerSynced{versions.HasListed, migrations.HasListed}}
	return v, together(ctx, versions.Run, migrations.Run)
}
