package scenario

import (
	"context"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// A leader that is to make room, or has just come, is none to plan with.
func TestALeaderThatStaysIsWaitedFor(t *testing.T) {
	looks := 0
	l := newLeased(t, func(_ leased, look int) coordinationv1.LeaseSpec {
		looks = look
		switch look {
		case 1:
			return coordinationv1.LeaseSpec{HolderIdentity: ptr.To("host-cp1_a")}
		case 2:
			return coordinationv1.LeaseSpec{HolderIdentity: ptr.To("host-cp1_a"), PreferredHolder: ptr.To("host-cp2_b")}
		case 3:
			return coordinationv1.LeaseSpec{HolderIdentity: ptr.To("host-cp3_c")}
		default:
			return coordinationv1.LeaseSpec{HolderIdentity: ptr.To("host-cp2_b")}
		}
	})
	r := newRunner(l.fakeCluster, newHistory())
	r.Clock = clock.RealClock{}
	r.cluster = l
	if err := r.stays(t.Context(), time.Millisecond); err != nil || looks != 5 {
		t.Errorf("the wait ended after %d looks: %v", looks, err)
	}
	// It ends with the run.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.stays(ctx, time.Minute); err == nil {
		t.Error("it went on although no leader had led for a minute")
	}
}
