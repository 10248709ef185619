package migrator

import (
	"context"
	"fmt"
	"strconv"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// reasonStarted is the reason of the migrations that a controller creates at its start.
const reasonStarted = "the migration controller was started"

// startUp creates the migrations of the start. A controller that is started again finds
// those that exist, and goes on with them.
//
// KEP-25, "Alpha workflow": on start-up the controller discovers all supported APIs, leaves
// out custom resources, creates a migration for each other resource if it does not exist,
// and logs the reason.
func (m *Migrator) startUp(ctx context.Context) error {
	owner, err := m.owner(ctx)
	if err != nil {
		return err
	}
	targets, err := m.clients.targets(ctx)
	if err != nil {
		return err
	}
	crds, err := m.clients.extensions.ApiextensionsV1().CustomResourceDefinitions().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing custom resource definitions: %w", err)
	}
	custom := map[schema.GroupResource]bool{}
	for i := range crds.Items {
		custom[schema.GroupResource{Group: crds.Items[i].Spec.Group, Resource: crds.Items[i].Spec.Names.Plural}] = true
	}
	versions, err := m.clients.InternalV1alpha1().StorageVersions().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing storage versions: %w", err)
	}
	announced := map[string]bool{}
	for i := range versions.Items {
		announced[versions.Items[i].Name] = true
	}
	list, err := m.clients.migrations.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing migrations: %w", err)
	}
	exists := existing(list.Items, owner)
	for _, target := range targets.All() {
		name := storageversion.Name(target.Resource.Group, target.Resource.Resource)
		if custom[target.Resource] || !announced[name] || exists[target.Resource] {
			continue
		}
		if err := m.create(ctx, name, target.Resource, reasonStarted, owner); err != nil {
			return err
		}
	}
	return nil
}

// existing are the resources of which there is a migration that has not ended, or one that
// the owner has already.
func existing(all []storagemigrationv1.StorageVersionMigration, owner *metav1.OwnerReference) map[schema.GroupResource]bool {
	exists := map[schema.GroupResource]bool{}
	for i := range all {
		svm := &all[i]
		if !migration.Finished(svm) || owner == nil || metav1.IsControlledBy(svm, &metav1.ObjectMeta{UID: owner.UID}) {
			exists[migration.ResourceOf(svm)] = true
		}
	}
	return exists
}

// owner is what owns the migrations that this controller creates, nil if nothing does.
//
// KEP-25: the owner is the Deployment of the controller, so that old migrations are deleted
// with it. Published migrations have no namespace, so that nothing in one can own them: it
// is the ClusterRole that is installed with the Deployment.
func (m *Migrator) owner(ctx context.Context) (*metav1.OwnerReference, error) {
	if m.options.Owner == "" {
		return nil, nil
	}
	role, err := m.clients.RbacV1().ClusterRoles().Get(ctx, m.options.Owner, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the owner of migrations, the ClusterRole %s: %w", m.options.Owner, err)
	}
	controls := true
	return &metav1.OwnerReference{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: role.Name, UID: role.UID, Controller: &controls}, nil
}

// create creates a migration. Its name contains its number, so that a leader that has not
// observed it yet cannot create it twice.
//
// KEP-25: the generation is incremented, and the reason is logged.
func (m *Migrator) create(ctx context.Context, name string, target schema.GroupResource, reason string, owner *metav1.OwnerReference) error {
	generation := strconv.FormatInt(m.states.read(name).Generation+1, 10)
	svm := &storagemigrationv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name + "." + generation,
			Annotations: map[string]string{migration.GenerationAnnotation: generation, migration.ReasonAnnotation: reason},
		},
		Spec: storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: target.Group, Resource: target.Resource}},
	}
	if owner != nil {
		svm.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	_, err := m.clients.migrations.Create(ctx, svm, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating migration %s: %w", svm.Name, err)
	}
	m.states.change(name, func(s migration.State) migration.State { return s.Asked(reason) })
	m.options.Logger.Info("Created a migration", "migration", svm.Name, "reason", reason)
	return nil
}
