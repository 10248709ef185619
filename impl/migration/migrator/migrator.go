package migrator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	batchv1 "k8s.io/api/batch/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/follow"
	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/workload"
)

// Options are what a Migrator needs to know.
type Options struct {
	// Config leads to the API server.
	Config *rest.Config
	// Rate is the most single-object writes a second; it defaults to
	// migration.DefaultRate.
	Rate float64
	// ChunkSize is how many objects are listed at a time; it defaults to what
	// migration.ChunkSize gives for the rate.
	ChunkSize int64
	// Namespace holds what is remembered; it defaults to migration.RecordNamespace.
	Namespace string
	// Jobs makes each worker a Job in the namespace. If it is nil, the worker is part
	// of this process.
	Jobs *Jobs
	// Automatic is whether the controller creates a migration when the agreed version
	// differs from the persisted versions.
	Automatic bool
	// Startup is whether the controller creates, when it begins to lead, a migration of each
	// resource that is no custom one and has none of Owner yet.
	Startup bool
	// Owner names the ClusterRole that owns the migrations which the controller creates, so
	// that they are deleted with it; empty if nothing owns them.
	Owner string
	// Defects are the bugs planted on purpose.
	Defects defects.Set
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Logger defaults to klog's.
	Logger *klog.Logger
}

// ValidateRate says what is wrong with a rate, if anything.
func ValidateRate(rate float64) error {
	// Written so that it also holds for what is not a number.
	if !(rate >= migration.LeastRate) {
		return fmt.Errorf("a rate of %v migrated objects a second makes no progress: it must be %v at least", rate, migration.LeastRate)
	}
	return nil
}

func (o *Options) complete() error {
	if o.Rate == 0 {
		o.Rate = migration.DefaultRate
	}
	if err := ValidateRate(o.Rate); err != nil {
		return err
	}
	if o.ChunkSize == 0 {
		o.ChunkSize = migration.ChunkSize(o.Rate)
	}
	if o.Namespace == "" {
		o.Namespace = migration.RecordNamespace
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Logger == nil {
		logger := klog.Background().WithName("storage-migration")
		o.Logger = &logger
	}
	return nil
}

// Why a worker is stopped.
var (
	errAgreementLost = errors.New("the agreement is lost")
	errDeleted       = errors.New("the migration was deleted")
)

// Migrator is one leadership's worth of migrating.
type Migrator struct {
	options Options
	clients clients
	states  *states
	crew    crew
	// poke wakes the loop.
	poke chan struct{}

	// targets were discovered at targetsAt; only the loop uses them.
	targets   migration.Targets
	targetsAt time.Time

	decide decisions
	// begins is for what a planted defect puts off.
	begins begins

	mu sync.Mutex
	// active is the worker in this process, nil if there is none.
	active *worker
	// turns are the migrations that gave way to others.
	turns turns
}

// Run migrates until the context ends; then nothing of it is left. leading says
// why nothing may be written, if so.
func Run(ctx context.Context, options Options, leading func() error) error {
	if err := options.complete(); err != nil {
		return fmt.Errorf("storage migration: %w", err)
	}
	options.Rate = plantRate(options.Rate, options.Defects)
	clients, err := newClients(options.Config, newPacer(options.Rate, options.Clock), leading, options.Defects)
	if err != nil {
		return fmt.Errorf("storage migration: %w", err)
	}
	newMigrator(options, clients).run(ctx)
	return nil
}

func newMigrator(options Options, clients clients) *Migrator {
	registerMetrics()
	m := &Migrator{
		options: options, clients: clients,
		states: newStates(clients.Interface, options.Namespace, *options.Logger),
		poke:   make(chan struct{}, 1),
		decide: sound(), turns: turns{},
	}
	m.plant()
	m.crew = &inProcess{m: m}
	if options.Jobs != nil {
		m.crew = newJobCrew(m, *options.Jobs)
	}
	return m
}

func (m *Migrator) run(ctx context.Context) {
	// Load the stored states before the first observation, to detect a gap between them.
	// The next leader tries again if they cannot be read.
	if !m.persist(ctx, migration.OutagePatience, "read storage states", m.states.load) {
		return
	}
	view, stop := m.watch(ctx)
	defer stop()
	if !cache.WaitForCacheSync(ctx.Done(), view.synced...) {
		return
	}
	m.dropOrphans(ctx, view)
	if m.options.Startup && !m.persist(ctx, migration.OutagePatience, "create the migrations of the start", m.startUp) {
		return
	}

	defer m.crew.wait()
	for {
		m.pass(ctx, view)
		timer := m.options.Clock.NewTimer(Recheck)
		select {
		case <-m.poke:
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// watch follows what the loop decides by.
func (m *Migrator) watch(ctx context.Context) (view, func()) {
	versions := m.followVersions(nil)
	migrations := m.followMigrations(nil)
	definitions := follow.New(m.clients.extensions, m.clients.extensions.ApiextensionsV1().CustomResourceDefinitions(), nil,
		func(_, _ *apiextensionsv1.CustomResourceDefinition) { m.wake() })
	v := view{
		versions: versions, migrations: migrations, definitions: definitions,
		synced: []cache.InformerSynced{versions.HasListed, migrations.HasListed, definitions.HasListed},
	}
	all := []func(context.Context){versions.Run, migrations.Run, definitions.Run}
	if m.options.Jobs != nil {
		all = append(all, follow.New(m.clients.Interface, m.clients.BatchV1().Jobs(m.options.Namespace), follow.Labeled(workload.WorkerSelector),
			func(_, _ *batchv1.Job) { m.wake() }).Run)
	}
	return v, together(ctx, all...)
}

// together runs all until stop is called, which waits for them to end.
func together(ctx context.Context, all ...func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, run := range all {
		running.Go(func() { run(ctx) })
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// followVersions takes in what is seen of storage versions. A worker of this process is stopped as
// soon as its agreement is seen to be lost.
//
// KEP-2339: as an optimization the migrator aborts when it sees the change.
func (m *Migrator) followVersions(narrow func(*metav1.ListOptions)) *follow.Follower[*apiserverinternalv1alpha1.StorageVersion] {
	return follow.New(m.clients.Interface, m.clients.InternalV1alpha1().StorageVersions(), narrow, func(before, sv *apiserverinternalv1alpha1.StorageVersion) {
		if sv != nil {
			m.states.observe(sv)
			m.stopIf(errAgreementLost, func(w *worker) bool {
				basis := w.basis()
				return w.name == sv.Name && basis.Precedes(sv) && basis.Check(sv) == migration.Lost
			})
		} else {
			m.states.forget(before.Name)
			m.stopIf(errAgreementLost, func(w *worker) bool { return w.name == before.Name && w.basis().UID == before.UID })
		}
		m.wake()
	})
}

// followMigrations stops a worker of this process as soon as its migration is seen to be deleted.
func (m *Migrator) followMigrations(narrow func(*metav1.ListOptions)) *follow.Follower[*storagemigrationv1.StorageVersionMigration] {
	return follow.New(m.clients.Interface, m.clients.migrations, narrow, func(before, svm *storagemigrationv1.StorageVersionMigration) {
		if svm == nil {
			m.stopIf(errDeleted, func(w *worker) bool { return w.uid == before.UID })
		}
		m.wake()
	})
}

// stopIf stops the worker if there is one that is concerned.
func (m *Migrator) stopIf(cause error, concerned func(*worker) bool) {
	m.mu.Lock()
	w := m.active
	m.mu.Unlock()
	if w != nil && concerned(w) {
		m.decide.stops(cause, func() { w.stop(cause) })
	}
}

func (m *Migrator) wake() {
	select {
	case m.poke <- struct{}{}:
	default:
	}
}

// sleep pauses, and reports whether it was for the whole time.
func (m *Migrator) sleep(ctx context.Context, d time.Duration) bool {
	timer := m.options.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}

// persist tries until f succeeds, the context ends, or the patience is over; it is false in
// the latter cases. The metric storage_migration_retrying_seconds shows for how long it has
// tried.
func (m *Migrator) persist(ctx context.Context, patience time.Duration, what string, f func(context.Context) error) bool {
	began := m.options.Clock.Now()
	defer retrying.DeleteLabelValues(what)
	for failed := 1; ; failed++ {
		attempt, cancel := context.WithTimeout(ctx, RequestTimeout)
		err := f(attempt)
		cancel()
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		m.options.Logger.Error(err, "Cannot "+what+", trying again")
		tried := m.options.Clock.Since(began)
		if tried >= patience {
			return false
		}
		retrying.WithLabelValues(what).Set(tried.Seconds())
		_, asked := migration.Classify(err, schema.GroupResource{}, "")
		if !m.sleep(ctx, migration.Retry(failed, asked)) {
			return false
		}
	}
}
