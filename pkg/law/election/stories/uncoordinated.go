package stories

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	uncoordinatedLease = "kube-system/evenkeel-manned"
	conflictLease      = "kube-system/evenkeel-quarrel"
	draftStrategy      = "example.com/draft"
)

// uncoordinatedStory is a run in which a process without coordination holds a Lease beside
// candidates, and candidates want different strategies for another one.
func uncoordinatedStory() []history.Event { return Uncoordinated(nil) }

// Uncoordinated builds uncoordinatedStory with further events at its points: manned,
// erased.
func Uncoordinated(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	cp1 := h.Members[0]
	h.ServeAll()
	h.ClaimLease(uncoordinatedLease, "evenkeel-manned-legacy")
	for _, who := range []string{"a", "b"} {
		h.Declare("evenkeel-manned-"+who, uncoordinatedLease, "1.2.0", "1.2.0")
	}
	for range 9 {
		h.Advance(1000)
		h.ClaimLease(uncoordinatedLease, "evenkeel-manned-legacy")
	}
	h.point("manned")
	h.Advance(5000)
	h.RenewLease(coordinatorsLease)
	h.PingAndElect(uncoordinatedLease, "evenkeel-manned-a", "evenkeel-manned-b")

	for _, who := range []string{"a", "b", "c"} {
		version, strategy := "1.3.0", oldestStrategy
		switch who {
		case "b":
			strategy = draftStrategy
		case "c":
			version = "1.2.0"
		}
		h.declareStrategy("evenkeel-quarrel-"+who, conflictLease, version, strategy)
	}
	h.Advance(2500)
	for range 4 {
		h.createForStrategy(conflictLease)
		h.Advance(1000)
		h.RenewLease(coordinatorsLease)
		h.DeleteLease(cp1, conflictLease)
		h.Advance(100)
	}
	h.point("erased")
	h.createForStrategy(conflictLease)
	return h.end()
}

// ClaimLease has a process without coordination take a Lease, or renew it.
func (h *Builder) ClaimLease(lease, who string) {
	l := &history.Lease{Holder: who, Duration: 5, Acquired: h.WallTime(), Renewed: h.WallTime()}
	if before := h.Leases[lease]; before != nil {
		l.Transitions = before.Transitions
		if before.Holder == who {
			l.Acquired = before.Acquired
		} else {
			l.Transitions++
		}
	}
	h.Leases[lease] = l
	h.StoreLease(lease)
}

// declareStrategy makes a candidate that wants a strategy.
func (h *Builder) declareStrategy(name, lease, version, strategy string) {
	h.Candidates[name] = &history.Candidate{Lease: strings.TrimPrefix(lease, "kube-system/"), Binary: version, Emulation: version, Strategy: strategy, Renewed: h.WallTime()}
	h.StoreCandidate(name)
}

// createForStrategy creates a Lease that a coordinator with another strategy has to fill.
func (h *Builder) createForStrategy(lease string) {
	h.Leases[lease] = &history.Lease{Duration: 10, Strategy: draftStrategy, Coordinator: h.Coordinator()}
	h.StoreLease(lease)
}

// uncoordinatedCases are how the story of those who take part in another way is changed.
var uncoordinatedCases = []story.Case{
	{
		Requirement: "CLE-19", Reads: story.AnyOf(leaderLeases, candidatesStored, story.OfKind(history.KindProcess, history.KindFault)),
		Fail: atPoint(Uncoordinated, "manned", func(h *Builder) { h.PreferHolder(uncoordinatedLease, "evenkeel-manned-a") }),
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(candidatesStored, withPrefix("kube-system/evenkeel-manned-"))) },
	},
	{
		Requirement: "CLE-22", Reads: story.AnyOf(leaderLeases, candidatesStored, story.OfKind(history.KindProcess, history.KindFault)),
		Fail: atPoint(Uncoordinated, "erased", func(h *Builder) { h.RenewFor(20) }),
		Weak: func(e *story.Edit) { e.Drop(candidateNamed("evenkeel-quarrel-b")) },
	},
}
