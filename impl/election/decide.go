package election

import (
	"cmp"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel/evenkeel/impl/defects"
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
	// Holder is the elected candidate; empty leaves the Lease to another strategy.
	Holder string
	// Preferred is who should be elected in the place of the holder, who stays.
	Preferred string
	// Strategy of the Lease from now on.
	Strategy coordinationv1.CoordinatedLeaseStrategy
}

// Decide is what the active coordinator does about a Lease.
//
// KEP-4355: if no Lease exists, or it has expired, elect a leader of the
// candidates; if there is a better candidate than the leader, tell the leader to
// give up. The coordinator leaves Leases without the mark of coordination alone.
func Decide(v View, round Round, now time.Time, d defects.Set) Decision {
	var live []*Candidate
	for _, c := range v.Candidates {
		if Live(c, now, d) {
			live = append(live, c)
		}
	}
	if len(live) == 0 {
		return Decision{}
	}
	if d.Has(defects.CLE22Balks) && mixed(live) {
		return Decision{} // defect: CLE-22-balks
	}
	if open, _ := vacant(v.Lease, v.Since, now); open && mixed(live) && d.Has(defects.CLE22Hesitates) {
		if pause := v.Since.Add(d.Delay(defects.CLE22Hesitates)).Sub(now); pause > 0 {
			return Decision{Recheck: pause} // defect: CLE-22-hesitates
		}
	}
	if wanted := Resolve(live); wanted != Oldest && !d.Has(defects.CLE21Assigns) { // defect: CLE-21-assigns
		return leaveToOthers(v, wanted, now)
	}
	open, left := vacant(v.Lease, v.Since, now)
	open = open || d.Has(defects.CLE18TakesFromLegacy) && strategy(v.Lease) == "" // defect: CLE-18-takes-from-legacy
	if open && d.Has(defects.CLE11NeverTakesExpired) && holder(v.Lease) != "" {
		return Decision{} // defect: CLE-11-never-takes-expired
	}
	if open && d.Has(defects.CLE04LeavesVacant) && v.Lease == nil {
		return Decision{} // defect: CLE-04-leaves-vacant
	}
	if pause := leavesFree(v, now, d); open && pause > 0 {
		return Decision{Recheck: pause} // defect: RO-04-elects-no-other, RO-04-waits-a-minute
	}
	if pause := v.Since.Add(d.Delay(defects.CLE04Hesitates)).Sub(now); open && v.Lease == nil && pause > 0 && d.Has(defects.CLE04Hesitates) {
		return Decision{Recheck: pause} // defect: CLE-04-hesitates
	}
	switch {
	case open, left <= early(v.Lease) && preferred(v.Lease) == "" && strategy(v.Lease) != "":
		// A healthy leader has renewed long before. Pinging the candidates while the rest
		// of the Lease runs out saves that time, and does not commit the coordinator.
		return elect(v.Lease, live, round, open, left, now, d)
	case strategy(v.Lease) == "" && !d.Has(defects.CLE19MarksLegacy): // defect: CLE-19-marks-legacy
		return Decision{Recheck: left}
	case preferred(v.Lease) != "":
		return Decision{Recheck: left} // it has been told
	}
	decision := preempt(v.Lease, live, round, now, d)
	if ahead := left - early(v.Lease); ahead > 0 && (decision.Recheck == 0 || decision.Recheck > ahead) {
		decision.Recheck = ahead
	}
	return decision
}

// mixed is whether candidates want different strategies.
func mixed(live []*Candidate) bool {
	return slices.ContainsFunc(live, func(c *Candidate) bool { return c.Spec.Strategy != live[0].Spec.Strategy })
}

// leavesFree is how long a planted defect leaves a Lease without a holder after a leader: a
// minute, or forever.
func leavesFree(v View, now time.Time, d defects.Set) time.Duration {
	const long = time.Hour
	free := d.Delay(defects.RO04WaitsAMinute) + d.Delay(defects.CLE11ReplacesLate)
	switch {
	case v.Lease == nil:
		return 0
	case d.Has(defects.RO04ElectsNoOther):
		return long
	case free > 0 && (holder(v.Lease) != "" || d.Has(defects.RO04WaitsAMinute)): // defect: CLE-11-replaces-late
		vacantSince := v.Since
		if holder(v.Lease) != "" {
			vacantSince = vacantSince.Add(duration(v.Lease))
		}
		return vacantSince.Add(free).Sub(now)
	}
	return 0
}

// early is how long before the end of a Lease candidates are asked.
func early(lease *coordinationv1.Lease) time.Duration {
	return min(AnswerWindow, duration(lease)/3)
}

// leaveToOthers is for a strategy that this coordinator does not know.
//
// KEP-4355: the coordinator makes the Lease without a holder; who knows the
// strategy picks one.
func leaveToOthers(v View, wanted coordinationv1.CoordinatedLeaseStrategy, now time.Time) Decision {
	if strategy(v.Lease) == wanted {
		return Decision{}
	}
	open, left := vacant(v.Lease, v.Since, now)
	if !open {
		return Decision{Recheck: left}
	}
	return Decision{Write: &Write{Strategy: wanted}}
}

// elect pings all candidates that may be alive, and picks the best of those that
// answered as soon as it waits for no other candidate and the Lease is open.
//
// KEP-4355: ping all candidates, wait up to five seconds, and pick the leader of
// those that have answered.
func elect(lease *coordinationv1.Lease, live []*Candidate, round Round, open bool, left time.Duration, now time.Time, d defects.Set) Decision {
	if now.Sub(round.Began) > 2*AnswerWindow {
		round = Round{} // who answered then may have gone
	}
	decision, answered, waiting := ask(live, round, now, d)
	switch {
	case waiting > 0:
	case !open:
		decision.Recheck = left
	case len(answered) > 0:
		decision.Write = &Write{Holder: pick(lease, answered, now, d).Name, Strategy: Oldest}
	default:
		return Decision{Recheck: Retry}
	}
	return decision
}

// pick returns the next leader among the candidates that answered.
func pick(lease *coordinationv1.Lease, answered []*Candidate, now time.Time, d defects.Set) *Candidate {
	best := Best(answered)
	if d.Has(defects.CLE06NewestFirst) && preferred(lease) == "" {
		// A leader that gave up for a better candidate is not elected again: that candidate
		// would wait forever, which is another breach (CLE-08).
		return slices.MinFunc(answered, func(a, b *Candidate) int {
			return cmp.Or(-compareVersions(a, b), compare(a, b)) // defect: CLE-06-newest-first
		})
	}
	var lots []*Candidate
	for _, c := range answered {
		if (d.Has(defects.CLE07DrawsLots) || d.Has(defects.CLE17Flaps)) && compareVersions(c, best) == 0 {
			lots = append(lots, c) // defect: CLE-07-draws-lots
		}
	}
	if len(lots) > 0 {
		return lots[now.UnixMilli()%int64(len(lots))]
	}
	return best
}

// preempt looks for a better candidate than the leader, and makes the leader give up as
// soon as that candidate has answered.
func preempt(lease *coordinationv1.Lease, live []*Candidate, round Round, now time.Time, d defects.Set) Decision {
	better := betterThan(holder(lease), live, d)
	if len(better) == 0 || d.Has(defects.CLE08NeverPreempts) { // defect: CLE-08-never-preempts
		return restless(live, round, now, d)
	}
	decision, answered, waiting := ask(better, round, now, d)
	switch {
	case waiting > 0:
	case len(answered) == 0:
		return Decision{} // an answer starts the next decision
	default:
		best := Best(answered).Name
		decision.Write = &Write{Preferred: best, Strategy: Oldest}
		if d.Has(defects.CLE09TakesAtOnce) {
			decision.Write = &Write{Holder: best, Strategy: Oldest} // defect: CLE-09-takes-at-once
		}
	}
	return decision
}

// betterThan are the candidates that should lead in the place of a leader. One
// that is no candidate itself has no version that could be compared, so all are.
func betterThan(leader string, live []*Candidate, d defects.Set) []*Candidate {
	var itself *Candidate
	for _, c := range live {
		if c.Name == leader {
			itself = c
		}
	}
	var better []*Candidate
	for _, c := range live {
		switch {
		case c == itself:
		case itself == nil, compareVersions(c, itself) < 0:
			better = append(better, c)
		case compareVersions(c, itself) == 0 && d.Has(defects.CLE17Flaps):
			better = append(better, c) // defect: CLE-17-flaps
		}
	}
	return better
}

// restless pings all candidates again and again, if that defect is planted. Otherwise the
// coordinator pings no candidate while the leader is healthy.
func restless(live []*Candidate, round Round, now time.Time, d defects.Set) Decision {
	if !d.Has(defects.CLE15Restless) {
		return Decision{}
	}
	if now.Sub(round.Began) > AnswerWindow {
		round = Round{}
	}
	decision, _, _ := ask(live, round, now, d) // defect: CLE-15-restless
	decision.Recheck = AnswerWindow
	return decision
}

// ask returns the candidates to ping, those that have answered in this round, and the
// number of those to wait for. It skips candidates that have left an earlier ping
// unanswered: it pings them as soon as they answer that one.
func ask(candidates []*Candidate, round Round, now time.Time, d defects.Set) (decision Decision, answered []*Candidate, waiting int) {
	if round.Began.IsZero() {
		round = Round{Began: now}
	}
	decision = Decision{Round: round}
	over := now.Sub(round.Began) >= AnswerWindow
	for _, c := range candidates {
		ping, asked := round.Asked[c.UID]
		switch {
		case d.Has(defects.CLE05ElectsTheSilent), d.Has(defects.CLE16ElectsTheDead) && !Live(c, now, nil):
			answered = append(answered, c) // defect: CLE-05-elects-the-silent
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
