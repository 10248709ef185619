package migrator

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// checkpoint reads how far a former worker got; written is nil if there was
// none.
func (m *Migrator) checkpoint(ctx context.Context, svm types.UID) (c migration.Checkpoint, written *corev1.ConfigMap, err error) {
	written, err = m.clients.CoreV1().ConfigMaps(m.options.Namespace).Get(ctx, migration.CheckpointName(svm), metav1.GetOptions{})
	if migration.IsAbout(err, corev1.Resource("configmaps"), migration.CheckpointName(svm)) {
		return c, nil, nil
	}
	if err != nil {
		return c, nil, fmt.Errorf("reading the checkpoint of a migration: %w", err)
	}
	c, err = migration.DecodeCheckpoint(written.Data[migration.RecordKey])
	if err != nil || c.Migration != svm {
		// Beginning again is always correct; the new checkpoint replaces this one.
		return migration.Checkpoint{}, written, nil
	}
	return c, written, nil
}

// saveCheckpoint writes the progress of a worker. It has the previous checkpoint as
// precondition, so that a worker that another one has replaced cannot overwrite it.
//
// KEP-25: the checkpoint is a ConfigMap owned by the worker, which ends with it. A
// worker that is no Job cannot own anything, so there the migration does.
func (m *Migrator) saveCheckpoint(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, c migration.Checkpoint, written *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	records := m.clients.CoreV1().ConfigMaps(m.options.Namespace)
	if written != nil {
		next := written.DeepCopy()
		next.Data = map[string]string{migration.RecordKey: c.Encode()}
		return records.Update(ctx, next, metav1.UpdateOptions{})
	}
	return records.Create(ctx, checkpointOf(c, svm.UID, migrationOwner(svm.Name, svm.UID)), metav1.CreateOptions{})
}

// migrationOwner is the reference by which something goes when a migration goes.
func migrationOwner(name string, svm types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: storagemigrationv1.SchemeGroupVersion.String(), Kind: migrationKind, Name: name, UID: svm}
}

const migrationKind = "StorageVersionMigration"

// ownedByMigration reports whether a checkpoint belongs to no Job at present.
func ownedByMigration(checkpoint *corev1.ConfigMap) bool {
	return slices.ContainsFunc(checkpoint.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.Kind == migrationKind })
}

// checkpointOf is the ConfigMap of a migration, which goes when its owner goes.
func checkpointOf(c migration.Checkpoint, svm types.UID, owner metav1.OwnerReference) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:            migration.CheckpointName(svm),
			Labels:          map[string]string{migration.RecordLabel: migration.CheckpointRecord},
			OwnerReferences: []metav1.OwnerReference{owner},
		},
		Data: map[string]string{migration.RecordKey: c.Encode()},
	}
}

// dropCheckpoint removes what no worker needs any more. If that fails, the next
// leader does it (dropOrphans).
func (m *Migrator) dropCheckpoint(ctx context.Context, svm types.UID) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	err := m.clients.CoreV1().ConfigMaps(m.options.Namespace).Delete(ctx, migration.CheckpointName(svm), metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		m.options.Logger.Error(err, "Cannot remove the checkpoint of a migration", "uid", svm)
	}
}

// dropOrphans removes the checkpoints of migrations that ended or were deleted
// while there was no leader.
func (m *Migrator) dropOrphans(ctx context.Context, view view) {
	open := map[string]bool{}
	for _, svm := range view.migrations.All() {
		if !migration.Finished(svm) {
			open[migration.CheckpointName(svm.UID)] = true
		}
	}
	list, err := m.clients.CoreV1().ConfigMaps(m.options.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: migration.RecordLabel + "=" + migration.CheckpointRecord})
	if err != nil {
		if ctx.Err() == nil {
			m.options.Logger.Error(err, "Cannot list leftover checkpoints")
		}
		return
	}
	for i := range list.Items {
		if name := list.Items[i].Name; !open[name] {
			m.dropCheckpoint(ctx, types.UID(name[min(len(name), len(migration.CheckpointName(""))):]))
		}
	}
}
