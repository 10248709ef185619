package candidacy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/election"
	"github.com/evenkeel/evenkeel/impl/election/fence"
	"github.com/evenkeel/evenkeel/impl/election/steady"
	"github.com/evenkeel/evenkeel/impl/follow"
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

// ErrNotRenewed is the cause of the end of the context of Options.Lead if the Lease could not
// be renewed in time.
var ErrNotRenewed = errors.New("the Lease could not be renewed in time")

// Elector takes part in the elections of one Lease.
type Elector struct {
	options   Options
	candidate *candidate
	changed   chan struct{}
	// steady is the clock by which renewals count.
	steady steady.Clock

	mu       sync.Mutex
	standing election.Standing
	// working is whether work of a leader goes on.
	working bool
	// lease is the newest that is known of the Lease, and since is when it was seen
	// to change.
	lease *coordinationv1.Lease
	since steady.Time
	known bool
}

// New makes an Elector; Run makes it take part.
func New(o Options) (*Elector, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("coordinated leader election: %w", err)
	}
	return &Elector{options: o, candidate: newCandidate(o), changed: make(chan struct{}, 1), steady: steady.Of(o.Clock)}, nil
}

// Run takes part until the context ends. By then the work has ended, the Lease is
// given up, unless the options keep it, and the candidate is withdrawn.
func (e *Elector) Run(ctx context.Context) {
	// The LeaseCandidate exists until the Lease is given up, and is deleted before the
	// coordinator pings the other candidates.
	candidacy, withdraw := context.WithCancel(ctx)
	defer withdraw()
	var keeping sync.WaitGroup
	keeping.Go(func() { e.candidate.keep(candidacy) })
	defer keeping.Wait()

	leases := follow.New(e.options.Client, e.options.Client.CoordinationV1().Leases(e.options.Namespace), follow.Named(e.options.Lease), func(_, now *coordinationv1.Lease) {
		if now != nil {
			e.see(now)
		} else {
			e.gone()
		}
	})
	var following sync.WaitGroup
	following.Go(func() { leases.Run(ctx) })
	defer following.Wait()
	select {
	case <-leases.Listed():
	case <-ctx.Done():
		return
	}
	e.begin()
	e.move(ctx)
}

// move makes one move after the other.
func (e *Elector) move(ctx context.Context) {
	timer := e.options.Clock.NewTimer(0)
	defer timer.Stop()
	var work *work
	defer func() {
		if work != nil {
			work.end()
			if !e.options.KeepLease {
				_ = e.release(context.WithoutCancel(ctx)) // the Lease expires
			}
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
		}
		step := e.next()
		var err error
		switch step.Move {
		case election.Take, election.Claim:
			var taken *coordinationv1.Lease
			if taken, err = e.take(ctx, step); taken != nil {
				work = e.work(ctx, taken)
			}
		case election.Renew:
			err = e.renew(ctx, step.On)
		case election.Yield:
			work.end()
			work = nil
			err = e.release(ctx)
		case election.Stop:
			work.end()
			work = nil
			e.options.Logger.Info("Not leading any more")
		case election.Wait:
		}
		if err != nil && ctx.Err() == nil {
			e.options.Logger.Error(err, "Cannot make the next move, trying again", "move", step.Move)
		}
		if step.Move != election.Wait {
			step.Within = 0
			if err != nil {
				step.Within = e.options.Timing.RetryPeriod / 4
			}
		}
		timer.Reset(step.Within)
	}
}

// next returns the next move, and the Lease that it is decided on.
func (e *Elector) next() election.Step {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.options.Next(e.situation(), e.steady())
}

func (e *Elector) situation() election.Situation {
	return election.Situation{
		Me: e.options.Name, Lease: e.lease, Since: e.since, Wants: e.options.Strategy, Standing: e.standing, Timing: e.options.Timing,
	}
}

// begin starts the fallback delay: before now, this instance has observed nothing.
func (e *Elector) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known {
		e.known, e.since = true, e.steady()
	}
}

// see takes note of a Lease, unless something newer is known.
func (e *Elector) see(lease *coordinationv1.Lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lease != nil && e.lease.UID == lease.UID && !later(lease.ResourceVersion, e.lease.ResourceVersion) {
		return
	}
	e.lease, e.since, e.known = lease, e.steady(), true
	e.wake()
}

func (e *Elector) gone() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lease, e.since, e.known = nil, e.steady(), true
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

// take makes the Lease this instance's own by a first renewal, or claims it, if that is the
// step. It gives the Lease with which this instance leads, or nil.
func (e *Elector) take(ctx context.Context, step election.Step) (*coordinationv1.Lease, error) {
	if !may(step) {
		return nil, nil
	}
	if step.Move == election.Claim {
		if first, err := e.comesFirst(ctx); err != nil || !first {
			return nil, err
		}
		e.options.Logger.Info("No coordinator elects a leader; claiming the Lease")
	}
	return e.write(ctx, e.takes(step, e.options.Clock.Now()), e.steady())
}

// comesFirst is whether no better candidate than was known may claim the Lease first. With
// NoCoordination no candidate comes before another one.
func (e *Elector) comesFirst(ctx context.Context) (bool, error) {
	e.mu.Lock()
	order, elects := election.OrderOf(e.situation().Strategy())
	known := e.standing.Place
	e.mu.Unlock()
	if !elects {
		return true, nil
	}
	place, err := e.place(ctx, order)
	if err != nil {
		return false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.standing.Place = place
	return place <= known, nil
}

// place is how many live candidates come before this one.
func (e *Elector) place(ctx context.Context, order election.Order) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, requestBound)
	defer cancel()
	list, err := e.options.Client.CoordinationV1beta1().LeaseCandidates(e.options.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, fmt.Errorf("listing the candidates: %w", err)
	}
	var live []*election.Candidate
	for i := range list.Items {
		if c := &list.Items[i]; c.Spec.LeaseName == e.options.Lease && election.Live(c, e.options.Clock.Now()) && !election.Owes(c) {
			live = append(live, c)
		}
	}
	return order.Place(live, e.options.Name), nil
}

func (e *Elector) current() *coordinationv1.Lease {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lease
}

// renew is a renewal of the Lease that the decision to renew was made on.
func (e *Elector) renew(ctx context.Context, on *coordinationv1.Lease) error {
	_, err := e.write(ctx, election.Renewed(on, e.options.Timing, e.options.Clock.Now()), e.steady())
	return err
}

// write stores the Lease on condition that no other client has written to it. If it
// succeeds, this instance leads from the time at which it sent the request.
func (e *Elector) write(ctx context.Context, lease *coordinationv1.Lease, sent steady.Time) (*coordinationv1.Lease, error) {
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
		return nil, fmt.Errorf("writing the Lease: %w", err)
	}
	e.see(written)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.standing.Leading {
		e.standing.Place = 0
	}
	e.standing.Leading, e.standing.Renewed, e.standing.Answered = true, sent, e.steady()
	return written, nil
}

// look reads the Lease again after a conflict.
func (e *Elector) look(ctx context.Context, err error) {
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
		return
	}
	lease, err := e.options.Client.CoordinationV1().Leases(e.options.Namespace).Get(ctx, e.options.Lease, metav1.GetOptions{})
	switch {
	case err == nil:
		e.see(lease)
	case apierrors.IsNotFound(err):
		e.gone()
	}
}

// release gives the Lease up. A renewal that was under way, or the mark of a coordinator, may come
// first: then it gives up what the Lease has become. If it cannot, the Lease expires.
func (e *Elector) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestBound/4)
	defer cancel()
	for lease := e.held(); lease != nil; lease = e.held() {
		released, err := e.options.Client.CoordinationV1().Leases(e.options.Namespace).Update(ctx, election.Released(lease, e.options.Clock.Now()), metav1.UpdateOptions{})
		if err == nil {
			e.see(released)
			return nil
		}
		e.look(ctx, err)
		if now := e.held(); now != nil && now.ResourceVersion == lease.ResourceVersion {
			return fmt.Errorf("giving the Lease up: %w", err)
		}
	}
	return nil
}

// held is the Lease as it was seen last, if this instance holds it.
func (e *Elector) held() *coordinationv1.Lease {
	lease := e.current()
	if lease == nil || ptr.Deref(lease.Spec.HolderIdentity, "") != e.options.Name {
		return nil
	}
	return lease
}

// leading says why this instance may do nothing any more, if so.
func (e *Elector) leading() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.standing.Leading && e.steady().Sub(e.standing.Renewed) < e.options.Timing.RenewDeadline {
		return nil
	}
	return fence.ErrDeposed
}
