package controllermanager

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/evenkeel/evenkeel/impl/election/fence"
)

// kept is a lock whose requests all succeed.
type kept struct{ resourcelock.Interface }

func (kept) Identity() string                                                { return "me" }
func (kept) Describe() string                                                { return "ns/l" }
func (kept) Update(context.Context, resourcelock.LeaderElectionRecord) error { return nil }

func TestHealth_OfAPlainLeaderGoesByItsLastRenewal(t *testing.T) {
	now := time.Unix(0, 0)
	lock := &fence.Lock{Interface: kept{}, Deadline: DefaultRenewDeadline, Clock: func() time.Time { return now }}
	h := &health{}
	if err := h.Check(nil); err != nil {
		t.Errorf("before it takes part: %v", err)
	}
	h.watchLock(lock, DefaultLeaseDuration)
	now = now.Add(time.Hour)
	if err := h.Check(nil); err != nil {
		t.Errorf("a candidate that waits: %v", err)
	}
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(DefaultLeaseDuration + HealthTolerance)
	if err := h.Check(nil); err != nil {
		t.Errorf("within the tolerance: %v", err)
	}
	now = now.Add(time.Second)
	if h.Check(nil) == nil {
		t.Error("a leader that cannot renew is healthy")
	}
}

type sick struct{ err error }

func (s sick) Healthy(time.Duration) error { return s.err }

func TestHealth_UnderCoordinationIsThatOfAllInstances(t *testing.T) {
	h := &health{}
	watch(h, []sick{{}, {}})
	if err := h.Check(nil); err != nil {
		t.Error(err)
	}
	watch(h, []sick{{}, {errors.New("works without a Lease")}})
	if h.Check(nil) == nil {
		t.Error("one sick instance does not show")
	}
}
