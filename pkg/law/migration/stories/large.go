package stories

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// LargeObjects is how many objects the story of a large migration has; what is judged by it
// asks for as many only where it says so.
const LargeObjects = 12

// largeStory is a run in which all objects of a resource are migrated, in two parts:
// the first migration loses its agreement half way, and the second does the rest. The
// controller that migrates is killed when a tenth, half and nine tenths are done.
func largeStory() []history.Event {
	v := newBuilder()
	cp1, cp2, cp3 := v.Members[0], v.Members[1], v.Members[2]
	for i := range LargeObjects {
		v.put(v.Members[i%3], ballast(i))
	}
	for _, m := range v.Members {
		v.replace(m, "1.3")
	}
	rewrite := func(from, to int) {
		for i := from; i < to; i++ {
			v.rewrite(ballast(i), story.Releases["1.3"].Encoding)
		}
	}
	v.create(cp1, "first", story.BallastGroup, "ballasts")
	v.begin("first")
	rewrite(0, 1)
	v.kill(cp1, "first-kill")
	v.holdLeaderLease(cp2)
	rewrite(1, 6)
	v.kill(cp2, "second-kill")
	v.holdLeaderLease(cp1)
	v.replace(cp3, "1.2")
	v.end("first", history.MigrationFailed)
	v.replace(cp3, "1.3")
	v.create(cp1, "second", story.BallastGroup, "ballasts")
	v.begin("second")
	rewrite(6, 11)
	v.kill(cp1, "third-kill")
	v.holdLeaderLease(cp3)
	for _, m := range v.Members {
		v.restart(m)
	}
	rewrite(11, LargeObjects)
	v.Advance(2000)
	v.end("second", history.MigrationSucceeded)
	v.Advance(8000)
	v.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return v.Events
}

// kill ends the controller manager of a member without warning.
func (v *builder) kill(m *story.Member, id string) {
	fault := func(phase history.Phase, proof string) {
		v.Emit(history.Event{Kind: history.KindFault, Member: m.Name, Fault: &history.Fault{
			ID: id, Type: "PodChaos", Action: history.FaultContainerKill, Component: history.ComponentControllerManager, Phase: phase, Proof: proof,
		}})
	}
	v.Advance(2000)
	fault(history.PhaseInject, "")
	v.managerProcess(m, history.ProcessExited)
	fault(history.PhaseWitness, "the process is gone")
	fault(history.PhaseHeal, "")
	v.Advance(2000)
	v.managerProcess(m, history.ProcessStarted)
}

// largeCases are how that story is changed.
var largeCases = []story.Case{
	{
		Requirement: "SVM-16",
		Reads:       story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects, story.BallastRequests, leaderLeaseWrites, story.OfKind(history.KindFault), story.Lifecycle),
		Fail: func(e *story.Edit) {
			// The last object is passed over.
			e.Drop(story.AllOf(migrationWrites, objectNamed("default/cargo11")))
		},
		Weak: func(e *story.Edit) {
			// There is one object less than is asked for.
			e.Drop(objectNamed("default/cargo11"))
			e.Drop(story.AllOf(story.BallastRequests, func(ev *history.Event) bool { return ev.Request.Name == "default/cargo11" }))
		},
	},
}
