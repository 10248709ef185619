package stories

import (
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// atPoint tells a story in which something else happens at a point that has a name.
func atPoint(tell func(map[string]func(*Builder)) []history.Event, point string, do func(*Builder)) func(*story.Edit) {
	return func(e *story.Edit) {
		before := len(e.Events)
		e.Events = tell(map[string]func(*Builder){point: do})
		if len(e.Events) == before && do != nil {
			panic("the story does not come to " + point)
		}
	}
}

var leadership4355 = story.AnyOf(leaderLeases, candidatesStored, story.OfKind(history.KindProcess, history.KindFault))

// upgradeCases are how the story of an upgrade is changed.
var upgradeCases = []story.Case{
	{
		Requirement: "CLE-01", Reads: leadership4355,
		Fail: func(e *story.Edit) {
			e.Events[e.Find(1, candidateNamed("cp1_2"))].Stored.Candidate.Binary = "1.0.0"
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(managersOf("cp2"), story.OfKind(history.KindProcess))) },
	},
	{
		Requirement: "CLE-03", Reads: story.AnyOf(leadership4355, story.OfKind(history.KindReady)),
		Fail: func(e *story.Edit) { e.Drop(story.NthOf(e, 3, story.AllOf(candidateNamed("cp2_2"), answered))) },
		Weak: func(e *story.Edit) {
			e.Each(story.AllOf(candidatesStored, withPrefix("kube-system/cp2_")), func(ev *history.Event) {
				if ev.Stored.Candidate != nil {
					ev.Stored.Candidate.Pinged = time.Time{}
				}
			})
		},
	},
	{
		Requirement: "CLE-04", Reads: story.AnyOf(leadership4355, story.RequestsOfClass(history.ClassElection)),
		Fail: atPoint(Upgrade, "erased", func(h *Builder) { h.RenewFor(20, ManagersLease) }),
		Weak: func(e *story.Edit) {
			e.StopAt(e.Find(1, story.AllOf(leaderLeases, story.Deletions)))
		},
	},
	{
		Requirement: "CLE-08", Reads: leadership4355,
		Fail: atPoint(Upgrade, "older is back", func(h *Builder) { h.RenewFor(55) }),
		Also: story.Because("an old leader that stays for too long while releases are mixed is what that promise is about, too", "CLE-17"),
		Weak: func(e *story.Edit) { e.StopAt(e.Find(1, preferredHolderSet)) },
	},
	{
		Requirement: "CLE-09", Reads: story.AnyOf(leadership4355, story.RequestsOfClass(history.ClassElection)),
		Fail: func(e *story.Edit) {
			// Its last renewal is good for a minute.
			e.Events[e.Find(nthLast(e, heldBy("cp3_1")), heldBy("cp3_1"))].Stored.Lease.Duration = 60
		},
		Weak: func(e *story.Edit) {
			e.StopAt(e.Find(1, story.AllOf(story.OfKind(history.KindFault), story.OfMember("cp3"))))
		},
	},
	{
		Requirement: "CLE-11", Reads: leadership4355,
		Fail: atPoint(Upgrade, "crashed", func(h *Builder) { h.RenewFor(50, ManagersLease) }),
		Also: story.Because("a Lease without a leader is what that promise is about, whatever the reason", "RO-04"),
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(managersOf("cp3"), story.ExitsOf(history.ComponentControllerManager)))
		},
	},
	{
		Requirement: "CLE-17", Reads: leadership4355,
		Fail: atPoint(Upgrade, "at rest", func(h *Builder) {
			for _, who := range []string{"cp2_2", "cp1_2"} {
				h.PreferHolder(ManagersLease, who)
				h.ReleaseLease(ManagersLease)
				h.PingAndElect(ManagersLease, who)
				h.RenewFor(5)
			}
			h.PreferHolder(ManagersLease, "cp3_2")
			h.ReleaseLease(ManagersLease)
			h.PingAndElect(ManagersLease, "cp3_2")
		}),
		Weak: func(e *story.Edit) {
			e.StopAt(e.Find(1, story.AllOf(story.OfKind(history.KindProcess), story.ExitsOf(history.ComponentControllerManager))))
		},
	},
}

// processesCases are how the story of processes is changed.
var processesCases = []story.Case{
	{
		Requirement: "RO-03", Reads: story.AnyOf(leaderLeases, story.OfKind(history.KindProcess, history.KindReady, history.KindFault)),
		Fail: atPoint(Processes, "at rest", func(h *Builder) { h.Exit(h.Members[2], "exit status 2", false) }),
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfKind(history.KindProcess), story.OfMember("cp3"))) },
	},
}

// everyRunCases are how that story is changed for what every run owes.
var everyRunCases = []story.Case{
	{
		Requirement: "RO-04", Reads: leadership4355,
		Fail: atPoint(Upgrade, "crashed", func(h *Builder) { h.RenewFor(60, ManagersLease) }),
		Also: story.Because("a crash is what this leader is missing after", "CLE-11"),
		Weak: func(e *story.Edit) { e.Drop(story.AnyOf(candidatesStored, managerProcesses)) },
	},
	{
		Requirement: "RO-05", Reads: story.AnyOf(leaderLeases, leaderActions, story.OfKind(history.KindProcess, history.KindReady, history.KindFault)),
		Fail: atPoint(Upgrade, "at rest", func(h *Builder) { h.IdleFor(40) }),
		Weak: func(e *story.Edit) { e.Drop(leaderActions) },
	},
}

// impairedCases are how the story of those who cannot do what they have to is
// changed.
var impairedCases = []story.Case{
	{
		Requirement: "CLE-10", Reads: story.AnyOf(leaderLeases, leaderActions, managerProcesses, story.OfKind(history.KindFault)),
		Fail: atPoint(Impaired, "resumed", func(h *Builder) { h.Act("cp3_1") }),
		Weak: func(e *story.Edit) {
			e.Drop(story.OfKind(history.KindFault))
			e.Drop(pauses)
		},
	},
	{
		Requirement: "CLE-26", Reads: story.AnyOf(leaderLeases, coordinatorLeases, candidatesStored),
		Fail: func(e *story.Edit) { e.Events[e.Find(1, heldBy("cp1_1"))].Stored.Lease.Transitions++ },
		Weak: func(e *story.Edit) { e.Drop(coordinatorLeases) },
	},
	{
		Requirement: "CLE-12", Reads: story.AnyOf(leaderLeases, leaderActions, candidateNamed("cp3_1"), story.OfKind(history.KindProcess, history.KindFault, history.KindReady)),
		Fail: atPoint(Impaired, "cannot renew", func(h *Builder) {
			h.Advance(2000)
			h.RenewLease(coordinatorsLease)
			h.Act("cp3_1")
		}),
		Weak: func(e *story.Edit) {
			e.StopAt(e.Find(1, func(ev *history.Event) bool { return ev.Fault != nil && ev.Fault.Type == history.FaultHTTP }))
		},
	},
	{
		Requirement: "CLE-13", Reads: story.AnyOf(coordinatorLeases, coordinations, story.OfKind(history.KindProcess, history.KindFault, history.KindReady)),
		Fail: atPoint(Impaired, "can write", func(h *Builder) {
			c := h.Candidates["cp1_1"]
			c.Pinged, c.Coordinator = h.WallTime(), "cp3_c"
			h.StoreCandidate("cp1_1")
			h.AnswerPing("cp1_1")
		}),
		Weak: func(e *story.Edit) {
			e.Each(coordinations, func(ev *history.Event) {
				if ev.Stored.Lease != nil {
					ev.Stored.Lease.Coordinator = ""
				}
				if ev.Stored.Candidate != nil {
					ev.Stored.Candidate.Coordinator = ""
				}
			})
		},
	},
	{
		Requirement: "CLE-20", Reads: story.AnyOf(leaderLeases, candidatesStored, story.OfKind(history.KindProcess, history.KindFault), story.AllOf(story.OfKind(history.KindReady), story.OfMember("cp2"))),
		Fail: atPoint(Impaired, "no coordinator", func(h *Builder) {
			h.Advance(65_000)
			h.AnswerReady(h.Members[1], 200, false)
		}),
		Weak: func(e *story.Edit) { e.Drop(story.OfKind(history.KindFault)) },
	},
	{
		Requirement: "CLE-24", Reads: story.AnyOf(leaderLeases, candidatesStored, story.OfKind(history.KindProcess, history.KindFault)),
		Fail: atPoint(Impaired, "can write", func(h *Builder) { h.RenewFor(40, ManagersLease) }),
		Weak: func(e *story.Edit) {
			e.Drop(func(ev *history.Event) bool { return ev.Fault != nil && ev.Fault.Type == history.FaultKeys })
		},
	},
}

// seizedCases are how the story of a Lease that is taken by force is changed.
var seizedCases = []story.Case{
	{
		Requirement: "CLE-14", Reads: story.AnyOf(coordinatorLeases, story.OfKind(history.KindProcess, history.KindFault), story.AllOf(story.OfKind(history.KindReady), story.OfMember("cp1"))),
		Fail: atPoint(Seized, "seized", func(h *Builder) {
			cp1 := h.Members[0]
			h.Exit(cp1, "exit status 1", false)
			h.Start(cp1, cp1.Release)
			h.AnswerReady(cp1, 200, true)
		}),
		Weak: func(e *story.Edit) {
			e.StopAt(e.Find(2, heldBy(history.AbsentHolder)))
		},
	},
}

// extraElectionsCases are how the story of the harness's own participants is changed.
var extraElectionsCases = []story.Case{
	{
		Requirement: "CLE-05", Reads: story.AnyOf(leaderLeases, candidatesStored),
		Fail: atPoint(ExtraElections, "evenkeel-rowers-mute", nil),
		Weak: func(e *story.Edit) {
			e.Drop(candidateNamed("evenkeel-rowers-mute"))
			e.Drop(candidateNamed("evenkeel-rowers-dead"))
		},
	},
	{
		Requirement: "CLE-06", Reads: story.AnyOf(leaderLeases, candidatesStored),
		Fail: atPoint(ExtraElections, "again", func(h *Builder) {
			h.DeleteLease(h.Members[0], extraLease)
			h.PingAndElect(extraLease, "evenkeel-rowers-newer", "evenkeel-rowers-old", "evenkeel-rowers-twin")
		}),
		Weak: func(e *story.Edit) { e.Drop(candidateNamed("evenkeel-rowers-newer")) },
	},
	{
		Requirement: "CLE-07", Reads: story.AnyOf(leaderLeases, candidatesStored),
		Fail: atPoint(ExtraElections, "again", func(h *Builder) {
			h.DeleteLease(h.Members[0], extraLease)
			h.PingAndElect(extraLease, "evenkeel-rowers-twin", "evenkeel-rowers-old", "evenkeel-rowers-newer")
		}),
		Weak: func(e *story.Edit) { e.Drop(candidateNamed("evenkeel-rowers-twin")) },
	},
	{
		Requirement: "CLE-16", Reads: story.AnyOf(leaderLeases, candidatesStored),
		Fail: atPoint(ExtraElections, "evenkeel-rowers-dead", nil),
		Also: story.Because("a candidate that expired has not answered lately, either", "CLE-05"),
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(candidateNamed("evenkeel-rowers-dead"), story.Deletions)) },
	},
	{
		Requirement: "CLE-21", Reads: story.AnyOf(leaderLeases, candidatesStored, story.RequestsOfClass(history.ClassElection)),
		Fail: atPoint(ExtraElections, "drafted", func(h *Builder) {
			l := h.Leases["kube-system/evenkeel-draft"]
			l.Holder, l.Renewed = "evenkeel-draft-a", h.WallTime()
			h.StoreLease("kube-system/evenkeel-draft")
		}),
		Weak: func(e *story.Edit) { e.StopAt(e.Find(1, heldBy(history.ThirdPartyHolder))) },
	},
	{
		Requirement: "CLE-23", Reads: story.AnyOf(leaderLeases, candidatesStored, story.RequestsOfClass(history.ClassElection), story.OfKind(history.KindReady, history.KindProcess)),
		Fail: func(e *story.Edit) { e.Events[e.Find(1, oddLeases)].Request.Code = 500 },
		Weak: func(e *story.Edit) { e.Drop(oddLeases) },
	},
}

// steadyCases are how the story in which nothing happens is changed.
var steadyCases = []story.Case{
	{
		Requirement: "CLE-02", Reads: leadership4355,
		Fail: atPoint(Steady, "alone", func(h *Builder) { h.AnswerPing("cp1_1") }),
		Weak: func(e *story.Edit) { e.StopAt(e.Find(3, story.AllOf(candidateNamed("cp1_1"), answered))) },
	},
	{
		Requirement: "CLE-15", Reads: leadership4355,
		Fail: atPoint(Steady, "alone", func(h *Builder) {
			h.Ping("cp1_1")
			h.AnswerPing("cp1_1")
		}),
		Weak: func(e *story.Edit) { e.StopAt(e.Find(6, story.AllOf(leaderLeases, heldBy("cp1_1")))) },
	},
	{
		Requirement: "RO-10", Reads: leadership4355,
		Fail: func(e *story.Edit) {
			e.Each(candidateNamed("cp3_1"), func(ev *history.Event) { ev.Stored.Candidate.Lease = "kube-controller-manager-next" })
		},
		Weak: func(e *story.Edit) { e.Drop(candidateNamed("cp3_1")) },
	},
}

// leaderLeases are the changes of Leases of leaders.
func leaderLeases(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, "/registry/leases/") && (ev.Stored.Lease == nil || !ev.Stored.Lease.Identity)
}

func coordinatorLeases(ev *history.Event) bool {
	return leaderLeases(ev) && strings.HasSuffix(ev.Stored.Key, "/"+coordinatorsLease) && ev.Stored.Lease != nil
}

// heldBy are the changes of Leases that leave it to a holder.
func heldBy(holder string) story.Match {
	return func(ev *history.Event) bool {
		return leaderLeases(ev) && ev.Stored.Lease != nil && ev.Stored.Lease.Holder == holder
	}
}

func preferredHolderSet(ev *history.Event) bool {
	return leaderLeases(ev) && ev.Stored.Lease != nil && ev.Stored.Lease.Preferred != ""
}

func candidatesStored(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, "/registry/leasecandidates/")
}

func candidateNamed(name string) story.Match {
	return story.AllOf(candidatesStored, withPrefix("kube-system/"+name))
}

// withPrefix are the changes of objects whose name begins so.
func withPrefix(name string) story.Match {
	return func(ev *history.Event) bool { return ev.Stored != nil && strings.HasPrefix(ev.Stored.Name, name) }
}

func answered(ev *history.Event) bool {
	return ev.Stored.Candidate != nil && ev.Stored.Candidate.Answered()
}

// coordinations are what coordinators write, but for their own Lease, and what
// answers it.
func coordinations(ev *history.Event) bool {
	return candidatesStored(ev) || leaderLeases(ev) && !coordinatorLeases(ev)
}

func leaderActions(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.LeaderAction != nil }

func managerProcesses(ev *history.Event) bool {
	return ev.Process != nil && ev.Process.Component == history.ComponentControllerManager
}

func managersOf(member string) story.Match {
	return story.AllOf(managerProcesses, story.OfMember(member))
}

func pauses(ev *history.Event) bool {
	return ev.Process != nil && (ev.Process.Change == history.ProcessPaused || ev.Process.Change == history.ProcessResumed)
}

func oddLeases(ev *history.Event) bool {
	return ev.Request != nil && ev.Request.Election == history.ElectionMalformed
}

// nthLast is the number of the last event that fits.
func nthLast(e *story.Edit, fits story.Match) int {
	n := 0
	for i := range e.Events {
		if fits(&e.Events[i]) {
			n++
		}
	}
	return n
}
