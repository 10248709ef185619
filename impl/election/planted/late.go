package planted

import (
	"time"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/election"
)

// whenLong decides as a defect does when the coordinator has seen for a while that the holder
// of a Lease is as a condition says.
func whenLong(long time.Duration, condition func(election.View, time.Time) bool, planted around) around {
	var seen defects.Waits
	return func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
		if v.Lease == nil {
			return next(v, round, now)
		}
		what := string(v.Lease.UID) + "/" + holder(v.Lease)
		if open(v, now) || !condition(v, now) {
			seen.Done(what)
			return next(v, round, now)
		}
		left := seen.Left(what, now, long)
		if left == 0 {
			return planted(next, v, round, now)
		}
		return sooner(next(v, round, now), left)
	}
}

// outranked is whether a candidate comes before the holder of a Lease, by the oldest version.
func outranked(v election.View, now time.Time) bool {
	oldest, _ := election.OrderOf(election.Oldest)
	return len(oldest.Better(holder(v.Lease), live(v, now))) > 0
}

// ledByThirdParty is whether a Lease has a holder and a strategy of a third party.
func ledByThirdParty(v election.View, now time.Time) bool {
	strategy := election.StrategyOf(v.Lease, live(v, now))
	_, elects := election.OrderOf(strategy)
	return !elects && strategy != election.NoCoordination
}

// takesFromThirdParty gives the Lease of a third party to a candidate.
func takesFromThirdParty(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	oldest, _ := election.OrderOf(election.Oldest)
	best := oldest.Best(live(v, now))
	if best == nil {
		return next(v, round, now)
	}
	return election.Decision{Write: &election.Write{On: v.Lease, Holder: best.Name, Strategy: election.StrategyOf(v.Lease, live(v, now))}}
}

// outrankedUncoordinated is whether the holder of a Lease without coordination is outranked.
func outrankedUncoordinated(v election.View, now time.Time) bool {
	return election.StrategyOf(v.Lease, live(v, now)) == election.NoCoordination && outranked(v, now)
}

// outrankedClaimant is whether a holder is outranked that claimed its Lease by itself.
func outrankedClaimant(v election.View, now time.Time) bool {
	return v.Lease.Annotations[election.ElectedBy] == "" && outranked(v, now)
}
