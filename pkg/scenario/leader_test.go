package scenario

import (
	"context"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// A leader that is to make room, or has just come, is none to plan with.
func TestALeaderThatStaysIsWaitedFor(t *testing.T) {
	since := func(second int64) *metav1.MicroTime { return ptr.To(metav1.NewMicroTime(time.Unix(second, 0))) }
	looks := 0
	l := newLeased(t, func(_ leased, look int) coordinationv1.LeaseSpec {
		looks = look
		switch look {
		case 1:
			return coordinationv1.LeaseSpec{HolderIdentity: ptr.To("host-cp1_a"), AcquireTime: since(0), RenewTime: since(9)}
		case 2:
			return coordinationv1.LeaseSpec{HolderIdentity: ptr.To("host-cp1_a"), AcquireTime: since(0), RenewTime: since(12), PreferredHolder: ptr.To("host-cp2_b")}
		case 3:
			return coordinationv1.LeaseSpec{HolderIdentity: ptr.To("host-cp2_b"), AcquireTime: since(20), RenewTime: since(29)}
		default:
			return coordinationv1.LeaseSpec{HolderIdentity: ptr.To("host-cp2_b"), AcquireTime: since(20), RenewTime: since(30)}
		}
	})
	r := newRunner(l.fakeCluster, newHistory())
	r.Clock = clock.RealClock{}
	r.cluster = l
	if err := r.stays(t.Context(), 10*time.Second); err != nil || looks != 4 {
		t.Errorf("the wait ended after %d looks: %v", looks, err)
	}
	// It ends with the run.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.stays(ctx, time.Minute); err == nil {
		t.Error("nobody led for a minute, and it went on")
	}
}
