package controllermanager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/election/fence"
	"github.com/evenkeel/evenkeel/impl/election/steady"
	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/migrator"
)

const (
	// LeaseNamespace is the namespace of the Lease that names the leader.
	LeaseNamespace = metav1.NamespaceSystem
	// LeaseName is the name of that Lease. Kubernetes uses the same, so that a client that
	// looks for the leader finds it.
	LeaseName = "kube-controller-manager"

	// LockLeases is the kind of lock in which the first controller manager that claims the
	// Lease leads. The name is that of KEP-4355.
	LockLeases = "leases"
	// LockCoordinated is the kind of lock in which a coordinator elects the leader. The name
	// is that of KEP-4355.
	LockCoordinated = "coordinatedleases"
)

// Options are what a controller manager needs to know.
type Options struct {
	// Config leads to the API server. If it is nil, Kubeconfig does.
	Config *rest.Config
	// Kubeconfig is a file.
	Kubeconfig string
	// Identity names this process among the candidates for leadership, and Host the
	// machine, with which other identities of the process begin.
	Identity, Host string
	// ResourceLock is how the leader is elected, LockLeases or LockCoordinated; empty
	// is LockLeases. Where CanCoordinate is not set it is always that.
	ResourceLock  string
	CanCoordinate bool
	// LeaseDuration, RenewDeadline and RetryPeriod default to the constants of
	// these names.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// KeepLease leaves the Lease of a leader that ends to expire, as kube-controller-manager
	// does without KEP-5366. Otherwise the leader releases it.
	KeepLease bool
	// Release is the release that the process plays; it is part of the user agent.
	Release string
	// Emulates is the release whose behavior the process has; empty means Release.
	Emulates string
	// Defects are the bugs planted on purpose.
	Defects defects.Set
	// MigrationRate is the most objects that are rewritten in a second; it defaults
	// to migration.DefaultRate.
	MigrationRate float64
	// Migrator has this process do nothing but migrate, as a workload of the control
	// plane that it migrates; nil has it do everything in its own process.
	Migrator *Migrator
	// AutomaticMigration is whether resources are migrated without being asked.
	AutomaticMigration bool
	// ExtraElections is how many components beside its controllers the process is an
	// instance of where a coordinator elects; 0 is DefaultExtraElections.
	ExtraElections int
	// Evidence is whether a leader that no coordinator elects leaves evidence of acting,
	// as one does that a coordinator elects.
	Evidence bool
	// Clock defaults to the real one. Leader election, which is client-go's, does
	// not go by it.
	Clock clock.WithTicker
	// Logger defaults to klog's.
	Logger *klog.Logger
}

// Migrator is a migrator that runs as a workload.
type Migrator struct {
	// Namespace has the Lease by which its leader is elected, what is remembered, and
	// the Jobs of workers.
	Namespace string
	Jobs      migrator.Jobs
	// Startup has it create migrations when it begins to lead, and Owner names the
	// ClusterRole that owns the migrations which it creates.
	Startup bool
	Owner   string
}

// MigratorLeaseName is the Lease of a Migrator.
const MigratorLeaseName = "storage-migration-controller"

func (o *Options) complete() error {
	if o.Identity == "" {
		return errors.New("an identity is needed")
	}
	if o.Config == nil {
		config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
		if err != nil {
			return fmt.Errorf("reading the kubeconfig: %w", err)
		}
		o.Config = config
	}
	switch o.ResourceLock {
	case "":
		o.ResourceLock = LockLeases
	case LockLeases, LockCoordinated:
	default:
		return fmt.Errorf("unknown resource lock %q; use %s or %s", o.ResourceLock, LockLeases, LockCoordinated)
	}
	if o.LeaseDuration == 0 {
		o.LeaseDuration = DefaultLeaseDuration
	}
	if o.RenewDeadline == 0 {
		o.RenewDeadline = DefaultRenewDeadline
	}
	if o.RetryPeriod == 0 {
		o.RetryPeriod = DefaultRetryPeriod
	}
	if o.ExtraElections < 0 {
		return fmt.Errorf("the number of extra elections is %d and must not be negative", o.ExtraElections)
	}
	if o.ExtraElections == 0 {
		o.ExtraElections = DefaultExtraElections
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Logger == nil {
		logger := klog.Background().WithName("controller-manager")
		o.Logger = &logger
	}
	return nil
}

// ControllerManager competes for leadership, and collects and migrates while it
// leads.
type ControllerManager struct {
	options Options
	// client is for the work, lockClient for leadership: a queue of work must not
	// hold up a renewal.
	client, lockClient kubernetes.Interface
	health             *health
	// migrate carries out migrations until the context ends; nil does not.
	migrate func(ctx context.Context, leading func() error) error
	// led is whether it ever led.
	led atomic.Bool
}

// New returns a controller manager; Run makes it work.
func New(options Options) (*ControllerManager, error) {
	if err := options.complete(); err != nil {
		return nil, fmt.Errorf("controller manager: %w", err)
	}
	config := rest.CopyConfig(options.Config)
	if config.UserAgent == "" {
		config.UserAgent = "refplane-controller-manager/" + options.Release
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("controller manager: %w", err)
	}
	// A request for leadership that hangs must leave time for another one.
	lockConfig := rest.CopyConfig(config)
	lockConfig.Timeout = options.RenewDeadline / 2
	lockClient, err := kubernetes.NewForConfig(lockConfig)
	if err != nil {
		return nil, fmt.Errorf("controller manager: %w", err)
	}
	m := newFor(options, client, lockClient)
	if options.MigrationRate == 0 {
		options.MigrationRate = migration.DefaultRate
	}
	if err := migrator.ValidateRate(options.MigrationRate); err != nil {
		return nil, fmt.Errorf("controller manager: %w", err)
	}
	work := migrator.Options{
		Config: config, Rate: options.MigrationRate, Automatic: options.AutomaticMigration, Clock: options.Clock, Defects: options.Defects,
	}
	if options.Migrator != nil {
		work.Namespace, work.Jobs = options.Migrator.Namespace, &options.Migrator.Jobs
		work.Startup, work.Owner = options.Migrator.Startup, options.Migrator.Owner
	}
	m.migrate = func(ctx context.Context, leading func() error) error { return migrator.Run(ctx, work, leading) }
	if _, _, err := m.elector(leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}}); err != nil {
		return nil, fmt.Errorf("controller manager: %w", err)
	}
	return m, nil
}

func newFor(options Options, client, lockClient kubernetes.Interface) *ControllerManager {
	return &ControllerManager{
		options:    options,
		client:     client,
		lockClient: lockClient,
		health:     &health{},
	}
}

// Run makes a controller manager and runs it until the context ends.
func Run(ctx context.Context, options Options) error {
	m, err := New(options)
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

// Run competes for leadership, and leads, until the context ends. Losing the
// leadership makes it a candidate again, in the same process.
func (m *ControllerManager) Run(ctx context.Context) error { return m.endByItself(ctx) }

func (m *ControllerManager) run(ctx context.Context) error {
	if m.coordinated() {
		return m.runCoordinated(ctx)
	}
	for ctx.Err() == nil {
		if err := m.lead(ctx); err != nil {
			return fmt.Errorf("controller manager: %w", err)
		}
	}
	return nil
}

// lead is one candidacy, from competing to the end of leadership.
func (m *ControllerManager) lead(ctx context.Context) error {
	// The election outlives the context until the collector has ended, so that
	// the Lease is not released while work is still being done under it.
	election, quit := context.WithCancel(context.WithoutCancel(ctx))
	defer quit()
	var elector *leaderelection.LeaderElector
	var lock *fence.Lock
	started, ended := make(chan struct{}), make(chan struct{})
	elector, lock, err := m.elector(leaderelection.LeaderCallbacks{
		OnStartedLeading: func(leading context.Context) {
			defer close(ended)
			close(started)
			m.options.Logger.Info("Leading", "identity", m.options.Identity)
			leading, stop := context.WithCancel(leading)
			defer stop()
			defer context.AfterFunc(ctx, stop)()
			var doing sync.WaitGroup
			if m.options.Evidence {
				doing.Go(func() { m.act(leading, elector, lock) })
			}
			m.work(leading, lock.Leading)
			doing.Wait()
		},
		OnStoppedLeading: func() {
			m.options.Logger.Info("Not leading any more", "identity", m.options.Identity)
		},
	})
	if err != nil {
		return err
	}
	m.health.watchLock(lock, m.options.LeaseDuration)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-started:
			<-ended
		default:
		}
		quit()
	})()
	elector.Run(election)
	select {
	case <-started:
		<-ended
	default:
	}
	return nil
}

// work does what a leader does until the context ends; then nothing of it is
// left.
func (m *ControllerManager) work(ctx context.Context, leading func() error) {
	m.led.Store(true)
	var controllers sync.WaitGroup
	if m.options.Migrator == nil {
		controllers.Go(func() { collect(ctx, m.client, m.options, leading) })
	}
	if m.migrate != nil {
		controllers.Go(func() {
			if err := m.migrate(ctx, leading); err != nil && ctx.Err() == nil {
				m.options.Logger.Error(err, "Migration does not run")
			}
		})
	}
	controllers.Wait()
}

func (m *ControllerManager) elector(callbacks leaderelection.LeaderCallbacks) (*leaderelection.LeaderElector, *fence.Lock, error) {
	lease := metav1.ObjectMeta{Namespace: LeaseNamespace, Name: m.leaseOf(LeaseName)}
	if m.options.Migrator != nil {
		lease = metav1.ObjectMeta{Namespace: m.options.Migrator.Namespace, Name: MigratorLeaseName}
	}
	lock := &fence.Lock{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  lease,
			Client:     m.lockClient.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: m.options.Identity},
		},
		Deadline: m.options.RenewDeadline, Clock: steady.Boot,
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name:            lease.Name,
		Lock:            lock,
		LeaseDuration:   m.options.LeaseDuration,
		RenewDeadline:   m.options.RenewDeadline,
		RetryPeriod:     m.options.RetryPeriod,
		Callbacks:       callbacks,
		ReleaseOnCancel: !m.options.KeepLease,
	})
	return elector, lock, err
}

// Healthz serves /healthz, /livez and /readyz, which fail when this process works as the
// leader by a Lease that it has not been able to renew for too long, with coordination as without. It also serves /metrics,
// which contains numbers and names of resources, and no data of objects.
func (m *ControllerManager) Healthz() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		healthz.InstallPathHandler(mux, path, healthz.PingHealthz, m.health)
	}
	mux.Handle("/metrics", legacyregistry.Handler())
	return mux
}
