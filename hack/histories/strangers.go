package main

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	mannedLease  = "kube-system/evenkeel-manned"
	quarrelLease = "kube-system/evenkeel-quarrel"
	draft        = "example.com/draft"
)

// strangersStory is a run in which somebody without coordination holds a Lease beside
// candidates, and candidates want different strategies for another one.
func strangersStory() []history.Event { return tellStrangers(nil) }

func tellStrangers(otherwise map[string]func(*helm)) []history.Event {
	h := newHelm(otherwise)
	cp1 := h.members[0]
	h.afloat()
	h.claim(mannedLease, "evenkeel-manned-legacy")
	for _, who := range []string{"a", "b"} {
		h.declare("evenkeel-manned-"+who, mannedLease, "1.2.0", "1.2.0")
	}
	for range 9 {
		h.pass(1000)
		h.claim(mannedLease, "evenkeel-manned-legacy")
	}
	h.point("manned")
	h.pass(5000)
	h.extend(coordinatorsLease)
	h.vote(mannedLease, "evenkeel-manned-a", "evenkeel-manned-b")

	for _, who := range []string{"a", "b", "c"} {
		version, strategy := "1.3.0", oldestStrategy
		switch who {
		case "b":
			strategy = draft
		case "c":
			version = "1.2.0"
		}
		h.declareWith("evenkeel-quarrel-"+who, quarrelLease, version, strategy)
	}
	h.pass(2500)
	for range 4 {
		h.leave(quarrelLease)
		h.pass(1000)
		h.extend(coordinatorsLease)
		h.erase(cp1, quarrelLease)
		h.pass(100)
	}
	h.point("erased")
	h.leave(quarrelLease)
	return h.end()
}

// claim has somebody hold a Lease who knows nothing of coordination, or renew it.
func (h *helm) claim(lease, who string) {
	l := &history.Lease{Holder: who, Duration: 5, Acquired: h.wall(), Renewed: h.wall()}
	if before := h.leases[lease]; before != nil {
		l.Transitions = before.Transitions
		if before.Holder == who {
			l.Acquired = before.Acquired
		} else {
			l.Transitions++
		}
	}
	h.leases[lease] = l
	h.tellLease(lease)
}

// declareWith makes a candidate that wants a strategy.
func (h *helm) declareWith(name, lease, version, strategy string) {
	h.candidates[name] = &history.Candidate{Lease: strings.TrimPrefix(lease, "kube-system/"), Binary: version, Emulation: version, Strategy: strategy, Renewed: h.wall()}
	h.tellCandidate(name)
}

// leave makes a Lease for somebody who knows its strategy.
func (h *helm) leave(lease string) {
	h.leases[lease] = &history.Lease{Duration: 10, Strategy: draft, Coordinator: h.coordinator()}
	h.tellLease(lease)
}

// strangersCases are how the story of those who take part in another way is changed.
var strangersCases = []testCase{
	{
		id: "CLE-19", reads: either(leaderLeases, candidatesStored, kinds(history.KindProcess, history.KindFault)),
		fails: "evenkeel-manned-legacy holds kube-system/evenkeel-manned without coordination, and was told",
		fail:  besides(tellStrangers, "manned", func(h *helm) { h.mark(mannedLease, "evenkeel-manned-a") }),
		why:   "saw 0 renewals without coordination while candidates stood, and needs at least 5",
		weak:  func(e *edit) { e.drop(both(candidatesStored, named("kube-system/evenkeel-manned-"))) },
	},
	{
		id: "CLE-22", reads: either(leaderLeases, candidatesStored, kinds(history.KindProcess, history.KindFault)),
		fails: "the candidates of kube-system/evenkeel-quarrel want different strategies, and for",
		fail:  besides(tellStrangers, "erased", func(h *helm) { h.sail(20) }),
		why:   "saw 0 conflicts of strategies that were resolved as the time before, and needs at least 3",
		weak:  func(e *edit) { e.drop(candidateNamed("evenkeel-quarrel-b")) },
	},
}
