package stories

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	canaryLease     = "kube-system/evenkeel-canary"
	rankedLease     = "kube-system/evenkeel-ranked"
	freeLease       = "kube-system/evenkeel-free"
	redeclaredLease = "kube-system/evenkeel-redeclared"
	newestStrategy  = "NewestEmulationVersion"
	notCoordinated  = "NoCoordination"
)

// strategyStory is a run in which an operator sets strategies, candidates want different
// ones, and a candidate declares another version.
func strategyStory() []history.Event { return Strategy(nil) }

// Strategy builds strategyStory with further events at its points: chosen, taken back, ranked, claimed,
// redeclared.
func Strategy(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	cp1 := h.Members[0]
	h.ServeAll()

	older, newer := "evenkeel-canary-old", "evenkeel-canary-new"
	h.Declare(older, canaryLease, "1.2.0", "1.2.0")
	h.Declare(newer, canaryLease, "1.3.0", "1.3.0")
	h.Advance(2500)
	h.PingAndElect(canaryLease, older, newer)
	h.Advance(2500)
	h.choose(cp1, canaryLease, newestStrategy)
	h.point("chosen")
	h.handOver(canaryLease, newestStrategy, newer, older)
	h.Advance(2500)
	h.choose(cp1, canaryLease, oldestStrategy)
	h.handOver(canaryLease, oldestStrategy, older, newer)
	h.RenewLease(coordinatorsLease)
	h.Advance(2500)
	h.point("taken back")

	low, high := "evenkeel-ranked-old", "evenkeel-ranked-new"
	h.declareStrategy(low, rankedLease, "1.2.0", newestStrategy)
	h.declareStrategy(high, rankedLease, "1.3.0", oldestStrategy)
	h.Advance(2500)
	for range 2 {
		h.electBy(rankedLease, newestStrategy, high, low)
		h.Advance(1000)
		h.DeleteLease(cp1, rankedLease)
		h.Advance(100)
	}
	h.point("ranked")
	if h.Leases[rankedLease] != nil {
		h.DeleteLease(cp1, rankedLease)
		h.Advance(100)
	}
	h.electBy(rankedLease, newestStrategy, high, low)
	h.RenewLease(coordinatorsLease)

	first, second := "evenkeel-free-first", "evenkeel-free-older"
	h.declareStrategy(first, freeLease, "1.3.0", notCoordinated)
	h.declareStrategy(second, freeLease, "1.2.0", oldestStrategy)
	h.Advance(2500)
	h.Leases[freeLease] = &history.Lease{Duration: 10, Strategy: notCoordinated, Coordinator: h.Coordinator()}
	h.StoreLease(freeLease)
	h.Advance(300)
	l := h.Leases[freeLease]
	l.Holder, l.Duration, l.Renewed, l.Acquired = first, 3600, h.WallTime(), h.WallTime()
	h.StoreLease(freeLease)
	h.request(cp1, history.ElectionParticipate, "leases", freeLease)
	h.Advance(6000)
	h.RenewLease(coordinatorsLease)
	h.point("claimed")

	a, b := "evenkeel-redeclared-a", "evenkeel-redeclared-b"
	h.Declare(a, redeclaredLease, "1.2.0", "1.2.0")
	h.Declare(b, redeclaredLease, "1.3.0", "1.3.0")
	h.Advance(2500)
	h.PingAndElect(redeclaredLease, a, b)
	h.Advance(2500)
	h.Candidates[b].Binary, h.Candidates[b].Emulation = "1.1.0", "1.1.0"
	h.StoreCandidate(b)
	h.point("redeclared")
	h.handOver(redeclaredLease, oldestStrategy, b, a)
	h.RenewLease(coordinatorsLease)
	return h.end()
}

// choose has the harness, as an operator, set the strategy of a Lease.
func (h *Builder) choose(m *story.Member, lease, strategy string) {
	h.Leases[lease].Strategy = strategy
	h.StoreLease(lease)
	h.request(m, history.ElectionChoose, "leases", lease)
	h.Advance(20)
}

// request records the request of the harness that made the last revision.
func (h *Builder) request(m *story.Member, how, resource, name string) {
	h.Request(m, history.Request{
		Class: history.ClassElection, Election: how, Verb: "update", Group: "coordination.k8s.io", Version: "v1",
		Resource: resource, Name: name, Code: 200, ResourceVersion: h.Revision,
	})
}

// handOver has a coordinator tell the leader to give way to the first of some candidates, and
// elect that one.
func (h *Builder) handOver(lease, strategy string, names ...string) {
	h.Ping(names[0])
	h.AnswerPing(names[0])
	h.PreferHolder(lease, names[0])
	h.ReleaseLease(lease)
	h.electBy(lease, strategy, names...)
}

// electBy has a coordinator elect the first of some candidates, which all answer, by a strategy.
func (h *Builder) electBy(lease, strategy string, names ...string) {
	h.Ping(names...)
	h.AnswerPing(names...)
	transitions := 0
	if l := h.Leases[lease]; l != nil {
		transitions = l.Transitions + 1
	}
	h.Leases[lease] = &history.Lease{
		Holder: names[0], Duration: 10, Acquired: h.WallTime(), Renewed: h.WallTime(), Transitions: transitions, Strategy: strategy, Coordinator: h.Coordinator(),
	}
	h.StoreLease(lease)
	h.Advance(30)
	h.RenewLease(lease)
}

// keepFor lets time pass while the leader of a Lease and the coordinator renew.
func (h *Builder) keepFor(seconds int, lease string) {
	for range seconds / 5 {
		h.Advance(5000)
		h.RenewLease(coordinatorsLease)
		h.RenewLease(lease)
	}
}

// fallbackStory is a run in which a member claims the Lease of the managers while no server
// coordinates, and a coordinator comes back beside a better candidate.
func fallbackStory() []history.Event { return Fallback(nil) }

// Fallback builds fallbackStory with further events at its points: coordinated.
func Fallback(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	cp1, cp2 := h.Members[0], h.Members[1]
	h.ServeAll()
	a := h.StartManager(cp1, "1.3")
	h.Advance(2500)
	h.PingAndElect(ManagersLease, a)
	h.RenewFor(5)
	h.ReleaseLease(ManagersLease)
	h.Advance(30_000)
	h.uncoordinated = true
	h.Elect(ManagersLease, a)
	h.uncoordinated = false
	h.RenewFor(5)
	h.Coordinate("cp3_c")
	h.RenewFor(5)
	h.StartManager(cp2, "1.2")
	h.Advance(2500)
	h.point("coordinated")
	h.RenewFor(15)
	return h.end()
}

// fallbackCases are how that story is changed.
var fallbackCases = []story.Case{
	{
		Requirement: "CLE-32", Reads: strategyEvidence,
		Fail: atPoint(Fallback, "coordinated", func(h *Builder) { h.PreferHolder(ManagersLease, "cp2_1") }),
		Weak: func(e *story.Edit) { e.Drop(candidateNamed("cp2_1")) },
	},
}

var strategyEvidence = story.AnyOf(leaderLeases, candidatesStored, story.RequestsOfClass(history.ClassElection), story.OfKind(history.KindProcess, history.KindFault, history.KindReady))

// strategyCases are how that story is changed.
var strategyCases = []story.Case{
	{
		Requirement: "CLE-27", Reads: strategyEvidence,
		Fail: atPoint(Strategy, "chosen", func(h *Builder) { h.keepFor(55, canaryLease) }),
		Weak: func(e *story.Edit) { e.StopAt(e.Find(1, strategyRequests)) },
	},
	{
		Requirement: "CLE-28", Reads: strategyEvidence,
		Fail: atPoint(Strategy, "taken back", func(h *Builder) {
			h.Leases[canaryLease].Strategy = newestStrategy
			h.PreferHolder(canaryLease, "evenkeel-canary-new")
		}),
		Weak: func(e *story.Edit) { e.Drop(strategyRequests) },
	},
	{
		Requirement: "CLE-29", Reads: strategyEvidence,
		Fail: atPoint(Strategy, "ranked", func(h *Builder) { h.electBy(rankedLease, oldestStrategy, "evenkeel-ranked-old", "evenkeel-ranked-new") }),
		Weak: func(e *story.Edit) { e.Drop(candidateNamed("evenkeel-ranked-old")) },
	},
	{
		Requirement: "CLE-30", Reads: strategyEvidence,
		Fail: atPoint(Strategy, "claimed", func(h *Builder) { h.PreferHolder(freeLease, "evenkeel-free-older") }),
		Weak: func(e *story.Edit) { e.StopAt(e.Find(1, heldBy("evenkeel-free-first"))) },
	},
	{
		Requirement: "CLE-31", Reads: strategyEvidence,
		Fail: atPoint(Strategy, "redeclared", func(h *Builder) { h.keepFor(55, redeclaredLease) }),
		Also: story.Because("a better candidate that waits for too long is what that promise is about, too", "CLE-08"),
		Weak: func(e *story.Edit) {
			e.StopAt(e.Find(1, story.AllOf(candidateNamed("evenkeel-redeclared-b"), func(ev *history.Event) bool { return ev.Stored.Candidate.Binary == "1.1.0" })))
		},
	},
}

func strategyRequests(ev *history.Event) bool {
	return ev.Request != nil && ev.Request.Election == history.ElectionChoose
}
