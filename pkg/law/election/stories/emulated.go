package stories

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const guisedLease = "kube-system/evenkeel-guised"

// emulatedStory is a run in which candidates behave like other versions than their binaries.
func emulatedStory() []history.Event { return Emulated(nil) }

// Emulated builds emulatedStory with further events at its point: again.
func Emulated(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	cp1 := h.Members[0]
	h.ServeAll()
	guised, same, plain := "evenkeel-guised-guised", "evenkeel-guised-same", "evenkeel-guised-plain"
	h.Declare(guised, guisedLease, "1.3.0", "1.1.0")
	h.Declare(same, guisedLease, "1.3.0", "1.2.0")
	h.Declare(plain, guisedLease, "1.2.0", "1.2.0")
	h.Advance(2500)
	h.PingAndElect(guisedLease, guised, same, plain)
	h.Advance(3000)
	h.DeleteLease(cp1, guisedLease)
	h.Advance(30)
	h.point("again")
	h.PingAndElect(guisedLease, guised, same, plain)
	h.Withdraw(guised)
	h.RenewLease(coordinatorsLease)
	h.Advance(3000)
	h.DeleteLease(cp1, guisedLease)
	h.Advance(30)
	h.PingAndElect(guisedLease, plain, same)
	h.RenewLease(coordinatorsLease)
	h.Advance(1000)
	return h.end()
}

var emulatedCases = []story.Case{
	{
		Requirement: "EV-05", Reads: story.AnyOf(leaderLeases, candidatesStored),
		Fail: atPoint(Emulated, "again", func(h *Builder) {
			h.PingAndElect(guisedLease, "evenkeel-guised-plain", "evenkeel-guised-same", "evenkeel-guised-guised")
			h.Advance(3000)
			h.DeleteLease(h.Members[0], guisedLease)
			h.Advance(30)
		}),
		Weak: func(e *story.Edit) { e.Drop(candidateNamed("evenkeel-guised-plain")) },
	},
}
