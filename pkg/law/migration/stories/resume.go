package stories

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// resumeObjects is how many objects the story of an interruption has.
const resumeObjects = 20

// resumeStory is a run in which the controller manager ends when more than half of
// the objects are migrated, and goes on where it was when it is back. Its link tells
// of each write.
func resumeStory() []history.Event {
	v := newBuilder()
	cp1 := v.Members[0]
	for i := range resumeObjects {
		v.put(v.Members[i%3], ballast(i))
	}
	for _, m := range v.Members {
		v.replace(m, "1.3")
	}
	v.tapFault(cp1, history.PhaseInject, "")
	v.tapFault(cp1, history.PhaseWitness, "the link hit a request")
	v.create(v.Members[1], "interrupted", story.BallastGroup, "ballasts")
	v.begin("interrupted")
	for i := range 12 {
		v.rewriteObserved(cp1, i)
	}
	v.managerProcess(cp1, history.ProcessExited)
	v.Advance(16_000)
	v.managerProcess(cp1, history.ProcessStarted)
	v.holdLeaderLease(cp1)
	// The last ones had not been noted down.
	v.observeWrite(cp1, 10)
	v.observeWrite(cp1, 11)
	for i := 12; i < resumeObjects; i++ {
		v.rewriteObserved(cp1, i)
	}
	v.end("interrupted", history.MigrationSucceeded)
	v.tapFault(cp1, history.PhaseHeal, "")
	v.Advance(3000)
	v.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return v.Events
}

// rewriteObserved has a controller rewrite an object, and its link tell of that.
func (v *builder) rewriteObserved(m *story.Member, i int) {
	v.rewrite(ballast(i), story.Releases["1.3"].Encoding)
	v.observeWrite(m, i)
}

// observeWrite has a link tell of a write by a controller that changes nothing any more.
func (v *builder) observeWrite(m *story.Member, i int) { v.Emit(tap(m, i)) }

// tap is what a link tells of a write.
func tap(m *story.Member, i int) history.Event {
	return history.Event{Kind: history.KindInterceptedRequest, Member: m.Name, InterceptedRequest: &history.InterceptedRequest{
		Fault: "tap", Component: history.ComponentControllerManager, Method: "PUT", Held: story.Millisecond, Sent: true, Code: 200,
		Path: "/apis/" + story.BallastGroup + "/v1/namespaces/default/ballasts/" + strings.TrimPrefix(ballast(i).name, "default/"),
	}}
}

func (v *builder) tapFault(m *story.Member, phase history.Phase, proof string) {
	v.Emit(history.Event{Kind: history.KindFault, Member: m.Name, Fault: &history.Fault{
		ID: "tap", Type: history.FaultHTTP, Action: history.FaultHTTPDelay, Component: history.ComponentControllerManager, Phase: phase, Proof: proof,
	}})
}

// resumeCases are how that story is changed.
var resumeCases = []story.Case{
	{
		Requirement: "SVM-12", Reads: story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects, leaderLeaseWrites, story.Lifecycle, story.OfKind(history.KindFault, history.KindInterceptedRequest)),
		Fail: func(e *story.Edit) {
			// It begins at the first object.
			i := e.Find(13, story.OfKind(history.KindInterceptedRequest)) - 1
			first := e.Events[e.Find(1, story.OfKind(history.KindInterceptedRequest))].Member
			for n := 9; n >= 0; n-- {
				e.InsertAfter(i, tap(&story.Member{Name: first}, n))
			}
		},
		Weak: func(e *story.Edit) { e.Drop(managerProcesses) },
	},
}
