package main

import (
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// besides tells a story in which something else happens at a point that has a name.
func besides(tell func(map[string]func(*helm)) []history.Event, point string, do func(*helm)) func(*edit) {
	return func(e *edit) {
		before := len(e.events)
		e.events = tell(map[string]func(*helm){point: do})
		if len(e.events) == before && do != nil {
			panic("the story does not come to " + point)
		}
	}
}

var leading4355 = either(leaderLeases, candidatesStored, kinds(history.KindProcess, history.KindFault))

// electionCases are how the story of an upgrade is changed.
var electionCases = []testCase{
	{
		id: "CLE-01", reads: leading4355,
		fails: `candidate kube-system/cp1_2 says that it is "1.0.0", and cp1 runs 1.3`,
		fail: func(e *edit) {
			e.events[e.find(1, candidateNamed("cp1_2"))].Stored.Candidate.Binary = "1.0.0"
		},
		why:  "saw 0 processes that declared themselves candidates, of the member with the fewest, and needs at least 1",
		weak: func(e *edit) { e.drop(both(managersOf("cp2"), kinds(history.KindProcess))) },
	},
	{
		id: "CLE-03", reads: leading4355,
		fails: "candidate kube-system/cp2_2 did not answer a ping within",
		fail:  func(e *edit) { e.drop(nthOf(e, 3, both(candidateNamed("cp2_2"), answered))) },
		why:   "saw 0 pings answered, of the member with the fewest, and needs at least 1",
		weak: func(e *edit) {
			e.each(both(candidatesStored, named("kube-system/cp2_")), func(ev *history.Event) {
				if ev.Stored.Candidate != nil {
					ev.Stored.Candidate.Pinged = time.Time{}
				}
			})
		},
	},
	{
		id: "CLE-04", reads: either(leading4355, requests(history.ClassElection)),
		fails: "there is no Lease kube-system/kube-controller-manager for",
		fail:  besides(tellElection, "erased", func(h *helm) { h.sail(20, managersLease) }),
		why:   "saw 0 of those, Leases that had been deleted, and needs at least 1",
		weak: func(e *edit) {
			e.stopAt(e.find(1, both(leaderLeases, deletions)))
		},
	},
	{
		id: "CLE-08", reads: leading4355,
		fails: "cp1_2 (1.3.0) has held kube-system/kube-controller-manager for",
		fail:  besides(tellElection, "older is back", func(h *helm) { h.sail(55) }),
		also:  because("an old leader that stays for too long while releases are mixed is what that promise is about, too", "CLE-17"),
		why:   "saw 0 leaders that were told to give way to a better one, and did, and needs at least 1",
		weak:  func(e *edit) { e.stopAt(e.find(1, told4355)) },
	},
	{
		id: "CLE-09", reads: either(leading4355, requests(history.ClassElection)),
		fails: "took kube-system/kube-controller-manager from cp3_1",
		fail: func(e *edit) {
			// Its last renewal is good for a minute.
			e.events[e.find(nthLast(e, heldBy("cp3_1")), heldBy("cp3_1"))].Stored.Lease.Duration = 60
		},
		why:  "saw 0 of those, Leases that had expired, and needs at least 1",
		weak: func(e *edit) { e.stopAt(e.find(1, both(kinds(history.KindFault), of("cp3")))) },
	},
	{
		id: "CLE-11", reads: leading4355,
		fails: "kube-system/kube-controller-manager has no leader",
		fail:  besides(tellElection, "crashed", func(h *helm) { h.sail(50, managersLease) }),
		why:   "saw 0 crashes of a leader after which there was another one, and needs at least 1",
		weak:  func(e *edit) { e.drop(both(managersOf("cp3"), ends(history.ComponentControllerManager))) },
	},
	{
		id: "CLE-17", reads: leading4355,
		fails: "and had changed",
		fail: besides(tellElection, "at rest", func(h *helm) {
			for _, who := range []string{"cp2_2", "cp1_2"} {
				h.mark(managersLease, who)
				h.yield(managersLease)
				h.vote(managersLease, who)
				h.sail(5)
			}
		}),
		why: "saw 0 changes of leader while candidates of several releases stood, and needs at least 2",
		weak: func(e *edit) {
			e.stopAt(e.find(1, both(kinds(history.KindProcess), ends(history.ComponentControllerManager))))
		},
	},
}

// strandedCases are how the story of those who cannot do what they have to is
// changed.
var strandedCases = []testCase{
	{
		id: "CLE-10", reads: either(leaderLeases, actions, managerProcesses, kinds(history.KindFault)),
		fails: "cp3_1 acted as the leader of kube-system/kube-controller-manager",
		fail:  besides(tellStranded, "resumed", func(h *helm) { h.act("cp3_1") }),
		why:   "saw 0 of those, changes while the one before was alive and could not renew, and needs at least 1",
		weak: func(e *edit) {
			e.drop(kinds(history.KindFault))
			e.drop(pauses)
		},
	},
	{
		id: "CLE-12", reads: either(leaderLeases, actions, candidateNamed("cp3_1"), kinds(history.KindProcess, history.KindFault)),
		fails: "after its Lease had run out",
		fail: besides(tellStranded, "cannot renew", func(h *helm) {
			h.pass(2000)
			h.extend(coordinatorsLease)
			h.act("cp3_1")
		}),
		why: "saw 0 leaders that could not renew and had stopped when their Lease ran out, and needs at least 1",
		weak: func(e *edit) {
			e.stopAt(e.find(1, func(ev *history.Event) bool { return ev.Fault != nil && ev.Fault.Type == history.FaultHTTP }))
		},
	},
	{
		id: "CLE-13", reads: either(coordinatorLeases, coordinations, kinds(history.KindProcess, history.KindFault, history.KindReady)),
		fails: "cp3_c wrote to kube-system/cp1_1 as a coordinator",
		fail: besides(tellStranded, "can write", func(h *helm) {
			c := h.candidates["cp1_1"]
			c.Pinged, c.Coordinator = h.wall(), "cp3_c"
			h.tellCandidate("cp1_1")
			h.answer("cp1_1")
		}),
		why: "saw 0 pings and elections by the coordinator that had the Lease, and needs at least 3",
		weak: func(e *edit) {
			e.each(coordinations, func(ev *history.Event) {
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
		id: "CLE-20", reads: either(leaderLeases, candidatesStored, kinds(history.KindProcess, history.KindFault), both(kinds(history.KindReady), of("cp2"))),
		fails: "nobody coordinates, and nobody has taken kube-system/kube-controller-manager",
		fail: besides(tellStranded, "nobody elects", func(h *helm) {
			h.pass(65_000)
			h.ready(h.members[1], 200, false)
		}),
		why:  "saw 0 Leases that were free while nobody coordinated, and were taken by an instance or left for too long, and needs at least 1",
		weak: func(e *edit) { e.drop(kinds(history.KindFault)) },
	},
	{
		id: "CLE-24", reads: either(leaderLeases, candidatesStored, kinds(history.KindProcess, history.KindFault)),
		fails: "after writes to it could pass again",
		fail:  besides(tellStranded, "can write", func(h *helm) { h.sail(40, managersLease) }),
		why:   "saw 0 elections that writes had failed for, and that came about when they passed, and needs at least 1",
		weak: func(e *edit) {
			e.drop(func(ev *history.Event) bool { return ev.Fault != nil && ev.Fault.Type == history.FaultKeys })
		},
	},
}

// seizedCases are how the story of a Lease that is taken by force is changed.
var seizedCases = []testCase{
	{
		id: "CLE-14", reads: either(coordinatorLeases, kinds(history.KindProcess, history.KindFault), both(kinds(history.KindReady), of("cp1"))),
		fails: "the API server of cp1 ended (exit status 1)",
		fail: besides(tellSeized, "seized", func(h *helm) {
			cp1 := h.members[0]
			h.exit(cp1, "exit status 1", false)
			h.start(cp1, cp1.release)
			h.ready(cp1, 200, true)
		}),
		why: "saw 0 servers that coordinated again after that, and needs at least 1",
		weak: func(e *edit) {
			e.stopAt(e.find(2, heldBy(history.ElectionNobody)))
		},
	},
}

// rowersCases are how the story of the harness's own participants is changed.
var rowersCases = []testCase{
	{
		id: "CLE-05", reads: either(leaderLeases, candidatesStored),
		fails: "kube-system/evenkeel-rowers-mute was elected for kube-system/evenkeel-rowers, and had not answered",
		fail:  besides(tellRowers, "evenkeel-rowers-mute", nil),
		why:   "saw 0 elections beside a candidate that had not answered, and needs at least 1",
		weak: func(e *edit) {
			e.drop(candidateNamed("evenkeel-rowers-mute"))
			e.drop(candidateNamed("evenkeel-rowers-dead"))
		},
	},
	{
		id: "CLE-06", reads: either(leaderLeases, candidatesStored),
		fails: "kube-system/evenkeel-rowers-newer (1.3.0, behaving like 1.3.0) was elected",
		fail: besides(tellRowers, "again", func(h *helm) {
			h.erase(h.members[0], rowersLease)
			h.vote(rowersLease, "evenkeel-rowers-newer", "evenkeel-rowers-old", "evenkeel-rowers-twin")
		}),
		why:  "saw 0 elections among candidates of different versions, and needs at least 2",
		weak: func(e *edit) { e.drop(candidateNamed("evenkeel-rowers-newer")) },
	},
	{
		id: "CLE-07", reads: either(leaderLeases, candidatesStored),
		fails: "kube-system/evenkeel-rowers-twin was elected of",
		fail: besides(tellRowers, "again", func(h *helm) {
			h.erase(h.members[0], rowersLease)
			h.vote(rowersLease, "evenkeel-rowers-twin", "evenkeel-rowers-old", "evenkeel-rowers-newer")
		}),
		why:  "saw 0 elections of the same one among equal candidates, and needs at least 3",
		weak: func(e *edit) { e.drop(candidateNamed("evenkeel-rowers-twin")) },
	},
	{
		id: "CLE-16", reads: either(leaderLeases, candidatesStored),
		fails: "kube-system/evenkeel-rowers-dead was elected",
		fail:  besides(tellRowers, "evenkeel-rowers-dead", nil),
		why:   "saw 0 expired candidates that were removed, and needs at least 1",
		weak:  func(e *edit) { e.drop(both(candidateNamed("evenkeel-rowers-dead"), deletions)) },
	},
	{
		id: "CLE-21", reads: either(leaderLeases, candidatesStored, requests(history.ClassElection)),
		fails: "kube-system/evenkeel-draft was given to evenkeel-draft-a",
		fail: besides(tellRowers, "drafted", func(h *helm) {
			l := h.leases["kube-system/evenkeel-draft"]
			l.Holder, l.Renewed = "evenkeel-draft-a", h.wall()
			h.tellLease("kube-system/evenkeel-draft")
		}),
		why:  "saw 0 holders that somebody else had given and that stayed, and needs at least 1",
		weak: func(e *edit) { e.stopAt(e.find(1, heldBy(history.ElectionThirdParty))) },
	},
	{
		id: "CLE-23", reads: either(leaderLeases, candidatesStored, requests(history.ClassElection), kinds(history.KindReady, history.KindProcess)),
		fails: "answered 500 to an odd Lease",
		fail:  func(e *edit) { e.events[e.find(1, oddLeases)].Request.Code = 500 },
		why:   "saw 0 odd Leases that were stored, and needs at least 3",
		weak:  func(e *edit) { e.drop(oddLeases) },
	},
}

// steadyCases are how the story in which nothing happens is changed.
var steadyCases = []testCase{
	{
		id: "CLE-02", reads: leading4355,
		fails: "candidate kube-system/cp1_1 renewed without being asked",
		fail:  besides(tellSteady, "alone", func(h *helm) { h.answer("cp1_1") }),
		why:   "saw 0 renewals of candidates that nobody had asked for, and needs at least 1",
		weak:  func(e *edit) { e.stopAt(e.find(3, both(candidateNamed("cp1_1"), answered))) },
	},
	{
		id: "CLE-15", reads: leading4355,
		fails: "candidate kube-system/cp1_1 was pinged, and nothing had happened",
		fail: besides(tellSteady, "alone", func(h *helm) {
			h.ping("cp1_1")
			h.answer("cp1_1")
		}),
		why:  "saw 0 Leases that were renewed then, and needs at least 1",
		weak: func(e *edit) { e.stopAt(e.find(6, both(leaderLeases, heldBy("cp1_1")))) },
	},
}

// leaderLeases are the changes of Leases by which somebody leads.
func leaderLeases(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, "/registry/leases/") && (ev.Stored.Lease == nil || !ev.Stored.Lease.Identity)
}

func coordinatorLeases(ev *history.Event) bool {
	return leaderLeases(ev) && strings.HasSuffix(ev.Stored.Key, "/"+coordinatorsLease) && ev.Stored.Lease != nil
}

// heldBy are the changes of Leases that leave it to a holder.
func heldBy(holder string) keep {
	return func(ev *history.Event) bool {
		return leaderLeases(ev) && ev.Stored.Lease != nil && ev.Stored.Lease.Holder == holder
	}
}

func told4355(ev *history.Event) bool {
	return leaderLeases(ev) && ev.Stored.Lease != nil && ev.Stored.Lease.Preferred != ""
}

func candidatesStored(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, "/registry/leasecandidates/")
}

func candidateNamed(name string) keep { return both(candidatesStored, named("kube-system/"+name)) }

// named are the changes of objects whose name begins so.
func named(name string) keep {
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

func actions(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Acted != nil }

func managerProcesses(ev *history.Event) bool {
	return ev.Process != nil && ev.Process.Component == history.ComponentControllerManager
}

func managersOf(member string) keep { return both(managerProcesses, of(member)) }

func pauses(ev *history.Event) bool {
	return ev.Process != nil && (ev.Process.Change == history.ProcessPaused || ev.Process.Change == history.ProcessResumed)
}

func oddLeases(ev *history.Event) bool {
	return ev.Request != nil && ev.Request.Election == history.ElectionOdd
}

// nthLast is the number of the last event that fits.
func nthLast(e *edit, fits keep) int {
	n := 0
	for i := range e.events {
		if fits(&e.events[i]) {
			n++
		}
	}
	return n
}
