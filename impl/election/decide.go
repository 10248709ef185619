package election

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// View is what a coordinator knows of one Lease.
type View struct {
	// Lease is nil where there is none.
	Lease *coordinationv1.Lease
	// Since is when this coordinator saw the Lease change last, or it first.
	Since time.Time
	// Candidates are all that name the Lease.
	Candidates []*Candidate
}

// Round is an election on its way. It lives in the memory of one coordinator: the
// next one asks again.
type Round struct {
	// Began is when the first candidate was asked; zero if none was.
	Began time.Time
	// Asked are the pings that were sent.
	Asked map[types.UID]metav1.MicroTime
}

// Decision is what is to be done about a Lease now.
type Decision struct {
	// Ping are candidates to be asked whether they are there.
	Ping []*Candidate
	// Write is what to write to the Lease, or nil.
	Write *Write
	// Round is what remains of the election.
	Round Round
	// Recheck is when to look again even if nothing changes; 0 is never.
	Recheck time.Duration
}

// Write is a change of a Lease.
type Write struct {
	// On is the Lease that the decision was made on, nil where there is none. The write is
	// only for that version of it.
	On *coordinationv1.Lease
	// Holder is the elected candidate; empty leaves the Lease to another strategy.
	Holder string
	// Preferred is who should be elected in the place of the holder, who stays.
	Preferred string
	// Strategy by which the coordinator acted.
	Strategy Strategy
}

// Decider is a function that decides as Decide does.
type Decider func(v View, round Round, now time.Time) Decision

// Decide is what the active coordinator does about a Lease.
//
// KEP-4355, "Coordinated Election Controller": if no Lease exists, or it has expired, elect
// a leader from the candidates; if there is a better candidate than the leader, mark the
// Lease, so that the leader gives it up. "Strategy": the Lease may name the strategy.
// "Migrations": leave a Lease alone that an instance has claimed by itself.
func Decide(v View, round Round, now time.Time) Decision {
	live := Living(v.Candidates, now)
	if len(live) == 0 {
		return Decision{}
	}
	strategy := StrategyOf(v.Lease, live)
	order, elects := OrderOf(strategy)
	if !elects {
		return leaveToOthers(v, strategy, now)
	}
	open, left := Vacant(v.Lease, v.Since, now)
	switch {
	case open, left <= early(v.Lease) && preferred(v.Lease) == "" && preemptable(v.Lease):
		// A healthy leader has renewed long before. Pinging the candidates while the rest
		// of the Lease runs out saves that time, and does not commit the coordinator.
		return elect(v.Lease, live, order, strategy, round, open, left, now)
	case !preemptable(v.Lease), preferred(v.Lease) != "":
		return Decision{Recheck: left} // a leader of its own accord, or one that has been told
	}
	decision := preempt(v.Lease, live, order, strategy, round, now)
	if ahead := left - early(v.Lease); ahead > 0 && (decision.Recheck == 0 || decision.Recheck > ahead) {
		decision.Recheck = ahead
	}
	return decision
}

// preemptable is whether a coordinator may tell the holder of a Lease to give it up: a
// coordinator has elected that holder, or an operator has chosen the strategy.
//
// KEP-4355, "Migrations": mark only Leases as "end of term" that have the annotation. An
// instance that claims a Lease removes the strategy or the annotation.
func preemptable(lease *coordinationv1.Lease) bool {
	if strategy(lease) == "" {
		return false
	}
	return lease.Annotations[ElectedBy] != "" || Chosen(lease) != ""
}

// early is how long before the end of a Lease candidates are asked.
func early(lease *coordinationv1.Lease) time.Duration {
	return min(AnswerWindow, duration(lease)/3)
}

// leaveToOthers is for a strategy by which this coordinator does not elect.
//
// KEP-4355, "Strategy": the coordinator may create a Lease without a holder; the third
// party that knows the strategy picks one. With NoCoordination the first instance takes it.
func leaveToOthers(v View, wanted Strategy, now time.Time) Decision {
	if strategy(v.Lease) == wanted {
		return Decision{}
	}
	open, left := Vacant(v.Lease, v.Since, now)
	if !open {
		return Decision{Recheck: left}
	}
	return Decision{Write: &Write{On: v.Lease, Strategy: wanted}}
}

// elect pings all candidates that may be alive, and picks the best of those that
// answered as soon as it waits for no other candidate and the Lease is open.
//
// KEP-4355, "Renewal Interval and Performance": ping all candidates, wait up to five
// seconds, and pick the leader of those that have answered.
func elect(lease *coordinationv1.Lease, live []*Candidate, order Order, strategy Strategy, round Round, open bool, left time.Duration, now time.Time) Decision {
	if now.Sub(round.Began) > 2*AnswerWindow {
		round = Round{} // a candidate that answered then may have gone
	}
	decision, answered, waiting := ask(live, round, now)
	switch {
	case waiting > 0:
	case !open:
		decision.Recheck = left
	case len(answered) > 0:
		decision.Write = &Write{On: lease, Holder: order.Best(answered).Name, Strategy: strategy}
	default:
		return Decision{Recheck: Retry}
	}
	return decision
}

// preempt looks for a better candidate than the leader, and makes the leader give up as
// soon as that candidate has answered.
func preempt(lease *coordinationv1.Lease, live []*Candidate, order Order, strategy Strategy, round Round, now time.Time) Decision {
	better := order.Better(holder(lease), live)
	if len(better) == 0 {
		return Decision{}
	}
	decision, answered, waiting := ask(better, round, now)
	switch {
	case waiting > 0:
	case len(answered) == 0:
		return Decision{} // an answer starts the next decision
	default:
		decision.Write = &Write{On: lease, Preferred: order.Best(answered).Name, Strategy: strategy}
	}
	return decision
}

// ask returns the candidates to ping, those that have answered in this round, and the
// number of those to wait for. It skips candidates that have left an earlier ping
// unanswered: it pings them as soon as they answer that one.
func ask(candidates []*Candidate, round Round, now time.Time) (decision Decision, answered []*Candidate, waiting int) {
	if round.Began.IsZero() {
		round = Round{Began: now}
	}
	decision = Decision{Round: round}
	over := now.Sub(round.Began) >= AnswerWindow
	for _, c := range candidates {
		ping, asked := round.Asked[c.UID]
		switch {
		case asked && Answered(c, ping):
			answered = append(answered, c)
		case asked && !over:
			waiting++
		case asked, over, silent(c, now):
		default:
			decision.Ping = append(decision.Ping, c)
			waiting++
		}
	}
	if waiting > 0 {
		decision.Recheck = round.Began.Add(AnswerWindow).Sub(now)
	}
	return decision, answered, waiting
}
