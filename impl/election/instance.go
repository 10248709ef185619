package election

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// Timing is how an instance holds its Lease.
type Timing struct{ LeaseDuration, RenewDeadline, RetryPeriod, FallbackDelay time.Duration }

// Standing is what an instance knows of its own leadership.
type Standing struct {
	// Leading is whether it works as the leader.
	Leading bool
	// Renewed is when it sent the last renewal that succeeded, and Answered when it got the
	// answer. Its Lease counts from Renewed, and the pause before the next renewal from
	// Answered: a slow server gets fewer requests.
	Renewed, Answered time.Time
	// Place is how many live candidates come before it, as far as it knows.
	Place int
}

// Move is what an instance does next.
type Move string

// The moves of an instance.
const (
	// Wait for a change, or for the given time.
	Wait Move = "wait"
	// Take up the leadership that the coordinator has given, by a first renewal.
	Take Move = "take"
	// Claim the Lease, because no coordinator elects a leader.
	Claim Move = "claim"
	// Renew the Lease.
	Renew Move = "renew"
	// Yield: end the work, and then give the Lease up.
	Yield Move = "yield"
	// Stop the work, for the Lease is lost or in doubt.
	Stop Move = "stop"
)

// Next is what an instance does about its Lease, and in how much time it has to
// look again. Since is when it saw the Lease change last, by its own clock.
//
// KEP-4355: an instance waits until it is elected; it renews while it leads; it
// stops renewing when its term has ended; it stops when its Lease has expired. Where
// no coordinator elects, instances claim the Lease after a longer delay.
func Next(me string, lease *coordinationv1.Lease, since time.Time, s Standing, t Timing, now time.Time, d defects.Set) (Move, time.Duration) {
	mine := holder(lease) == me
	told := preferred(lease) != "" && preferred(lease) != me
	if s.Leading {
		deadline := s.Renewed.Add(t.RenewDeadline).Sub(now)
		switch {
		case !mine:
			return Stop, 0
		case told:
			return Yield, 0
		case deadline <= 0:
			return Stop, 0
		}
		// Who was answered so late that the pause would outlast the deadline has none.
		if due := s.Answered.Add(t.RetryPeriod).Sub(now); due > 0 && due < deadline {
			return Wait, due
		}
		return Renew, 0
	}
	open, left := vacant(lease, since, now)
	switch {
	case mine && !open && !told:
		return Take, 0
	case !open:
		return Wait, left + t.FallbackDelay
	}
	// An instance that has just started has not observed yet that no coordinator elects.
	vacantSince := since
	if holder(lease) != "" {
		vacantSince = since.Add(duration(lease))
	}
	if delay := d.Delay(defects.CLE20ClaimsLate); delay > 0 {
		t.FallbackDelay = delay // defect: CLE-20-claims-late
	}
	wait := vacantSince.Add(t.FallbackDelay + time.Duration(s.Place)*FallbackStep).Sub(now)
	if d.Has(defects.CLE20NoFallback) || d.Has(defects.CLE11NeverTakesExpired) || d.Has(defects.CLE24Sulks) || d.Has(defects.RO04ElectsNoOther) || d.Has(defects.RO04WaitsAMinute) || d.Has(defects.CLE11ReplacesLate) {
		return Wait, t.FallbackDelay // defect: CLE-20-no-fallback
	}
	if wait <= 0 {
		return Claim, 0
	}
	return Wait, wait
}

// Renewed gives the Lease with a renewal by its holder.
//
// KEP-4355: Leases are renewed in the same way as without coordination.
func Renewed(lease *coordinationv1.Lease, t Timing, now time.Time) *coordinationv1.Lease {
	next := lease.DeepCopy()
	next.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now))
	next.Spec.LeaseDurationSeconds = ptr.To(int32(t.LeaseDuration / time.Second))
	return next
}

// Claimed gives the Lease that an instance takes without a coordinator. It is
// marked with the strategy, so that a coordinator that comes back looks after it.
func Claimed(before *coordinationv1.Lease, namespace, name, me string, t Timing, now time.Time) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if before != nil {
		lease = before.DeepCopy()
	}
	delete(lease.Annotations, ElectedBy)
	delete(lease.Annotations, Coordinator)
	hold(lease, me, before != nil, metav1.NewMicroTime(now))
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(t.LeaseDuration / time.Second))
	lease.Spec.Strategy = ptr.To(Oldest)
	lease.Spec.PreferredHolder = nil
	return lease
}

// Released gives the Lease after its holder has given it up.
func Released(lease *coordinationv1.Lease, now time.Time) *coordinationv1.Lease {
	next := lease.DeepCopy()
	next.Spec.HolderIdentity = nil
	next.Spec.PreferredHolder = nil
	next.Spec.LeaseDurationSeconds = ptr.To[int32](1)
	next.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now))
	return next
}
