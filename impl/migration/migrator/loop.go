package migrator

import (
	"context"
	"fmt"
	"strconv"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"github.com/evenkeel/evenkeel/impl/follow"
	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// view is the state by which the loop decides. It may be old; a worker reads from the
// API server everything on which the correctness of an outcome depends.
type view struct {
	versions    *follow.Follower[*apiserverinternalv1alpha1.StorageVersion]
	migrations  *follow.Follower[*storagemigrationv1.StorageVersionMigration]
	definitions *follow.Follower[*apiextensionsv1.CustomResourceDefinition]
	synced      []cache.InformerSynced
}

// definition of a resource, nil if it is no custom one.
func (v view) definition(resource schema.GroupResource) *migration.Definition {
	if crd := v.definitions.Get("", resource.String()); crd != nil {
		return definitionOf(crd)
	}
	return nil
}

// announced is the StorageVersion of a resource, nil if no server has announced it, and its
// name. Of resources that share their storage, one has it.
func (v view) announced(resource schema.GroupResource, sharing []schema.GroupResource) (string, *apiserverinternalv1alpha1.StorageVersion) {
	own := storageversion.Name(resource.Group, resource.Resource)
	if sv := v.versions.Get("", own); sv != nil {
		return own, sv
	}
	for _, other := range sharing {
		name := storageversion.Name(other.Group, other.Resource)
		if sv := v.versions.Get("", name); sv != nil {
			return name, sv
		}
	}
	return own, nil
}

// pass does once whatever there is to do.
func (m *Migrator) pass(ctx context.Context, view view) {
	m.flush(ctx)
	if err := m.crew.look(ctx, view); err != nil {
		if ctx.Err() == nil {
			m.options.Logger.Error(err, "Cannot read the state of the worker, trying again")
		}
		return
	}
	all := view.migrations.All()
	busy := m.crew.busy()
	m.mark(ctx, view, all)
	m.trigger(ctx, view, all)
	heads := m.inTurn(ctx, all, m.decide.heads(all))
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
		if busy != "" && m.crew.busy() == "" {
			// The worker has left since the migrations were ordered: it may be another one's
			// turn.
			m.wake()
			return
		}
		m.advance(ctx, view, head)
	}
}

// flush writes down what is remembered of resources, for FlushTime at most: a control plane
// may have thousands of them, and a migration has its turn meanwhile.
func (m *Migrator) flush(ctx context.Context) {
	began := m.options.Clock.Now()
	if m.states.flush(ctx, func() bool { return m.options.Clock.Since(began) >= FlushTime }) {
		m.wake()
	}
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
		sv := view.versions.Get("", name)
		group, resource, ok := storageversion.ParseName(name)
		if sv == nil || !ok || ctx.Err() != nil {
			continue
		}
		target := schema.GroupResource{Group: group, Resource: resource}
		decide := func(sv *apiserverinternalv1alpha1.StorageVersion, definition *migration.Definition, underWay bool) (migration.Trigger, string) {
			return migration.Decide(m.states.read(name), sv, definition, underWay, m.options.Clock.Now())
		}
		switch trigger, reason := decide(sv, view.definition(target), underWay.Has(target)); m.decide.due(name, trigger) {
		case migration.ShortCircuit:
			m.shortCircuit(ctx, name, target, reason, decide)
		case migration.Begin:
			if m.options.Automatic {
				m.request(ctx, sv, target, decide)
			}
		case migration.Nothing, migration.Await:
		}
	}
	m.flush(ctx)
}

// decide is migration.Decide for one resource.
type decide = func(sv *apiserverinternalv1alpha1.StorageVersion, definition *migration.Definition, underWay bool) (migration.Trigger, string)

// shortCircuit records that a resource needs no migration. The view may be old, so what
// that follows from is read from the API server.
//
// KEP-25: the generations are updated directly, without launching a worker.
func (m *Migrator) shortCircuit(ctx context.Context, name string, target schema.GroupResource, reason string, decide decide) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	crd, err := m.clients.crd(ctx, target)
	var sv *apiserverinternalv1alpha1.StorageVersion
	if err == nil {
		sv, err = m.clients.storageVersion(ctx, name)
	}
	if err != nil {
		if ctx.Err() == nil {
			m.options.Logger.Error(err, "Cannot determine whether a resource has one version, trying again", "resource", target)
		}
		return
	}
	if trigger, _ := decide(sv, definitionOf(crd), false); trigger != migration.ShortCircuit {
		return
	}
	basis, _ := migration.BasisOf(sv)
	m.states.change(name, func(s migration.State) migration.State {
		s = s.Asked(reason)
		return s.Completed(s.Generation, basis)
	})
}

// request creates a migration if it is due by what the API server has.
func (m *Migrator) request(ctx context.Context, sv *apiserverinternalv1alpha1.StorageVersion, target schema.GroupResource, decide decide) {
	name := sv.Name
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
	trigger, reason := decide(sv, definitionOf(crd), underWay)
	if trigger != migration.Begin {
		return
	}
	owner, err := m.owner(ctx)
	if err == nil {
		err = m.create(ctx, name, target, reason, owner)
	}
	if err != nil && ctx.Err() == nil {
		m.options.Logger.Error(err, "Cannot create a migration, trying again", "resource", target)
	}
}

// advance does what the migration whose turn it is needs next.
func (m *Migrator) advance(ctx context.Context, view view, svm *storagemigrationv1.StorageVersionMigration) {
	busy, stuck := m.crew.busy(), m.crew.stuck()
	if busy == svm.UID && stuck == nil {
		return // Its worker looks after it.
	}
	resource := migration.ResourceOf(svm)
	facts := migration.Facts{Definition: view.definition(resource)}
	facts.Target, facts.Found, facts.Certain = m.targets.Find(resource)
	name, sv := view.announced(resource, m.targets.Sharing(resource))
	facts.StorageVersion = sv
	next := m.decide.assess(svm, facts, m.options.Clock.Now())
	attempt, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	switch {
	case next.Step == migration.Fail:
		m.finish(attempt, svm, name, m.decide.outcome(attempt, migration.Verdict{Outcome: storagemigrationv1.MigrationFailed, Reason: next.Reason, Message: next.Message}))
	case busy == svm.UID:
		m.tell(attempt, svm, migration.ReasonRetrying, fmt.Sprintf("There is no progress, trying again: %v.", stuck))
	case next.Step == migration.Skip:
		m.skip(attempt, svm, name, facts)
	case next.Step == migration.Wait:
		m.tell(attempt, svm, next.Reason, next.Message)
	case m.decide.busy(svm.UID, busy):
		// KEP-25: there is one worker at a time, to avoid overloading the servers.
		m.tell(attempt, svm, migration.ReasonQueued, "Another resource is being migrated.")
		if !m.decide.givesWay(stuck) {
			return
		}
		if err := m.crew.giveWay(attempt); err != nil && ctx.Err() == nil {
			m.options.Logger.Error(err, "Cannot end a worker that makes no progress, trying again", "uid", busy)
		}
	default:
		m.crew.launch(ctx, assignment{svm: svm, name: name, target: facts.Target}, view)
	}
}

// skip ends a migration that has nothing to rewrite. The view may be old, so what the
// success follows from is read from the API server.
//
// KEP-25: the migration of a resource that has only one version is short-circuited.
func (m *Migrator) skip(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, name string, facts migration.Facts) {
	basis, ok, err := m.singleVersion(ctx, svm, name, facts)
	if err != nil {
		if ctx.Err() == nil {
			m.options.Logger.Error(err, "Cannot determine whether a migration has anything to rewrite, trying again", "migration", svm.Name)
		}
		return
	}
	if !ok || !m.current(ctx, svm) {
		return
	}
	m.states.change(name, func(s migration.State) migration.State {
		generation, s := numbered(svm, s)
		return s.Completed(generation, basis.Basis)
	})
	m.finish(ctx, svm, name, migration.Verdict{Outcome: storagemigrationv1.MigrationSucceeded, Reason: basis.Reason, Message: basis.Message})
}

// singleVersion assesses a migration by what the API server has now.
func (m *Migrator) singleVersion(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, name string, facts migration.Facts) (migration.Assessment, bool, error) {
	crd, err := m.clients.crd(ctx, migration.ResourceOf(svm))
	if err != nil {
		return migration.Assessment{}, false, err
	}
	if facts.StorageVersion, err = m.clients.storageVersion(ctx, name); err != nil {
		return migration.Assessment{}, false, err
	}
	facts.Definition = definitionOf(crd)
	next := m.decide.assess(svm, facts, m.options.Clock.Now())
	return next, next.Step == migration.Skip, nil
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

// tell writes to the status why a migration waits, or makes no progress. It does not write
// the same status again.
func (m *Migrator) tell(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, reason, message string) {
	next := svm.DeepCopy()
	if migration.Started(svm) {
		if reason != migration.ReasonRetrying {
			return // The worker that resumes it reports its progress.
		}
		next.Status = migration.Running(svm, "", message, m.options.Clock.Now())
	} else {
		next.Status = migration.Waiting(svm, reason, message, m.options.Clock.Now())
	}
	if apiequality.Semantic.DeepEqual(next.Status, svm.Status) {
		return
	}
	_, err := m.clients.migrations.UpdateStatus(ctx, next, metav1.UpdateOptions{})
	// A conflict or an absence will be seen by the watch.
	if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		m.options.Logger.Error(err, "Cannot write why a migration waits", "migration", svm.Name)
	}
}

// finish writes the outcome of a migration, and retries for migration.GiveWay. An outcome
// that cannot be written is found again, by the checkpoint, when the migration has its
// next turn. It writes the state of the resource first, so that a client that reads the outcome
// does not find the resource still in need of a migration.
func (m *Migrator) finish(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, name string, v migration.Verdict) {
	if v.Outcome == storagemigrationv1.MigrationFailed {
		m.states.stopped(name, m.options.Clock.Now())
	}
	ours := false
	client := m.clients.migrations
	recorded := m.persist(ctx, migration.GiveWay, "record the outcome of a migration", func(ctx context.Context) error {
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
