package main

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// loaded is how many objects the story of an interruption has.
const loaded = 20

// resumeStory is a run in which the controller manager ends when more than half of
// the objects are migrated, and goes on where it was when it is back. Its link tells
// of each write.
func resumeStory() []history.Event {
	v := embark()
	cp1 := v.members[0]
	for i := range loaded {
		v.put(v.members[i%3], ballast(i))
	}
	for _, m := range v.members {
		v.exchange(m, "1.3")
	}
	v.tapped(cp1, history.PhaseInject, "")
	v.tapped(cp1, history.PhaseWitness, "the link hit a request")
	v.ask(v.members[1], "interrupted", ballastGroup, "ballasts")
	v.begin("interrupted")
	for i := range 12 {
		v.writes(cp1, i)
	}
	v.controller(cp1, history.ProcessExited)
	v.pass(16_000)
	v.leads(cp1)
	// The last ones had not been noted down.
	v.again(cp1, 10)
	v.again(cp1, 11)
	for i := 12; i < loaded; i++ {
		v.writes(cp1, i)
	}
	v.end("interrupted", history.MigrationSucceeded)
	v.tapped(cp1, history.PhaseHeal, "")
	v.pass(3000)
	v.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return v.events
}

// writes has a controller rewrite an object, and its link tell of that.
func (v *voyage) writes(m *member, i int) {
	v.rewrite(ballast(i), releases["1.3"].encoding)
	v.again(m, i)
}

// again has a link tell of a write by a controller that changes nothing any more.
func (v *voyage) again(m *member, i int) { v.emit(tap(m, i)) }

// tap is what a link tells of a write.
func tap(m *member, i int) history.Event {
	return history.Event{Kind: history.KindExchange, Member: m.name, Exchange: &history.Exchange{
		Fault: "tap", Component: history.ComponentControllerManager, Method: "PUT", Held: ms, Sent: true, Code: 200,
		Path: "/apis/" + ballastGroup + "/v1/namespaces/default/ballasts/" + strings.TrimPrefix(ballast(i).name, "default/"),
	}}
}

func (v *voyage) tapped(m *member, phase history.Phase, proof string) {
	v.emit(history.Event{Kind: history.KindFault, Member: m.name, Fault: &history.Fault{
		ID: "tap", Type: history.FaultHTTP, Action: history.FaultHTTPDelay, Component: history.ComponentControllerManager, Phase: phase, Proof: proof,
	}})
}

// resumeCases are how that story is changed.
var resumeCases = []testCase{
	{
		id: "SVM-12", reads: either(migrations, ballastVersions, cargoes, leading, ends(history.ComponentControllerManager), kinds(history.KindFault, history.KindExchange)),
		fails: "ended when 12 of 20 objects were done, and 12 of those were written again",
		fail: func(e *edit) {
			// It begins at the first object.
			i := e.find(13, kinds(history.KindExchange)) - 1
			first := e.events[e.find(1, kinds(history.KindExchange))].Member
			for n := 9; n >= 0; n-- {
				e.insert(i, tap(&member{name: first}, n))
			}
		},
		why:  "saw 0 interruptions of migrations after which the controller went on, and needs at least 1",
		weak: func(e *edit) { e.drop(ends(history.ComponentControllerManager)) },
	},
}
