package fence

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// slow is a lock whose requests take a time, and may fail.
type slow struct {
	resourcelock.Interface
	take func()
	fail error
}

func (s *slow) Identity() string { return "me" }

func (s *slow) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	s.take()
	return s.fail
}

func (s *slow) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return s.Update(ctx, r)
}

func TestLock_ARenewalCountsFromWhenItWasSent(t *testing.T) {
	now := time.Unix(0, 0)
	inner := &slow{take: func() { now = now.Add(8 * time.Second) }}
	l := &Lock{Interface: inner, Deadline: 10 * time.Second, Clock: func() time.Time { return now }}
	if l.Leading() == nil {
		t.Fatal("it leads before it has the Lease")
	}
	if err := l.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Second)
	if err := l.Leading(); err != nil {
		t.Errorf("9 s after it sent the renewal: %v", err)
	}
	now = now.Add(time.Second)
	if !errors.Is(l.Leading(), ErrDeposed) {
		t.Error("it leads 10 s after it sent the renewal, since the answer came 8 s later")
	}
}

func TestLock_AFailedRenewalChangesNothing(t *testing.T) {
	now := time.Unix(0, 0)
	inner := &slow{take: func() { now = now.Add(6 * time.Second) }}
	l := &Lock{Interface: inner, Deadline: 10 * time.Second, Clock: func() time.Time { return now }}
	me := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
	if err := l.Create(t.Context(), me); err != nil {
		t.Fatal(err)
	}
	inner.fail = errors.New("unreachable")
	if err := l.Update(t.Context(), me); err == nil {
		t.Fatal("the failure is not told")
	}
	if l.Leading() == nil {
		t.Error("a renewal that failed prolongs the leadership")
	}
}

func TestLock_GivingTheLeaseUpEndsTheLeadershipAtOnce(t *testing.T) {
	now := time.Unix(0, 0)
	var during error
	inner := &slow{take: func() {}}
	l := &Lock{Interface: inner, Deadline: 10 * time.Second, Clock: func() time.Time { return now }}
	if err := l.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
		t.Fatal(err)
	}
	inner.take = func() { during = l.Leading() }
	if err := l.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil {
		t.Fatal(err)
	}
	if during == nil || l.Leading() == nil {
		t.Error("it leads while it gives the Lease up, or afterwards")
	}
	if _, held := l.Held(); held {
		t.Error("it holds what it gave up")
	}
}
