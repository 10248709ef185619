package migrator

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionslisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	apiserverinternallisters "k8s.io/client-go/listers/apiserverinternal/v1alpha1"
	storagemigrationlisters "k8s.io/client-go/listers/storagemigration/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// view is the state by which the loop decides. It may be old; a worker reads from the
// API server everything on which the correctness of an outcome depends.
type view struct {
	versions    apiserverinternallisters.StorageVersionLister
	migrations  storagemigrationlisters.StorageVersionMigrationLister
	definitions apiextensionslisters.CustomResourceDefinitionLister
	synced      []cache.InformerSynced
}

// definition of a resource, nil if it is no custom one.
func (v view) definition(resource schema.GroupResource) *migration.Definition {
	// A lister fails only where nothing is found.
	crd, err := v.definitions.Get(resource.String())
	if err != nil {
		return nil
	}
	return definitionOf(crd)
}

func (v view) all() []*storagemigrationv1.StorageVersionMigration {
	// A lister over everything does not fail.
	all, _ := v.migrations.List(labels.Everything())
	return all
}

// pass does once whatever there is to do.
func (m *Migrator) pass(ctx context.Context, view view) {
	m.states.flush(ctx)
	if err := m.crew.look(ctx, view); err != nil {
		if ctx.Err() == nil {
			m.options.Logger.Error(err, "Cannot read the state of the worker, trying again")
		}
		return
	}
	all := view.all()
	m.mark(ctx, view, all)
	m.trigger(ctx, view, all)
	heads := migration.Heads(all)
	if m.options.Defects.Has(defects.SVM14NewestFirst) {
		heads = newest(all, heads) // defect: SVM-14-newest-first
	}
	if len(heads) == 0 || ctx.Err() != nil {
		return
	}
	if m.options.Clock.Since(m.targetsAt) >= DiscoveryFresh {
		targets, err := m.clients.targets(ctx)
		if err != nil {
			m.options.Logger.Error(err, "Cannot read discovery, trying again")
			return
		}
		m.targets, m.targetsAt = targets, m.options.Clock.Now()
	}
	for _, head := range heads {
		m.advance(ctx, view, head)
	}
}

// newest are the migrations that would have their turn if the last one were the
// first.
func newest(all, heads []*storagemigrationv1.StorageVersionMigration) []*storagemigrationv1.StorageVersionMigration {
	out := slices.Clone(heads)
	for i, head := range out {
		for _, svm := range all {
			if migration.ResourceOf(svm) == migration.ResourceOf(head) && !migration.Finished(svm) && !migration.Started(head) && out[i].CreationTimestamp.Before(&svm.CreationTimestamp) {
				out[i] = svm
			}
		}
	}
	return out
}

// trigger creates the migrations that are due, if it may, and records which resources
// need none.
//
// KEP-2339: a migration starts if the agreed version differs from the persisted
// versions. KEP-25: the generation is incremented and the reason given.
func (m *Migrator) trigger(ctx context.Context, view view, all []*storagemigrationv1.StorageVersionMigration) {
	underWay := sets.New[schema.GroupResource]()
	for _, svm := range all {
		if !migration.Finished(svm) {
			underWay.Insert(migration.ResourceOf(svm))
		}
	}
	for _, name := range m.states.names() {
		sv, err := view.versions.Get(name)
		group, resource, ok := storageversion.ParseName(name)
		if err != nil || !ok || ctx.Err() != nil {
			continue
		}
		target := schema.GroupResource{Group: group, Resource: resource}
		decide := func(definition *migration.Definition, underWay bool) (migration.Trigger, string) {
			return migration.Decide(m.states.read(name), sv, definition, underWay, m.options.Clock.Now())
		}
		switch trigger, reason := decide(view.definition(target), underWay.Has(target)); trigger {
		case migration.ShortCircuit:
			basis, _ := migration.BasisOf(sv)
			m.states.change(name, func(s migration.State) migration.State {
				s = s.Asked(reason)
				return s.Completed(s.Generation, basis)
			})
		case migration.Begin:
			if m.options.Automatic {
				m.request(ctx, name, target, decide)
			}
		}
	}
	m.states.flush(ctx)
}

// request creates a migration. Its name contains its number, so that a leader that
// has not observed it yet cannot create it twice.
func (m *Migrator) request(ctx context.Context, name string, target schema.GroupResource, decide func(definition *migration.Definition, underWay bool) (migration.Trigger, string)) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	client := m.clients.migrations
	// The view may not show yet what was asked for a moment ago, or that the worker
	// that ended then has trimmed the versions that a definition names as stored.
	list, err := client.List(ctx, metav1.ListOptions{})
	var crd *apiextensionsv1.CustomResourceDefinition
	if err == nil {
		crd, err = m.clients.crd(ctx, target)
	}
	if err != nil {
		if ctx.Err() == nil {
			m.options.Logger.Error(err, "Cannot determine whether a migration is due, trying again", "resource", target)
		}
		return
	}
	underWay := false
	for i := range list.Items {
		svm := &list.Items[i]
		underWay = underWay || migration.ResourceOf(svm) == target && !migration.Finished(svm)
	}
	// One that has ended in between is remembered by now.
	trigger, reason := decide(definitionOf(crd), underWay)
	if trigger != migration.Begin {
		return
	}
	generation := strconv.FormatInt(m.states.read(name).Generation+1, 10)
	svm := &storagemigrationv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name + "." + generation,
			Annotations: map[string]string{migration.GenerationAnnotation: generation, migration.ReasonAnnotation: reason},
		},
		Spec: storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: target.Group, Resource: target.Resource}},
	}
	_, err = client.Create(ctx, svm, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		if ctx.Err() == nil {
			m.options.Logger.Error(err, "Cannot create a migration, trying again", "migration", svm.Name)
		}
		return
	}
	m.states.change(name, func(s migration.State) migration.State { return s.Asked(reason) })
	m.options.Logger.Info("Created a migration", "migration", svm.Name, "reason", reason)
}

// advance does what the migration whose turn it is needs next.
func (m *Migrator) advance(ctx context.Context, view view, svm *storagemigrationv1.StorageVersionMigration) {
	busy, putOff := m.crew.busy()
	if busy == svm.UID && !putOff {
		return // Its worker looks after it.
	}
	resource := migration.ResourceOf(svm)
	name := storageversion.Name(resource.Group, resource.Resource)
	facts := migration.Facts{Definition: view.definition(resource)}
	facts.Target, facts.Found, facts.Certain = m.targets.Find(resource)
	if sv, err := view.versions.Get(name); err == nil {
		facts.StorageVersion = sv
	}
	next := migration.Assess(svm, facts, m.options.Clock.Now())
	if next.Step == migration.Wait && next.Reason == migration.ReasonAwaitingAgreement && m.options.Defects.Has(defects.SVM20IgnoresDisagreement) {
		next.Step = migration.Run // defect: SVM-20-ignores-disagreement
	}
	attempt, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	switch {
	case next.Step == migration.Fail && m.failsLater(svm, next.Reason):
	case m.waitsForTurn(svm):
	case next.Step == migration.Fail:
		outcome := storagemigrationv1.MigrationFailed
		switch {
		case next.Reason == migration.ReasonNotFound && m.options.Defects.Has(defects.SVM18UnknownSucceeds):
			outcome = storagemigrationv1.MigrationSucceeded // defect: SVM-18-unknown-succeeds
		case next.Reason == migration.ReasonNotMigratable && m.options.Defects.Has(defects.SVM19HopelessSucceeds):
			outcome = storagemigrationv1.MigrationSucceeded // defect: SVM-19-hopeless-succeeds
		}
		m.finish(attempt, svm, name, migration.Verdict{Outcome: outcome, Reason: next.Reason, Message: next.Message})
	case busy == svm.UID: // Its worker tries again.
	case next.Step == migration.Skip:
		if m.current(attempt, svm) {
			m.states.change(name, func(s migration.State) migration.State {
				generation, s := numbered(svm, s)
				return s.Completed(generation, next.Basis)
			})
			m.finish(attempt, svm, name, migration.Verdict{Outcome: storagemigrationv1.MigrationSucceeded, Reason: next.Reason, Message: next.Message})
		}
	case next.Step == migration.Wait:
		m.tell(attempt, svm, next.Reason, next.Message)
	case busy != "":
		// KEP-25: there is one worker at a time, to avoid overloading the servers.
		m.tell(attempt, svm, migration.ReasonQueued, "Another resource is being migrated.")
	default:
		m.crew.launch(ctx, assignment{svm: svm, name: name, target: facts.Target}, view)
	}
}

// current reports whether a migration that the view shows is still without an
// outcome.
func (m *Migrator) current(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration) bool {
	live, err := m.clients.migrations.Get(ctx, svm.Name, metav1.GetOptions{})
	return err == nil && live.UID == svm.UID && !migration.Finished(live)
}

// numbered returns the number of a migration: the one with which it was created, or
// the next one.
func numbered(svm *storagemigrationv1.StorageVersionMigration, state migration.State) (int64, migration.State) {
	if generation, err := strconv.ParseInt(svm.Annotations[migration.GenerationAnnotation], 10, 64); err == nil && generation > 0 {
		return generation, state
	}
	state = state.Asked(fmt.Sprintf("migration %s was created", svm.Name))
	return state.Generation, state
}

// tell writes to the status why a migration waits. It does not write the same status
// again.
func (m *Migrator) tell(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, reason, message string) {
	for i := range svm.Status.Conditions {
		if c := &svm.Status.Conditions[i]; c.Type == string(storagemigrationv1.MigrationRunning) && c.Status == metav1.ConditionFalse && c.Reason == reason && c.Message == message {
			return
		}
	}
	if migration.Started(svm) {
		return // The worker that resumes it says how it goes.
	}
	next := svm.DeepCopy()
	next.Status = migration.Waiting(svm, reason, message, m.options.Clock.Now())
	_, err := m.clients.migrations.UpdateStatus(ctx, next, metav1.UpdateOptions{})
	// A conflict or an absence will be seen by the watch.
	if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		m.options.Logger.Error(err, "Cannot write why a migration waits", "migration", svm.Name)
	}
}

// finish writes the outcome of a migration, and retries until it succeeds or the context
// ends. It writes the state of the resource first, so that a client that reads the outcome
// does not find the resource still in need of a migration.
func (m *Migrator) finish(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, name string, v migration.Verdict) {
	if v.Outcome == storagemigrationv1.MigrationFailed {
		m.states.stopped(name, m.options.Clock.Now())
	}
	ours := false
	client := m.clients.migrations
	recorded := m.persist(ctx, "record the outcome of a migration", func(ctx context.Context) error {
		ours = false
		live, err := client.Get(ctx, svm.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		case live.UID != svm.UID || migration.Finished(live):
			return nil
		}
		live.Status = migration.Ended(live, v.Outcome, v.Reason, v.Message, m.options.Clock.Now())
		if _, err := client.UpdateStatus(ctx, live, metav1.UpdateOptions{}); err != nil {
			return err
		}
		ours = true
		return nil
	})
	if recorded {
		m.crew.dismiss(ctx, svm.UID)
	}
	if !ours {
		return
	}
	migrationsDone.WithLabelValues(svm.Spec.Resource.Group, svm.Spec.Resource.Resource, v.Reason).Inc()
	m.options.Logger.Info("A migration has ended", "migration", svm.Name, "outcome", v.Outcome, "reason", v.Reason, "message", v.Message)
}
