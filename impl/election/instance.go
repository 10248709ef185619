package election

import (
	"cmp"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
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

// Situation is what an instance decides on.
type Situation struct {
	// Me is the name of the instance and its candidate.
	Me string
	// Lease is the newest version that the instance knows, nil if there is none. Since is when
	// it saw the Lease change last.
	Lease *coordinationv1.Lease
	Since time.Time
	// Wants is the strategy that the instance declares.
	Wants Strategy
	Standing
	Timing
}

// Strategy is the one that holds for the Lease, as far as the instance knows.
func (s Situation) Strategy() Strategy { return cmp.Or(strategy(s.Lease), s.Wants, Oldest) }

// Step is what an instance does next.
type Step struct {
	Move Move
	// On is the Lease that the decision was made on: a move writes on condition that the Lease
	// has not changed since.
	On *coordinationv1.Lease
	// Within is in how much time to look again if nothing changes.
	Within time.Duration
}

// Nexter is a function that decides as Next does.
type Nexter func(s Situation, now time.Time) Step

// Next is what an instance does about its Lease. All times are of a clock of its own, which
// counts through a suspend of the machine.
//
// KEP-4355, "Coordinated Lease Lock": an instance waits until it is elected; it renews while it
// leads; it stops renewing when its term has ended; it stops when its Lease has expired.
func Next(s Situation, now time.Time) Step {
	mine := holder(s.Lease) == s.Me
	told := preferred(s.Lease) != "" && preferred(s.Lease) != s.Me
	if s.Leading {
		return s.lead(mine, told, now)
	}
	open, left := Vacant(s.Lease, s.Since, now)
	switch {
	case mine && !open && !told:
		return s.step(Take, 0)
	case !open:
		return s.step(Wait, left+s.FallbackDelay)
	}
	return s.fallback(now)
}

func (s Situation) step(m Move, within time.Duration) Step { return Step{m, s.Lease, within} }

// lead is what a leader does.
func (s Situation) lead(mine, told bool, now time.Time) Step {
	deadline := s.Renewed.Add(s.RenewDeadline).Sub(now)
	switch {
	case !mine:
		return s.step(Stop, 0)
	case told:
		return s.step(Yield, 0)
	case deadline <= 0:
		return s.step(Stop, 0)
	}
	// If the answer came so late that the pause would outlast the deadline, there is none.
	if due := s.Answered.Add(s.RetryPeriod).Sub(now); due > 0 && due < deadline {
		return s.step(Wait, due)
	}
	return s.step(Renew, 0)
}

// fallback is what an instance does about a Lease that it may take.
//
// KEP-4355, "Risk: What if the election controller fails to elect a leader?": instances
// claim the Lease directly after a longer delay. With NoCoordination they do so at once, and
// never where a third party picks the holder.
func (s Situation) fallback(now time.Time) Step {
	if by := s.Strategy(); by == NoCoordination {
		return s.step(Claim, 0)
	} else if _, elects := OrderOf(by); !elects {
		return s.step(Wait, s.FallbackDelay)
	}
	// An instance that has just started has not observed yet that no coordinator elects.
	vacantSince := s.Since
	if holder(s.Lease) != "" {
		vacantSince = s.Since.Add(duration(s.Lease))
	}
	if wait := vacantSince.Add(s.FallbackDelay + time.Duration(s.Place)*FallbackStep).Sub(now); wait > 0 {
		return s.step(Wait, wait)
	}
	return s.step(Claim, 0)
}

// Renewed gives the Lease with a renewal by its holder.
//
// KEP-4355: Leases are renewed in the same way as without coordination.
func Renewed(lease *coordinationv1.Lease, t Timing, now time.Time) *coordinationv1.Lease {
	next := lease.DeepCopy()
	next.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now))
	//nolint:gosec // G115: the duration of a Lease is far below 68 years.
	next.Spec.LeaseDurationSeconds = ptr.To(int32(t.LeaseDuration / time.Second))
	return next
}

// Claimed gives the Lease that an instance takes without a coordinator. Such a claim has no
// mark of an election, by which a coordinator that comes back leaves the holder alone, as it
// leaves one alone that does without coordination. A strategy stays as it is: an
// operator may have chosen it. A Lease without one gets the one that the instance wants,
// since its candidates are enrolled.
//
// KEP-4355, "Migrations": a coordinator marks only Leases that it has claimed itself.
func Claimed(before *coordinationv1.Lease, namespace, name, me string, wants Strategy, t Timing, now time.Time) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if before != nil {
		lease = before.DeepCopy()
	}
	delete(lease.Annotations, ElectedBy)
	delete(lease.Annotations, Coordinator)
	hold(lease, me, before != nil, metav1.NewMicroTime(now))
	//nolint:gosec // G115: the duration of a Lease is far below 68 years.
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(t.LeaseDuration / time.Second))
	lease.Spec.PreferredHolder = nil
	if strategy(lease) == "" {
		lease.Spec.Strategy = ptr.To(wants)
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, Resolved, string(wants))
	}
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
