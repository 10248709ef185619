package migrator

import (
	"context"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// conclude decides whether the pass that has ended was the last one. It reads
// everything from the API server, and trims storedVersions before it reports success:
// a crash in between repeats the pass, and loses nothing.
//
// KEP-2339: the resourceVersion of the StorageVersion is compared before and
// after the migration.
func (w *worker) conclude(ctx context.Context) (v verdict, done bool, err error) {
	err = w.insist(ctx, "conclude a migration", func(ctx context.Context) (err error) {
		v, done, err = w.judge(ctx)
		return err
	})
	return v, done, err
}

func (w *worker) judge(ctx context.Context) (verdict, bool, error) {
	m := w.m
	crd, err := m.clients.crd(ctx, w.target.Resource)
	if err != nil {
		return verdict{}, false, err
	}
	sv, err := m.clients.storageVersion(ctx, w.name)
	if err != nil {
		return verdict{}, false, err
	}
	c, definition := w.checkpoint, definitionOf(crd)
	basis, _ := migration.BasisOf(sv)
	switch standing := c.Basis.Check(sv); {
	case standing == migration.Lost, !definition.Follows(c.Basis):
		return w.lost(), true, nil
	case standing == migration.Moved, !c.Listed:
		w.set(c.Again(basis, definition))
		return verdict{}, false, w.save(ctx)
	case c.Done.Refused > 0:
		return verdict{Outcome: storagemigrationv1.MigrationFailed, Reason: migration.ReasonObjectsRefused, Message: c.Message()}, true, nil
	}
	if stored, trim := definition.Trim(c.Basis, c.DefinitionGeneration); trim && m.decide.trims(w, stored) {
		// The precondition is the definition that was read before the comparison.
		if err := m.trim(ctx, crd, stored); err != nil {
			return verdict{}, false, err
		}
	}
	return verdict{Outcome: storagemigrationv1.MigrationSucceeded, Reason: migration.ReasonSucceeded, Message: c.Message()}, true, nil
}
