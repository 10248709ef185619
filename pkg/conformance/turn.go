package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// The Lease by which campaigns take turns on a cluster that others use too.
const (
	TurnNamespace = "default"
	TurnLease     = "evenkeel"
)

// Turn is the right to play a run on a cluster that other campaigns may want, too.
type Turn interface {
	// Take waits for the turn. The context that it returns ends when the turn is lost. The
	// caller has to give the turn back when the run has ended.
	Take(ctx context.Context) (held context.Context, give func(), err error)
}

// turnTimes are the times of the Lease.
type turnTimes struct{ lease, renew, retry time.Duration }

// usualTurnTimes outlast what a run does to API servers. After a campaign was killed its run
// may go on for as long as orphanBound, and so the Lease does.
var usualTurnTimes = turnTimes{lease: orphanBound, renew: orphanBound * 4 / 5, retry: 5 * time.Second}

// yieldFor is how many retries a campaign waits after a run before it takes its next turn. One
// that waits asks again after at most 2.2 of them, by the jitter of client-go, so that the two
// alternate.
const yieldFor = 3

// leaseTurn takes turns by a Lease of the cluster. It takes it anew for each run, so that
// campaigns that want the same cluster alternate.
type leaseTurn struct {
	identity string
	clients  []coordinationv1client.LeasesGetter
	times    turnTimes
	say      func(text string)
	clock    clock.WithTicker
	// mine is held by the run of this process that has the turn or waits for it.
	mine chan struct{}
	// gave is when the last run gave its turn back. Who holds mine may use it.
	gave time.Time
}

// NewTurn takes turns on the cluster whose API servers are reached so. The folder of the
// campaign tells campaigns of one machine apart. Say is told for whom a run waits.
func NewTurn(configs []*rest.Config, dir string, clk clock.WithTicker, say func(text string)) (Turn, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("find the name of this machine, which the Lease %s/%s is to have: %w", TurnNamespace, TurnLease, err)
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the folder of the campaign: %w", err)
	}
	return newLeaseTurn(configs, fmt.Sprintf("%s_%.12s", host, bundle.ContentDigest([]byte(at))), usualTurnTimes, clk, say)
}

func newLeaseTurn(configs []*rest.Config, identity string, times turnTimes, clk clock.WithTicker, say func(string)) (*leaseTurn, error) {
	t := &leaseTurn{identity: identity, times: times, clock: clk, say: say, mine: make(chan struct{}, 1)}
	for _, config := range configs {
		client, err := coordinationv1client.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("make a client for the Lease %s/%s: %w", TurnNamespace, TurnLease, err)
		}
		t.clients = append(t.clients, client)
	}
	return t, nil
}

// Take implements Turn.
func (t *leaseTurn) Take(ctx context.Context) (held context.Context, give func(), err error) {
	select {
	case t.mine <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if err := t.yield(ctx); err != nil {
		<-t.mine
		return nil, nil, err
	}
	// While a run is ending in good order, the Lease has to be kept. What client-go logs is not
	// for the user of a campaign.
	elect, stop := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), klog.Logger{}))
	held, lost := context.WithCancel(ctx)
	began, done := make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          t.lock(),
		LeaseDuration: t.times.lease, RenewDeadline: t.times.renew, RetryPeriod: t.times.retry,
		ReleaseOnCancel: true, Name: TurnLease,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(began) },
			OnStoppedLeading: lost,
			OnNewLeader: func(holder string) {
				if holder != t.identity && holder != "" {
					t.say(fmt.Sprintf("waiting for the cluster, which %s uses (Lease %s/%s)", holder, TurnNamespace, TurnLease))
				}
			},
		},
	})
	if err == nil {
		err = t.allowed(ctx)
	}
	if err != nil {
		stop()
		lost()
		<-t.mine
		return nil, nil, fmt.Errorf("take turns on the cluster by the Lease %s/%s: %w", TurnNamespace, TurnLease, err)
	}
	go func() {
		defer close(done)
		elector.Run(elect)
	}()
	give = func() {
		stop()
		<-done
		lost()
		t.gave = t.clock.Now()
		<-t.mine
	}
	select {
	case <-began:
		return held, give, nil
	case <-ctx.Done():
		give()
		return nil, nil, ctx.Err()
	}
}

// yield lets another campaign take its turn, if one waits.
func (t *leaseTurn) yield(ctx context.Context) error {
	if t.gave.IsZero() {
		return nil
	}
	timer := t.clock.NewTimer(yieldFor*t.times.retry - t.clock.Since(t.gave))
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// allowed is an error where an API server does not let this client read the Lease: waiting
// would change nothing.
func (t *leaseTurn) allowed(ctx context.Context) error {
	for _, client := range t.clients {
		_, err := client.Leases(TurnNamespace).Get(ctx, TurnLease, metav1.GetOptions{})
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			return fmt.Errorf("the credentials in the topology have to allow get, create and update of Leases there: %w", err)
		}
	}
	return nil
}

func (t *leaseTurn) lock() resourcelock.Interface {
	var all anyLock
	for _, client := range t.clients {
		all.locks = append(all.locks, &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: TurnNamespace, Name: TurnLease}, Client: client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: t.identity},
		})
	}
	return &all
}

// anyLock is the Lease through whichever API server answers: a run takes them away one by one.
// It writes through the one that it has read from.
type anyLock struct {
	locks []resourcelock.Interface

	mu   sync.Mutex
	last int
}

// Get implements resourcelock.Interface.
func (a *anyLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for range a.locks {
		record, raw, err := a.locks[a.last].Get(ctx)
		if err == nil || apierrors.IsNotFound(err) || ctx.Err() != nil {
			return record, raw, err
		}
		errs = append(errs, err)
		a.last = (a.last + 1) % len(a.locks)
	}
	return nil, nil, errors.Join(errs...)
}

// Create implements resourcelock.Interface.
func (a *anyLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return a.current().Create(ctx, record)
}

// Update implements resourcelock.Interface.
func (a *anyLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return a.current().Update(ctx, record)
}

func (a *anyLock) current() resourcelock.Interface {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.locks[a.last]
}

// RecordEvent implements resourcelock.Interface.
func (a *anyLock) RecordEvent(string) {}

// Identity implements resourcelock.Interface.
func (a *anyLock) Identity() string { return a.locks[0].Identity() }

// Describe implements resourcelock.Interface.
func (a *anyLock) Describe() string { return a.locks[0].Describe() }
