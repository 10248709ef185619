package candidacy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/election"
)

// actsOn is how long an instance with CLE-10-acts-on continues to lead after it has lost
// the Lease during a pause. stoodStill is the shortest such pause.
const (
	actsOn     = 20 * time.Second
	stoodStill = 2 * time.Second
)

// Term is a time for which an instance leads.
type Term struct {
	// Lease is <namespace>/<name>, Holder the leader, Version its binary version.
	Lease, Holder, Version string
	// Number counts the changes of holder, as the Lease does.
	Number int32
	// Leading says why nothing may be done any more, if so. Ask right before each
	// thing that must not be done by two instances.
	Leading func() error
}

// errDeposed means that another instance may hold the Lease by now.
var errDeposed = errors.New("leadership is over or in doubt")

// Elector takes part in the elections of one Lease.
type Elector struct {
	options   Options
	candidate *candidate
	// withdraw takes the candidate away.
	withdraw context.CancelFunc
	changed  chan struct{}

	mu       sync.Mutex
	standing election.Standing
	lost     time.Time // when the leadership was over, for a planted defect
	// lease is the newest that is known of the Lease, and since is when it was seen
	// to change.
	lease *coordinationv1.Lease
	since time.Time
	known bool
}

// New makes an Elector; Run makes it take part.
func New(o Options) (*Elector, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("coordinated leader election: %w", err)
	}
	return &Elector{options: o, candidate: newCandidate(o), changed: make(chan struct{}, 1)}, nil
}

// Run takes part until the context ends. By then the work has ended, the Lease is
// given up, and the candidate is withdrawn.
func (e *Elector) Run(ctx context.Context) {
	// The LeaseCandidate exists until the Lease is given up, and is deleted before the
	// coordinator pings the other candidates.
	candidacy, withdraw := context.WithCancel(ctx)
	e.withdraw = withdraw
	defer withdraw()
	var keeping sync.WaitGroup
	keeping.Go(func() { e.candidate.keep(candidacy) })
	defer keeping.Wait()

	factory := informers.NewSharedInformerFactoryWithOptions(e.options.Client, 0, informers.WithNamespace(e.options.Namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = "metadata.name=" + e.options.Lease }))
	leases := factory.Coordination().V1().Leases().Informer()
	see := func(obj any) {
		if lease, ok := obj.(*coordinationv1.Lease); ok {
			e.see(lease)
		}
	}
	_, _ = leases.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    see,
		UpdateFunc: func(_, obj any) { see(obj) },
		DeleteFunc: func(any) { e.gone() },
	})
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), leases.HasSynced) {
		return
	}
	e.begin()
	e.follow(ctx)
}

// follow makes one move after the other.
func (e *Elector) follow(ctx context.Context) {
	timer := e.options.Clock.NewTimer(0)
	defer timer.Stop()
	var work *work
	defer func() {
		if work != nil {
			work.end()
			e.release(context.WithoutCancel(ctx))
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		case <-e.changed:
		}
		if work.over() {
			// The work has ended because no renewal succeeded in time. It does not continue,
			// even if one succeeded since.
			work.end()
			work = nil
			e.options.Logger.Info("Not leading any more: the Lease could not be renewed in time")
			if err := e.release(ctx); err != nil {
				e.options.Logger.Error(err, "Cannot give the Lease up; it will expire")
			}
			e.candidate.hideFor(e.options.Defects.Delay(defects.CLE12ReturnsLate)) // defect: CLE-12-returns-late
			if e.options.Defects.Has(defects.CLE12StaysAway) {
				e.withdraw() // defect: CLE-12-stays-away
				<-ctx.Done()
				return
			}
		}
		move, wait := e.next()
		var err error
		switch move {
		case election.Take, election.Claim:
			var taken bool
			if taken, err = e.take(ctx, move); taken {
				work = e.work(ctx)
			}
		case election.Renew:
			err = e.renew(ctx)
		case election.Yield:
			work.end()
			work = nil
			err = e.release(ctx)
		case election.Stop:
			work.end()
			work = nil
			e.options.Logger.Info("Not leading any more")
		}
		if err != nil && ctx.Err() == nil {
			e.options.Logger.Error(err, "Cannot make the next move, trying again", "move", move)
		}
		if move != election.Wait {
			wait = 0
			if err != nil {
				wait = e.options.Timing.RetryPeriod / 4
			}
		}
		timer.Reset(wait)
	}
}

// next returns the next move. Before an instance claims the Lease, it counts how many
// instances should claim it first.
func (e *Elector) next() (election.Move, time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return election.Next(e.options.Name, e.lease, e.since, e.standing, e.options.Timing, e.options.Clock.Now(), e.options.Defects)
}

// begin starts the fallback delay: before now, this instance has observed nothing.
func (e *Elector) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known {
		e.known, e.since = true, e.options.Clock.Now()
	}
}

// see takes note of a Lease, unless something newer is known.
func (e *Elector) see(lease *coordinationv1.Lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lease != nil && e.lease.UID == lease.UID && !later(lease.ResourceVersion, e.lease.ResourceVersion) {
		return
	}
	e.lease, e.since, e.known = lease, e.options.Clock.Now(), true
	e.wake()
}

func (e *Elector) gone() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lease, e.since, e.known = nil, e.options.Clock.Now(), true
	e.wake()
}

func (e *Elector) wake() {
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

// later orders versions of one object. They are numbers in every API server.
func later(a, b string) bool {
	left, leftErr := strconv.ParseUint(a, 10, 64)
	right, rightErr := strconv.ParseUint(b, 10, 64)
	return leftErr != nil || rightErr != nil || left > right
}

// take makes the Lease this instance's own by a first renewal, or claims it.
func (e *Elector) take(ctx context.Context, move election.Move) (taken bool, err error) {
	before := e.current()
	now := e.options.Clock.Now()
	if move == election.Take {
		err := e.write(ctx, election.Renewed(before, e.options.Timing, now), now)
		return err == nil, err
	}
	place, err := e.place(ctx)
	if err != nil {
		return false, err
	}
	e.mu.Lock()
	known := e.standing.Place
	e.standing.Place = place
	e.mu.Unlock()
	if place > known {
		return false, nil // a better candidate may claim the Lease first
	}
	e.options.Logger.Info("No coordinator elects a leader; claiming the Lease")
	err = e.write(ctx, election.Claimed(before, e.options.Namespace, e.options.Lease, e.options.Name, e.options.Timing, now), now)
	return err == nil, err
}

// place is how many live candidates come before this one.
func (e *Elector) place(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, requestBound)
	defer cancel()
	list, err := e.options.Client.CoordinationV1beta1().LeaseCandidates(e.options.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, fmt.Errorf("listing the candidates: %w", err)
	}
	var live []*election.Candidate
	for i := range list.Items {
		if c := &list.Items[i]; c.Spec.LeaseName == e.options.Lease && election.Live(c, e.options.Clock.Now(), e.options.Defects) && !election.Owes(c) {
			live = append(live, c)
		}
	}
	return election.Place(live, e.options.Name), nil
}

func (e *Elector) current() *coordinationv1.Lease {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lease
}

// renew is a renewal of a Lease that this instance holds.
func (e *Elector) renew(ctx context.Context) error {
	now := e.options.Clock.Now()
	return e.write(ctx, election.Renewed(e.current(), e.options.Timing, now), now)
}

// write stores the Lease on condition that no other client has written to it. If it
// succeeds, this instance leads from the time at which it sent the request.
func (e *Elector) write(ctx context.Context, lease *coordinationv1.Lease, sent time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, requestBound)
	defer cancel()
	leases := e.options.Client.CoordinationV1().Leases(e.options.Namespace)
	var written *coordinationv1.Lease
	var err error
	if lease.ResourceVersion == "" {
		written, err = leases.Create(ctx, lease, metav1.CreateOptions{})
	} else {
		written, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	if err != nil {
		e.look(ctx, err)
		return fmt.Errorf("writing the Lease: %w", err)
	}
	e.see(written)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.standing.Leading {
		e.standing.Place = 0
	}
	e.standing.Leading, e.standing.Renewed, e.standing.Answered = true, sent, e.options.Clock.Now()
	return nil
}

// look reads the Lease again after a conflict.
func (e *Elector) look(ctx context.Context, err error) {
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		return
	}
	if lease, err := e.options.Client.CoordinationV1().Leases(e.options.Namespace).Get(ctx, e.options.Lease, metav1.GetOptions{}); err == nil {
		e.see(lease)
	}
}

// release gives the Lease up. If it cannot, the Lease expires.
func (e *Elector) release(ctx context.Context) error {
	lease := e.current()
	if lease == nil || ptr.Deref(lease.Spec.HolderIdentity, "") != e.options.Name {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestBound/4)
	defer cancel()
	released, err := e.options.Client.CoordinationV1().Leases(e.options.Namespace).Update(ctx, election.Released(lease, e.options.Clock.Now()), metav1.UpdateOptions{})
	if err != nil {
		e.look(ctx, err)
		return fmt.Errorf("giving the Lease up: %w", err)
	}
	e.see(released)
	return nil
}

// leading says why this instance may do nothing any more, if so.
func (e *Elector) leading() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.options.Clock.Now()
	if e.standing.Leading && now.Sub(e.standing.Renewed) < e.options.Timing.RenewDeadline {
		return nil
	}
	if e.options.Defects.Has(defects.CLE10ActsOn) && now.Sub(e.lost) < actsOn {
		return nil // defect: CLE-10-acts-on
	}
	return errDeposed
}

// work is the controller at work.
type work struct {
	stop  func()
	ended chan struct{}
	// late is closed when the Lease was not renewed in time.
	late    chan struct{}
	elector *Elector
}

// over is whether the work was ended because the Lease was not renewed in time.
func (w *work) over() bool {
	if w == nil {
		return false
	}
	select {
	case <-w.late:
		return true
	default:
		return false
	}
}

// work begins to lead.
func (e *Elector) work(ctx context.Context) *work {
	lease := e.current()
	term := Term{
		Lease: e.options.Namespace + "/" + e.options.Lease, Holder: e.options.Name, Version: e.options.BinaryVersion,
		Number: ptr.Deref(lease.Spec.LeaseTransitions, 0), Leading: e.leading,
	}
	e.mu.Lock()
	// The defect continues from the last moment at which it could lead.
	e.lost = e.options.Clock.Now().Add(24 * time.Hour)
	e.mu.Unlock()
	e.options.Logger.Info("Leading", "term", term.Number)
	ctx, cancel := context.WithCancel(ctx)
	w := &work{stop: cancel, ended: make(chan struct{}), late: make(chan struct{}), elector: e}
	go func() {
		defer close(w.ended)
		e.options.Lead(ctx, term)
	}()
	// After a pause, the process finds that its context has ended before it does
	// anything else.
	go w.watch(ctx)
	return w
}

// watch ends the work when the last renewal is too long ago, whatever the elector
// waits for.
func (w *work) watch(ctx context.Context) {
	e := w.elector
	for {
		e.mu.Lock()
		left := e.standing.Renewed.Add(e.options.Timing.RenewDeadline).Sub(e.options.Clock.Now())
		e.mu.Unlock()
		if left <= 0 {
			close(w.late)
			if left > -stoodStill || !e.options.Defects.Has(defects.CLE10ActsOn) {
				w.stop()
			}
			e.wake()
			return
		}
		timer := e.options.Clock.NewTimer(left)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// end ends the work, and returns when nothing of it is left.
func (w *work) end() {
	e := w.elector
	e.mu.Lock()
	e.standing.Leading = false
	e.lost = e.options.Clock.Now()
	e.mu.Unlock()
	if e.options.Defects.Has(defects.CLE10ActsOn) {
		timer := e.options.Clock.NewTimer(actsOn)
		go func() {
			defer timer.Stop()
			<-timer.C()
			w.stop()
		}()
		return // defect: CLE-10-acts-on
	}
	w.stop()
	<-w.ended
}
