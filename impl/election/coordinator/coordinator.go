package coordinator

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/election"
	"github.com/evenkeel/evenkeel/impl/election/fence"
	"github.com/evenkeel/evenkeel/impl/election/steady"
)

// Options are what a coordinator needs to know.
type Options struct {
	// Config leads to the API server that the coordinator is part of.
	Config *rest.Config
	// Identity names this coordinator among the others.
	Identity string
	// Clock defaults to the real one. The election of the coordinator, which is
	// client-go's, does not go by it.
	Clock clock.WithTicker
	Hooks
	// Logger defaults to klog's.
	Logger *klog.Logger
}

// Hooks are what a harness plants defects by; what is not set is as it should be.
type Hooks struct {
	// Decide decides about a Lease, and Apply gives what is written.
	Decide election.Decider
	Apply  election.Applier
	// LeaseDuration of the coordinators' Lease.
	LeaseDuration time.Duration
	// Failed is called after a request failed, before it is tried again.
	Failed func(ctx context.Context, err error)
	// Deposed is called when this coordinator has lost the coordinators' Lease.
	Deposed func()
}

func (o *Options) complete() {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Logger == nil {
		logger := klog.Background().WithName("coordinator")
		o.Logger = &logger
	}
	if o.Decide == nil {
		o.Decide = election.Decide
	}
	if o.Apply == nil {
		o.Apply = election.Apply
	}
	if o.LeaseDuration == 0 {
		o.LeaseDuration = LeaseDuration
	}
	if o.Failed == nil {
		o.Failed = func(context.Context, error) {}
	}
	if o.Deposed == nil {
		o.Deposed = func() {}
	}
}

// Run competes for the coordinators' Lease, and coordinates while it has it, until
// the context ends. Losing it makes the coordinator compete again.
//
// KEP-4355: the coordinator has a Lease of its own, stops when that has expired,
// and can be started again, for the API server must not end.
func Run(ctx context.Context, o Options) error {
	o.complete()
	config := rest.CopyConfig(o.Config)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	lockConfig := rest.CopyConfig(config)
	lockConfig.Timeout = RenewDeadline / 2
	lockClient, err := kubernetes.NewForConfig(lockConfig)
	if err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	for ctx.Err() == nil {
		if err := compete(ctx, client, lockClient, o); err != nil {
			return fmt.Errorf("coordinator: %w", err)
		}
	}
	return nil
}

// Coordinate coordinates until the context ends, while leading has no objection: a Run
// without the competition for the coordinators' Lease.
func Coordinate(ctx context.Context, o Options, leading func() error) error {
	o.complete()
	config := rest.CopyConfig(o.Config)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	newShift(client, o, leading).run(ctx)
	return nil
}

// compete is one candidacy, from competing to the end of the leadership.
func compete(ctx context.Context, client, lockClient kubernetes.Interface, o Options) error {
	// The election outlives the context until the shift has ended, so that the Lease
	// is not released while writes are under way.
	lock, quit := context.WithCancel(context.WithoutCancel(ctx))
	defer quit()
	started, ended := make(chan struct{}), make(chan struct{})
	fenced := &fence.Lock{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: election.CoordinatorNamespace, Name: election.CoordinatorLease},
			Client:     lockClient.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: o.Identity},
		},
		Deadline: RenewDeadline, Clock: steady.Boot,
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name:          election.CoordinatorLease,
		Lock:          fenced,
		LeaseDuration: o.LeaseDuration, RenewDeadline: RenewDeadline, RetryPeriod: RetryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				defer close(ended)
				close(started)
				o.Logger.Info("Coordinating", "identity", o.Identity)
				leading, stop := context.WithCancel(leading)
				defer stop()
				defer context.AfterFunc(ctx, stop)()
				newShift(client, o, fenced.Leading).run(leading)
			},
			OnStoppedLeading: func() {
				o.Logger.Info("Not coordinating", "identity", o.Identity)
			},
		},
	})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		select {
		case <-started:
			<-ended
		default:
		}
		quit()
	})()
	elector.Run(lock)
	select {
	case <-started:
		<-ended
		if ctx.Err() == nil {
			o.Deposed()
		}
	default:
	}
	return nil
}

// seen is what this coordinator remembers of a Lease.
type seen struct {
	version string
	since   time.Time
	round   election.Round
	// wrote is the version that this coordinator has written last, and until is the time
	// until which it waits for the watch event of that version.
	wrote string
	until time.Time
}

// behind is whether the known Lease is older than the coordinator's last write. A
// decision on the old Lease would repeat that write.
func (s *seen) behind(version string, now time.Time) bool {
	if s.wrote == "" || !now.Before(s.until) {
		return false
	}
	left, leftErr := strconv.ParseUint(version, 10, 64)
	right, rightErr := strconv.ParseUint(s.wrote, 10, 64)
	return rightErr == nil && (leftErr != nil || left < right)
}

// memory of the Leases that have candidates, by namespace and name.
type memory struct {
	mu     sync.Mutex
	leases map[string]*seen
}

// of gives what is remembered of a Lease that has a version now; empty is that
// there is none.
func (m *memory) of(key, version string, now time.Time) *seen {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.leases[key]
	if known == nil {
		known = &seen{version: version, since: now}
		m.leases[key] = known
	}
	if known.version != version {
		known.version, known.since = version, now
	}
	return known
}

// forget drops a Lease that has no candidates any more.
func (m *memory) forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.leases, key)
}
