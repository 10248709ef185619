package stories

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	keptLease = "kube-system/evenkeel-fields-kept"
	newLease  = "kube-system/evenkeel-fields-new"
)

// mixedStory is a run in which coordination is switched off at a member, whose
// instance then leads without it, and on again.
func mixedStory() []history.Event { return Mixed(nil) }

// Mixed builds mixedStory with further events at its points: written without,
// coordinated again.
func Mixed(otherwise map[string]func(*Builder)) []history.Event {
	h := newBuilder(otherwise)
	cp1, cp2, cp3 := h.Members[0], h.Members[1], h.Members[2]
	h.ServeAll()
	h.Coordinate("cp3_c")
	a, b, c := h.StartManager(cp1, "1.2"), h.StartManager(cp2, "1.2"), h.StartManager(cp3, "1.2")
	h.Advance(2500)
	h.PingAndElect(ManagersLease, a, b, c)
	h.RenewFor(10)

	h.ReleaseLease(ManagersLease)
	h.Withdraw(a)
	h.restartServer(cp1, history.FeatureCoordination)
	h.writeFields(cp2, "create", keptLease, true)
	h.writeFields(cp1, "update", keptLease, true)
	h.point("written without")
	h.writeFields(cp1, "create", newLease, false)
	h.writeFields(cp1, "update", newLease, false)
	// The instance without coordination is the first.
	h.ClaimLease(ManagersLease, "cp1_2")
	h.Act("cp1_2")
	h.Advance(1000)
	h.ClaimLease(ManagersLease, "cp1_2")
	h.Act("cp1_2")
	h.Advance(1000)
	h.ReleaseLease(ManagersLease)
	h.RenewLease(coordinatorsLease)
	h.PingAndElect(ManagersLease, b, c)
	h.point("coordinated again")

	h.restartServer(cp1)
	d := h.StartManager(cp1, "1.2")
	h.Advance(2500)
	h.Ping(d)
	h.AnswerPing(d)
	h.writeFields(cp1, "create", newLease, true)
	h.RenewFor(10)
	return h.end()
}

// restartServer has a member's API server end and start without features.
func (h *Builder) restartServer(m *story.Member, off ...string) {
	m.DisabledFeatures = off
	h.ManagerProcess(m, history.ProcessExited, "exit status 0")
	h.Exit(m, "exit status 0", true)
	h.Start(m, m.Release)
	h.AnswerReady(m, 200, true)
	h.RenewLease(coordinatorsLease)
}

// writeFields has the fields that are for coordination written to a Lease; stays is whether
// they are in it then.
func (h *Builder) writeFields(m *story.Member, verb, lease string, stays bool) {
	l := &history.Lease{Holder: lease, Duration: 3600, Renewed: h.WallTime()}
	if stays {
		l.Strategy, l.Preferred = oldestStrategy, lease+"-next"
	}
	h.Leases[lease] = l
	written := h.Store("/registry/leases/"+lease, "coordination.k8s.io/v1", "Lease", lease, history.Stored{Lease: l})
	h.Request(m, history.Request{
		Class: history.ClassElection, Election: history.ElectionFields, Verb: verb,
		Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Name: lease, Code: 200, ResourceVersion: written,
	})
}

// mixedCases are how that story is changed.
var mixedCases = []story.Case{
	{
		Requirement: "CLE-18", Reads: story.AnyOf(leaderLeases, candidatesStored, leaderActions),
		Fail: atPoint(Mixed, "coordinated again", func(h *Builder) { h.Act("cp1_2") }),
		Weak: func(e *story.Edit) { e.StopAt(e.Find(1, heldBy("cp1_2")) + 2) },
	},
	{
		Requirement: "CLE-25", Reads: story.AnyOf(leadership4355, story.RequestsOfClass(history.ClassElection), story.OfKind(history.KindReady)),
		Fail: atPoint(Mixed, "written without", func(h *Builder) { h.writeFields(h.Members[0], "create", newLease+"-more", true) }),
		Weak: func(e *story.Edit) {
			e.Drop(func(ev *history.Event) bool {
				return ev.Request != nil && ev.Request.Name == newLease && ev.Member == "cp1"
			})
		},
	},
}
