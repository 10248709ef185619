package main

import "github.com/evenkeel/evenkeel/pkg/history"

// dozen is how many objects the story of a large migration has; what is judged by it
// asks for as many only where it says so.
const dozen = 12

// largeStory is a run in which all objects of a resource are migrated, in two parts:
// the first migration loses its agreement half way, and the second does the rest. The
// controller that migrates is killed when a tenth, half and nine tenths are done.
func largeStory() []history.Event {
	v := embark()
	cp1, cp2, cp3 := v.members[0], v.members[1], v.members[2]
	for i := range dozen {
		v.put(v.members[i%3], ballast(i))
	}
	for _, m := range v.members {
		v.exchange(m, "1.3")
	}
	rewrite := func(from, to int) {
		for i := from; i < to; i++ {
			v.rewrite(ballast(i), releases["1.3"].encoding)
		}
	}
	v.ask(cp1, "first", ballastGroup, "ballasts")
	v.begin("first")
	rewrite(0, 1)
	v.kill(cp1, "first-kill")
	v.leads(cp2)
	rewrite(1, 6)
	v.kill(cp2, "second-kill")
	v.leads(cp1)
	v.exchange(cp3, "1.2")
	v.end("first", history.MigrationFailed)
	v.exchange(cp3, "1.3")
	v.ask(cp1, "second", ballastGroup, "ballasts")
	v.begin("second")
	rewrite(6, 11)
	v.kill(cp1, "third-kill")
	v.leads(cp3)
	for _, m := range v.members {
		v.bounce(m)
	}
	rewrite(11, dozen)
	v.end("second", history.MigrationSucceeded)
	v.pass(8000)
	v.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return v.events
}

// kill ends the controller manager of a member without warning.
func (v *voyage) kill(m *member, id string) {
	fault := func(phase history.Phase, proof string) {
		v.emit(history.Event{Kind: history.KindFault, Member: m.name, Fault: &history.Fault{
			ID: id, Type: "PodChaos", Action: history.FaultContainerKill, Component: history.ComponentControllerManager, Phase: phase, Proof: proof,
		}})
	}
	fault(history.PhaseInject, "")
	v.controller(m, history.ProcessExited)
	fault(history.PhaseWitness, "the process is gone")
	fault(history.PhaseHeal, "")
}

// largeCases are how that story is changed.
var largeCases = []testCase{
	{
		id: "SVM-16",
		reads: either(migrations, ballastVersions, cargoes, ballastRequests, leading, kinds(history.KindFault),
			ends(history.ComponentControllerManager), ends(history.ComponentAPIServer)),
		fails: "with 11 objects stored as reference.evenkeel.dev/v1, and 1 that are not",
		fail: func(e *edit) {
			// The last object is passed over.
			e.drop(both(rewrites, objectNamed("default/cargo11")))
		},
		why: "saw 11 objects of one resource that lay in an old version when a migration of them began, and needs at least 12",
		weak: func(e *edit) {
			// There is one object less than is asked for.
			e.drop(objectNamed("default/cargo11"))
			e.drop(both(ballastRequests, func(ev *history.Event) bool { return ev.Request.Name == "default/cargo11" }))
		},
	},
}
