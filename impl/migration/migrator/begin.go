package migrator

import (
	"context"
	"errors"
	"fmt"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// begin finds out where to go on, reads from the resource for the first time, and records
// that the migration is running.
//
// The first read is tried with the same patience as each later one: it may never succeed,
// as where the conversion webhook of a definition is gone.
func (w *worker) begin(ctx context.Context) (verdict, error) {
	var found verdict
	err := w.insist(ctx, "begin a migration", func(ctx context.Context) (err error) {
		found, err = w.resume(ctx)
		return err
	})
	if err != nil || found != (verdict{}) {
		return found, err
	}
	first, v, err := w.request(ctx, metav1.ListOptions{Limit: 1})
	if err != nil || v != (verdict{}) {
		return v, err
	}
	resourceVersion := w.m.decide.revision(first.GetResourceVersion(), w.basis())
	if err := w.insist(ctx, "record that a migration runs", func(ctx context.Context) error { return w.start(ctx, resourceVersion) }); err != nil {
		return verdict{}, err
	}
	w.m.options.Logger.Info("Migrating", "migration", w.svm.Name, "resource", w.target.Resource, "version", w.basis().Version,
		"generation", w.checkpoint.Generation, "pass", w.checkpoint.Pass, "done", w.checkpoint.Done.Total())
	return verdict{}, nil
}

// resume reads the migration, its checkpoint and the agreement, in this order, and decides
// where to go on. It has a verdict if there is nothing to go on with.
func (w *worker) resume(ctx context.Context) (verdict, error) {
	m := w.m
	svm, err := w.current(ctx)
	if err != nil {
		return verdict{}, err
	}
	c, written, err := m.checkpoint(ctx, svm.UID)
	if err != nil {
		return verdict{}, err
	}
	if written == nil && w.lent {
		return verdict{}, errors.New("the checkpoint of the worker does not exist yet")
	}
	w.svm, w.written = svm, written
	if c.Verdict != nil {
		w.set(c)
		return *c.Verdict, nil // A former worker did not live to leave.
	}
	// The agreement comes before the list: what is stored later is stored in it.
	sv, err := m.clients.storageVersion(ctx, w.name)
	if err != nil {
		return verdict{}, err
	}
	crd, err := m.clients.crd(ctx, w.target.Resource)
	if err != nil {
		return verdict{}, err
	}
	definition := definitionOf(crd)
	c, v := m.decide.resumes(c)
	if v != (verdict{}) {
		w.set(c)
		return v, nil
	}
	trouble := w.trouble(c)
	switch standing := c.Basis.Check(sv); {
	case c.Pass == 0 || standing == migration.Lost && !migration.Started(svm):
		basis, agreed := m.decide.begins(sv, definition)
		if !agreed {
			w.stop(errUndecided) // The loop has not seen it yet.
			return verdict{}, errUndecided
		}
		number := c.Generation
		if c.Pass == 0 {
			if number, err = w.number(ctx); err != nil {
				return verdict{}, err
			}
		}
		c = migration.Begun(svm.UID, number, basis, definition)
	case standing == migration.Lost:
		w.set(c)
		return w.lost(), nil
	case standing == migration.Moved:
		basis, _ := migration.BasisOf(sv)
		c = c.Again(basis, definition)
	}
	c.PutOff, c.Trouble = "", trouble
	w.set(c)
	return verdict{}, w.save(ctx)
}

// current reads the migration. It ends the worker if there is nothing to do about it.
func (w *worker) current(ctx context.Context) (*storagemigrationv1.StorageVersionMigration, error) {
	svm, err := w.m.clients.migrations.Get(ctx, w.svm.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (svm.UID != w.svm.UID || migration.Finished(svm)) {
		w.stop(errOver)
		return nil, errOver
	}
	if err != nil {
		return nil, fmt.Errorf("reading the migration: %w", err)
	}
	return svm, nil
}

// trouble is what the worker before this one had: as that one wrote it down, or else as
// this process remembers it.
func (w *worker) trouble(c migration.Checkpoint) migration.Trouble {
	if !c.Trouble.Since.IsZero() {
		return c.Trouble
	}
	return w.troubled()
}

// start records that the migration is running.
func (w *worker) start(ctx context.Context, resourceVersion string) error {
	svm, err := w.current(ctx)
	if err != nil {
		return err
	}
	if err := w.m.decide.begun(ctx, w); err != nil {
		return err
	}
	next := svm.DeepCopy()
	next.Status = migration.Running(svm, resourceVersion, w.checkpoint.Message(), w.m.options.Clock.Now())
	written, err := w.m.clients.migrations.UpdateStatus(ctx, next, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	w.svm, w.reported = written, w.m.options.Clock.Now()
	return nil
}
