package migrator

import (
	"context"
	"fmt"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// Reasons of the condition StorageMigrating of a definition.
const (
	markRunning = "MigrationRunning"
	// markIdle: the migration that ran has ended, whatever came of it, or was deleted.
	markIdle = "NoMigrationRunning"
)

// mark writes to the definitions of custom resources whether their objects are being
// migrated. It derives that from the present objects and not from events: if a migration
// was deleted, or its leader crashed, no definition stays marked forever.
func (m *Migrator) mark(ctx context.Context, view view, all []*storagemigrationv1.StorageVersionMigration) {
	running := map[schema.GroupResource]string{}
	for _, svm := range all {
		if migration.Started(svm) && !migration.Finished(svm) && svm.DeletionTimestamp == nil {
			running[migration.ResourceOf(svm)] = svm.Name
		}
	}
	for _, crd := range view.definitions.All() {
		by, runs := running[schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural}]
		if runs == apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.StorageMigrating) || !m.decide.marks(crd.Name, runs) {
			continue
		}
		next := crd.DeepCopy()
		condition := apiextensionsv1.CustomResourceDefinitionCondition{
			Type: apiextensionsv1.StorageMigrating, Status: apiextensionsv1.ConditionFalse, Reason: markIdle, Message: "No migration of the objects is running.",
			LastTransitionTime: metav1.NewTime(m.options.Clock.Now()), ObservedGeneration: crd.Generation,
		}
		if runs {
			condition.Status, condition.Reason, condition.Message = apiextensionsv1.ConditionTrue, markRunning, fmt.Sprintf("Migration %s is running.", by)
		}
		apihelpers.SetCRDCondition(next, condition)
		request, cancel := context.WithTimeout(ctx, RequestTimeout)
		_, err := m.clients.extensions.ApiextensionsV1().CustomResourceDefinitions().UpdateStatus(request, next, metav1.UpdateOptions{})
		cancel()
		// What is newer than the view will be seen by the watch.
		if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			m.options.Logger.Error(err, "Cannot write whether the objects of a definition are being migrated, trying again", "definition", crd.Name)
		}
	}
}
