package election

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

// Vacant reports whether a client may take a Lease, and otherwise how long the holder
// still holds it. Since is when the client observed the last change of the Lease, by its
// own clock: no renewTime is compared with the clock of another process.
//
// KEP-4355: no other instance can claim a Lease before it expires.
func Vacant(lease *coordinationv1.Lease, since, now time.Time) (bool, time.Duration) {
	if holder(lease) == "" {
		return true, 0
	}
	left := since.Add(duration(lease)).Sub(now)
	return left <= 0, left
}

// holder returns the holder of a Lease, or empty.
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

// duration returns the duration of a Lease, or a default if the Lease has none.
func duration(lease *coordinationv1.Lease) time.Duration {
	if seconds := ptr.Deref(lease.Spec.LeaseDurationSeconds, 0); seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return OddDuration
}
