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

// leaderLeases are the changes of Leases by which somebody leads.
func leaderLeases(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, "/registry/leases/") && (ev.Stored.Lease == nil || !ev.Stored.Lease.Identity)
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

func managerProcesses(ev *history.Event) bool {
	return ev.Process != nil && ev.Process.Component == history.ComponentControllerManager
}

func managersOf(member string) keep { return both(managerProcesses, of(member)) }

func oddLeases(ev *history.Event) bool {
	return ev.Request != nil && ev.Request.Election == history.ElectionOdd
}
