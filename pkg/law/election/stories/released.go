package stories

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// releasedStory is a run in which two leaders are told to end one after the other, and release
// their Lease.
func releasedStory() []history.Event { return Released(nil) }

// releasedHeader says that leaders release their Lease on exit.
func releasedHeader() history.Header {
	h := story.NewHeader()
	h.Topology = &history.Topology{Name: "story", Settings: map[string]string{"leaderElectReleaseOnExit": "on"}}
	return h
}

// Released builds releasedStory with further events at its points: told.
func Released(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	names := h.electFirst()
	h.RenewFor(5)
	for i, m := range h.Members[:2] {
		h.stopManager(m)
		h.PingAndElect(ManagersLease, names[i+1:]...)
		h.RenewFor(5)
	}
	h.point("told")
	return h.end()
}

// stopManager has a member's controller manager, which leads, end in order.
func (h *Builder) stopManager(m *story.Member) {
	h.ManagerProcess(m, history.ProcessStopping, "")
	h.Advance(200)
	h.ReleaseLease(ManagersLease)
	h.Withdraw(fmt.Sprintf("%s_%d", m.Name, h.Managers[m.Name]))
	h.Advance(100)
	h.ManagerProcess(m, history.ProcessExited, "exit status 0")
	h.Advance(200)
}

// releasedCases are how that story is changed.
var releasedCases = []story.Case{
	{
		Requirement: "CLE-33", Reads: story.AnyOf(leaderLeases, candidatesStored, story.OfKind(history.KindProcess, history.KindFault, history.KindReady)),
		Fail: atPoint(Released, "told", func(h *Builder) {
			h.ManagerProcess(h.Members[2], history.ProcessStopping, "")
			h.Advance(500)
			h.ManagerProcess(h.Members[2], history.ProcessExited, "exit status 0")
		}),
		Weak: func(e *story.Edit) { e.StopAt(e.Find(1, heldBy("cp2_1"))) },
	},
}
