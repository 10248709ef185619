package election

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

// vacant reports whether a Lease may be taken, and else how long its holder may
// still be believed. Since is when the Lease was seen to change last, by the clock
// of who asks: nobody's renewTime is compared with a clock of somebody else.
//
// KEP-4355: nobody else can claim a Lease before it expires.
func vacant(lease *coordinationv1.Lease, since, now time.Time) (bool, time.Duration) {
	if holder(lease) == "" {
		return true, 0
	}
	left := since.Add(duration(lease)).Sub(now)
	return left <= 0, left
}

// holder is who holds a Lease, or empty.
func holder(lease *coordinationv1.Lease) string {
	if lease == nil {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// preferred is who should hold it in the place of its holder, or empty.
func preferred(lease *coordinationv1.Lease) string {
	if lease == nil {
		return ""
	}
	return ptr.Deref(lease.Spec.PreferredHolder, "")
}

// strategy of a Lease; empty if it is not coordinated.
func strategy(lease *coordinationv1.Lease) coordinationv1.CoordinatedLeaseStrategy {
	if lease == nil {
		return ""
	}
	return ptr.Deref(lease.Spec.Strategy, "")
}

// duration of a Lease. Somebody may have left it out.
func duration(lease *coordinationv1.Lease) time.Duration {
	if seconds := ptr.Deref(lease.Spec.LeaseDurationSeconds, 0); seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return OddDuration
}
