package candidacy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/evenkeel/evenkeel/impl/election"
)

// ErrNotElected is why a Lock does not write: the coordinator has elected another candidate or
// none yet, or it has told this one to give way.
var ErrNotElected = errors.New("this candidate is not elected")

// Lock is coordinated leader election as a lock of client-go: a program that elects its leader
// by leaderelection.LeaderElector takes part by this lock in the place of a LeaseLock. Run keeps
// the candidate. The LeaderElector does not set Coordinated, and its LeaseDuration is
// what the Lease gets.
//
// KEP-4355, "Coordinated Lease Lock": the lock creates and renews the LeaseCandidate, has its
// holder wait until it is elected, and stops renewing when the term has ended. So a leader that
// is told to give way stops after its RenewDeadline at the latest.
type Lock struct {
	elector *Elector
	// writes has one write at a time.
	writes sync.Mutex
}

var _ resourcelock.Interface = &Lock{}

// NewLock makes a Lock; Options.Lead is not used.
func NewLock(o Options) (*Lock, error) {
	o.Lead = func(context.Context, Term) {}
	e, err := New(o)
	if err != nil {
		return nil, err
	}
	e.begin()
	return &Lock{elector: e}, nil
}

// Run keeps the candidate until the context ends, and then withdraws it. End the LeaderElector
// first: a leader without a candidate is replaced.
func (l *Lock) Run(ctx context.Context) { l.elector.candidate.keep(ctx) }

// Get returns the record of the Lease.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	o := l.elector.options
	lease, err := o.Client.CoordinationV1().Leases(o.Namespace).Get(ctx, o.Lease, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		l.elector.missing()
	}
	if err != nil {
		return nil, nil, err // The LeaderElector tells by the error that there is no Lease.
	}
	l.elector.see(lease)
	record := resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec)
	raw, err := json.Marshal(record)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the record of %s: %w", l.Describe(), err)
	}
	return record, raw, nil
}

// Create claims a Lease that does not exist, if no coordinator has made it for long enough.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, record)
}

// Update renews the Lease, or gives it up. It takes the Lease only if this candidate was elected
// or no coordinator elects.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	l.writes.Lock()
	defer l.writes.Unlock()
	if record.HolderIdentity != l.Identity() {
		l.elector.deposed()
		return l.elector.release(ctx)
	}
	taken, err := l.elector.take(ctx, l.next(record))
	if err == nil && taken == nil {
		return ErrNotElected
	}
	return err
}

// next is what the candidate may do: whether it is time to, the LeaderElector knows.
func (l *Lock) next(record resourcelock.LeaderElectionRecord) election.Step {
	e := l.elector
	e.mu.Lock()
	defer e.mu.Unlock()
	if lasts := time.Duration(record.LeaseDurationSeconds) * time.Second; lasts > 0 {
		e.options.Timing.LeaseDuration = lasts
	}
	s := e.situation()
	s.Leading = false
	return e.options.Next(s, e.steady())
}

// RecordEvent logs what the LeaderElector tells.
func (l *Lock) RecordEvent(what string) {
	l.elector.options.Logger.Info("Leader election", "event", what)
}

// Identity is the name of the candidate.
func (l *Lock) Identity() string { return l.elector.options.Name }

// Describe names the Lease.
func (l *Lock) Describe() string { return l.elector.options.Namespace + "/" + l.elector.options.Lease }

// Leading says why this instance may do nothing any more, if so. It counts from when the last
// renewal was sent, by a clock that counts through a suspend of the machine.
func (l *Lock) Leading() error { return l.elector.leading() }

// missing takes note that the Lease does not exist, from when that was seen first on.
func (e *Elector) missing() {
	if e.current() != nil {
		e.gone()
	}
}

// deposed ends the leadership before the Lease is given up.
func (e *Elector) deposed() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.standing.Leading = false
}

// may is whether a step is one by which an instance comes to lead.
func may(step election.Step) bool { return step.Move == election.Take || step.Move == election.Claim }

// takes gives the Lease after a step by which this instance comes to lead.
func (e *Elector) takes(step election.Step, now time.Time) *coordinationv1.Lease {
	if step.Move == election.Take {
		return election.Renewed(step.On, e.options.Timing, now)
	}
	return election.Claimed(step.On, e.options.Namespace, e.options.Lease, e.options.Name, e.options.Strategy, e.options.Timing, now)
}
