package scenario

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// legacyName ends the name of the holder that knows nothing of coordination.
const legacyName = "-legacy"

// claimFor has the holder that knows nothing of coordination renew the Lease for a
// while, and the participants do what is asked of them beside it.
func (r *Runner) claimFor(ctx context.Context, c *crew, lasts time.Duration) error {
	until := r.Clock.Now().Add(lasts)
	for r.Clock.Now().Before(until) {
		c.claim(ctx)
		c.work(ctx)
		if err := r.wait(ctx, ElectionLook); err != nil {
			return err
		}
	}
	return nil
}

// claim has that holder take the Lease, or renew it if that is due. As a client from
// before KEP-4355 it writes all of the content that it knows of, and so takes out
// what the KEP has added.
func (c *crew) claim(ctx context.Context) {
	if c.now().Sub(c.renewed) < LeadRenewal {
		return
	}
	name, now := c.lease+legacyName, metav1.NewMicroTime(c.now())
	lease := c.read(ctx)
	acquired := &now
	switch {
	case lease == nil:
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: c.lease, Namespace: leaseNamespace}}
	case ptr.Deref(lease.Spec.HolderIdentity, "") != name:
		return // it has been taken away
	default:
		acquired = lease.Spec.AcquireTime
	}
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: &name, LeaseDurationSeconds: ptr.To(int32(LeadFor / time.Second)),
		AcquireTime: acquired, RenewTime: &now, LeaseTransitions: ptr.To[int32](0),
	}
	if c.put(ctx, history.ElectionLegacy, lease).OK() {
		c.renewed = now.Time
	}
}
