package planted

import (
	"cmp"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/election"
)

// around changes a decision: it may decide otherwise than next does.
type around func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision

// Decide gives how a coordinator decides with the defects of a set.
func Decide(d defects.Set) election.Decider {
	decide := election.Decider(election.Decide)
	for _, p := range decisions(d) {
		if d.Has(p.id) {
			next := decide
			decide = func(v election.View, round election.Round, now time.Time) election.Decision {
				return p.around(next, v, round, now)
			}
		}
	}
	return decide
}

type plantedDecision struct {
	id     defects.ID
	around around
}

// decisions are the defects of decisions; a later one is around those before.
func decisions(d defects.Set) []plantedDecision {
	return []plantedDecision{
		{defects.CLE16ElectsTheDead, electsTheDead},              // defect: CLE-16-elects-the-dead
		{defects.CLE05ElectsTheSilent, electsTheSilent},          // defect: CLE-05-elects-the-silent
		{defects.CLE06NewestFirst, newestFirst},                  // defect: CLE-06-newest-first
		{defects.EV05BinaryFirst, binaryFirst},                   // defect: EV-05-binary-first
		{defects.CLE07DrawsLots, drawsLots},                      // defect: CLE-07-draws-lots
		{defects.CLE17Flaps, flaps},                              // defect: CLE-17-flaps
		{defects.CLE08NeverPreempts, neverPreempts},              // defect: CLE-08-never-preempts
		{defects.CLE09TakesAtOnce, takesAtOnce},                  // defect: CLE-09-takes-at-once
		{defects.CLE15Restless, restless(election.AnswerWindow)}, // defect: CLE-15-restless
		{defects.CLE15RestlessLate, after(d.Delay(defects.CLE15RestlessLate), led, restless(d.Delay(defects.CLE15RestlessLate)))}, // defect: CLE-15-restless-late
		{defects.CLE19MarksLegacy, marksLegacy},           // defect: CLE-19-marks-legacy
		{defects.CLE21Assigns, assigns},                   // defect: CLE-21-assigns
		{defects.CLE18TakesFromLegacy, takesFromLegacy},   // defect: CLE-18-takes-from-legacy
		{defects.CLE11NeverTakesExpired, leaves(expired)}, // defect: CLE-11-never-takes-expired
		{defects.CLE04LeavesVacant, leaves(missing)},      // defect: CLE-04-leaves-vacant
		{defects.CLE22Balks, leaves(mixed)},               // defect: CLE-22-balks
		{defects.CLE22Hesitates, waits(d.Delay(defects.CLE22Hesitates), func(v election.View, now time.Time) bool { return open(v, now) && mixed(v, now) })}, // defect: CLE-22-hesitates
		{defects.CLE04Hesitates, waits(d.Delay(defects.CLE04Hesitates), missing)},                                                                            // defect: CLE-04-hesitates
		{defects.RO04WaitsForPreferred, leaves(forsaken)},                                                                                                    // defect: RO-04-waits-for-preferred
		{defects.RO04ElectsNoOther, leavesFree(forever)},                                                                                                     // defect: RO-04-elects-no-other
		{defects.RO04WaitsAMinute, leavesFree(d.Delay(defects.RO04WaitsAMinute))},                                                                            // defect: RO-04-waits-a-minute
		{defects.CLE11ReplacesLate, replacesLate(d.Delay(defects.CLE11ReplacesLate))},                                                                        // defect: CLE-11-replaces-late
		{defects.CLE08PreemptsLate, overlooksNew(d.Delay(defects.CLE08PreemptsLate))},                                                                        // defect: CLE-08-preempts-late
		{defects.CLE27WaitsForAnother, waitsForAnother},                                                                                                      // defect: CLE-27-waits-for-another-election
		{defects.CLE29GoesByVersion, goesByVersion},                                                                                                          // defect: CLE-29-goes-by-version
		{defects.CLE30MarksAnyway, marksAnyway},                                                                                                              // defect: CLE-30-marks-anyway
		{defects.CLE32MarksClaims, marksClaims},                                                                                                              // defect: CLE-32-marks-claims
		{defects.CLE27FollowsLate, followsLate(d.Delay(defects.CLE27FollowsLate))},                                                                           // defect: CLE-27-follows-late
		{defects.CLE31CountsLate, keepsOldVersions(d.Delay(defects.CLE31CountsLate))},                                                                        // defect: CLE-31-counts-late
		{defects.CLE31KeepsOldVersions, keepsOldVersions(forever)},                                                                                           // defect: CLE-31-keeps-old-versions
		{defects.CLE17FlapsSlowly, after(d.Delay(defects.CLE17FlapsSlowly), led, flaps)},                                                                     // defect: CLE-17-flaps-slowly
		{defects.CLE21AssignsLate, whenLong(d.Delay(defects.CLE21AssignsLate), ledByThirdParty, takesFromThirdParty)},                                        // defect: CLE-21-assigns-late
		{defects.CLE30MarksLate, whenLong(d.Delay(defects.CLE30MarksLate), outrankedUncoordinated, marksAnyway)},                                             // defect: CLE-30-marks-late
		{defects.CLE32MarksLate, whenLong(d.Delay(defects.CLE32MarksLate), outrankedClaimant, marksClaims)},                                                  // defect: CLE-32-marks-late
		{defects.CLE23FallsOver, fallsOver},                                                                                                                  // defect: CLE-23-falls-over
	}
}

// forever is longer than any run.
const forever = time.Hour

func live(v election.View, now time.Time) []*election.Candidate {
	return election.Living(v.Candidates, now)
}

func open(v election.View, now time.Time) bool {
	free, _ := election.Vacant(v.Lease, v.Since, now)
	return free
}

func missing(v election.View, _ time.Time) bool { return v.Lease == nil }

func expired(v election.View, now time.Time) bool { return open(v, now) && holder(v.Lease) != "" }

// forsaken is whether the Lease names a preferred holder that is no candidate any more.
func forsaken(v election.View, now time.Time) bool {
	if v.Lease == nil {
		return false
	}
	preferred := ptr.Deref(v.Lease.Spec.PreferredHolder, "")
	return preferred != "" && !slices.ContainsFunc(live(v, now), func(c *election.Candidate) bool { return c.Name == preferred })
}

func mixed(v election.View, now time.Time) bool {
	all := live(v, now)
	return slices.ContainsFunc(all, func(c *election.Candidate) bool { return c.Spec.Strategy != all[0].Spec.Strategy })
}

func holder(l *coordinationv1.Lease) string {
	if l == nil {
		return ""
	}
	return ptr.Deref(l.Spec.HolderIdentity, "")
}

// leaves does nothing about a Lease while a condition holds.
func leaves(when func(election.View, time.Time) bool) around {
	return func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
		if when(v, now) {
			return election.Decision{}
		}
		return next(v, round, now)
	}
}

// waits does nothing about a Lease for a while after its last change.
func waits(long time.Duration, when func(election.View, time.Time) bool) around {
	return func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
		if pause := v.Since.Add(long).Sub(now); pause > 0 && when(v, now) && len(live(v, now)) > 0 {
			return election.Decision{Recheck: pause}
		}
		return next(v, round, now)
	}
}

// leavesFree leaves a Lease that had a leader without one for a while.
func leavesFree(long time.Duration) around {
	return func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
		if v.Lease == nil || !open(v, now) || len(live(v, now)) == 0 {
			return next(v, round, now)
		}
		pause := vacantSince(v).Add(long).Sub(now)
		if long == forever {
			pause = long
		}
		if pause > 0 {
			return election.Decision{Recheck: pause}
		}
		return next(v, round, now)
	}
}

// replacesLate leaves a Lease that has expired without a leader for a while.
func replacesLate(long time.Duration) around {
	late := leavesFree(long)
	return func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
		if holder(v.Lease) == "" {
			return next(v, round, now)
		}
		return late(next, v, round, now)
	}
}

// vacantSince is when a Lease that exists was given up, or expired.
func vacantSince(v election.View) time.Time {
	if _, left := election.Vacant(v.Lease, v.Since, v.Since); holder(v.Lease) != "" {
		return v.Since.Add(left)
	}
	return v.Since
}

// overlooksNew leaves out new candidates other than the leader for a while.
func overlooksNew(long time.Duration) around {
	var known defects.Waits
	return func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
		if holder(v.Lease) == "" {
			return next(v, round, now)
		}
		soon := time.Duration(0)
		v.Candidates = slices.DeleteFunc(slices.Clone(v.Candidates), func(c *election.Candidate) bool {
			left := known.Left(string(c.UID), now, long)
			if left == 0 || c.Name == holder(v.Lease) {
				return false
			}
			if soon == 0 || left < soon {
				soon = left
			}
			return true
		})
		return sooner(next(v, round, now), soon)
	}
}

// disguised decides on candidates that look otherwise, and names the real ones.
func disguised(look func(*election.Candidate), next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	real := map[string]*election.Candidate{}
	masked := make([]*election.Candidate, len(v.Candidates))
	for i, c := range v.Candidates {
		real[c.Name], masked[i] = c, c.DeepCopy()
		look(masked[i])
	}
	v.Candidates = masked
	decision := next(v, round, now)
	for i, c := range decision.Ping {
		decision.Ping[i] = real[c.Name]
	}
	return decision
}

// assigns takes every strategy for its own.
func assigns(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	lease := v.Lease
	if lease != nil && election.Chosen(lease) != "" {
		v.Lease = lease.DeepCopy()
		v.Lease.Spec.Strategy = ptr.To(election.Oldest)
	}
	return disguised(func(c *election.Candidate) { c.Spec.Strategy = election.Oldest }, next, v, round, now)
}

// marksLegacy takes a Lease that an instance claimed by itself for one that it gave away.
func marksLegacy(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	if v.Lease != nil && ptr.Deref(v.Lease.Spec.Strategy, "") == "" {
		v.Lease = v.Lease.DeepCopy()
		v.Lease.Spec.Strategy = ptr.To(election.Oldest)
	}
	return next(v, round, now)
}

// marksClaims takes a Lease that an instance with coordination claimed for one that it gave away.
func marksClaims(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	if v.Lease != nil && ptr.Deref(v.Lease.Spec.Strategy, "") != "" && holder(v.Lease) != "" {
		v.Lease = v.Lease.DeepCopy()
		metav1.SetMetaDataAnnotation(&v.Lease.ObjectMeta, election.ElectedBy, election.ElectedByValue)
	}
	return next(v, round, now)
}

// takesFromLegacy takes the Lease of an instance without coordination for expired.
func takesFromLegacy(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	if v.Lease != nil && ptr.Deref(v.Lease.Spec.Strategy, "") == "" {
		v.Since = now.Add(-forever)
	}
	return next(v, round, now)
}

// takesAtOnce gives the Lease of a leader away instead of marking it.
func takesAtOnce(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	decision := next(v, round, now)
	if w := decision.Write; w != nil && w.Preferred != "" {
		decision.Write = &election.Write{On: w.On, Holder: w.Preferred, Strategy: w.Strategy}
	}
	return decision
}

// neverPreempts leaves a leader as long as it renews.
func neverPreempts(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	decision := next(v, round, now)
	free, left := election.Vacant(v.Lease, v.Since, now)
	switch {
	case !free && left > election.AnswerWindow:
		return election.Decision{Recheck: left - election.AnswerWindow}
	case decision.Write != nil && decision.Write.Preferred != "":
		return election.Decision{Recheck: left}
	}
	return decision
}

// restless pings all candidates every so often while the leader is healthy.
func restless(every time.Duration) around {
	return func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
		decision := next(v, round, now)
		if open(v, now) || decision.Write != nil || len(decision.Ping) > 0 || !decision.Round.Began.IsZero() {
			return decision
		}
		if now.Sub(round.Began) >= every {
			return election.Decision{Ping: live(v, now), Round: election.Round{Began: now}, Recheck: every}
		}
		return election.Decision{Round: round, Recheck: round.Began.Add(every).Sub(now)}
	}
}

// fallsOver ends the process when it meets a Lease that does not say when it was renewed.
func fallsOver(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	if v.Lease != nil {
		renewed := v.Lease.Spec.RenewTime
		go func() { _ = renewed.Time.Unix() }()
	}
	return next(v, round, now)
}

// after decides as a defect does only when something has lasted for a while.
func after(long time.Duration, since func(v election.View, now time.Time) time.Time, planted around) around {
	return func(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
		left := since(v, now).Add(long).Sub(now)
		if left <= 0 {
			return planted(next, v, round, now)
		}
		decision := next(v, round, now)
		if decision.Recheck == 0 || left < decision.Recheck {
			decision.Recheck = left
		}
		return decision
	}
}

// led is when the holder of the Lease took it.
func led(v election.View, _ time.Time) time.Time {
	if v.Lease == nil || v.Lease.Spec.AcquireTime == nil {
		return v.Since
	}
	return v.Lease.Spec.AcquireTime.Time
}

// answered are the candidates that have answered in a round.
func answered(v election.View, round election.Round, now time.Time) []*election.Candidate {
	return slices.DeleteFunc(slices.Clone(live(v, now)), func(c *election.Candidate) bool {
		ping, asked := round.Asked[c.UID]
		return !asked || !election.Answered(c, ping)
	})
}

// elects changes whom an election elects.
func elects(v election.View, next election.Decider, round election.Round, now time.Time, choose func(from []*election.Candidate) *election.Candidate) election.Decision {
	decision := next(v, round, now)
	if w := decision.Write; w != nil && w.Holder != "" {
		if from := answered(v, decision.Round, now); len(from) > 0 {
			decision.Write = &election.Write{On: w.On, Holder: choose(from).Name, Strategy: w.Strategy}
		}
	}
	return decision
}

// newestFirst elects the newest candidate. A leader that gave up for a better candidate is
// not elected again: that candidate would wait forever, which is another breach (CLE-08).
func newestFirst(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	if v.Lease != nil && ptr.Deref(v.Lease.Spec.PreferredHolder, "") != "" {
		return next(v, round, now)
	}
	newest, _ := election.OrderOf(election.Newest)
	return elects(v, next, round, now, newest.Best)
}

// binaryFirst has what candidates emulate decide only between those of the same binary.
func binaryFirst(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	return disguised(func(c *election.Candidate) {
		if c.Spec.EmulationVersion != "" {
			c.Spec.BinaryVersion, c.Spec.EmulationVersion = c.Spec.EmulationVersion, c.Spec.BinaryVersion
		}
	}, next, v, round, now)
}

// drawsLots elects any one of equal candidates.
func drawsLots(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	return elects(v, next, round, now, func(from []*election.Candidate) *election.Candidate { return lot(from, now) })
}

// lot is any one of the candidates that no other one's version comes before.
func lot(from []*election.Candidate, now time.Time) *election.Candidate {
	oldest, _ := election.OrderOf(election.Oldest)
	best := oldest.Best(from)
	equal := slices.DeleteFunc(slices.Clone(from), func(c *election.Candidate) bool { return oldest(c, best) != 0 })
	return equal[now.UnixMilli()%int64(len(equal))]
}

// flaps draws lots, and takes a leader for newer than its like.
func flaps(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	if open(v, now) {
		return drawsLots(next, v, round, now)
	}
	leader := holder(v.Lease)
	return disguised(func(c *election.Candidate) {
		if is, err := version.ParseSemantic(c.Spec.BinaryVersion); err == nil && c.Name == leader {
			c.Spec.BinaryVersion = is.WithPatch(is.Patch() + 1).String()
		}
	}, next, v, round, now)
}

// electsTheSilent elects candidates that it has not asked whether they are there.
func electsTheSilent(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	decision := next(v, round, now)
	if all := live(v, now); open(v, now) && decision.Write == nil && len(all) > 0 {
		strategy := election.StrategyOf(v.Lease, all)
		if order, elects := election.OrderOf(strategy); elects {
			return election.Decision{Write: &election.Write{On: v.Lease, Holder: order.Best(all).Name, Strategy: strategy}}
		}
	}
	return decision
}

// electsTheDead counts candidates that have expired as if they had answered.
func electsTheDead(next election.Decider, v election.View, round election.Round, now time.Time) election.Decision {
	decision := next(v, round, now)
	dead := slices.DeleteFunc(slices.Clone(v.Candidates), func(c *election.Candidate) bool { return election.Live(c, now) })
	if len(dead) == 0 || !open(v, now) {
		return decision
	}
	from := dead
	switch {
	case decision.Write != nil && decision.Write.Holder != "":
		from = append(from, answered(v, decision.Round, now)...)
	case len(live(v, now)) > 0:
		return decision
	}
	strategy := cmp.Or(election.Chosen(v.Lease), election.Resolve(from))
	if order, elects := election.OrderOf(strategy); elects {
		decision.Write = &election.Write{On: v.Lease, Holder: order.Best(from).Name, Strategy: strategy}
	}
	return decision
}
