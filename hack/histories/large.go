package main

import "github.com/evenkeel/evenkeel/pkg/history"

// dozen is how many objects the story of a large migration has; what is judged by it
// asks for as many only where it says so.
const dozen = 12

// largeStory is a run in which all objects of a resource are migrated, in two parts:
// the first migration loses its agreement half way, and the second does the rest.
func largeStory() []history.Event {
	v := embark()
	cp1, cp3 := v.members[0], v.members[2]
	for i := range dozen {
		v.put(v.members[i%3], ballast(i))
	}
	for _, m := range v.members {
		v.exchange(m, "1.3")
	}
	v.ask(cp1, "first", ballastGroup, "ballasts")
	v.begin("first")
	for i := range dozen / 2 {
		v.rewrite(ballast(i), releases["1.3"].encoding)
	}
	v.exchange(cp3, "1.2")
	v.end("first", history.MigrationFailed)
	v.exchange(cp3, "1.3")
	v.ask(cp1, "second", ballastGroup, "ballasts")
	v.begin("second")
	for i := dozen / 2; i < dozen; i++ {
		v.rewrite(ballast(i), releases["1.3"].encoding)
	}
	v.end("second", history.MigrationSucceeded)
	v.pass(3000)
	v.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return v.events
}

// largeCases are how that story is changed.
var largeCases = []testCase{
	{
		id: "SVM-16", reads: either(migrations, ballastVersions, cargoes),
		fails: "with 11 objects stored as reference.evenkeel.dev/v1, and 1 that are not",
		fail: func(e *edit) {
			// The last object is passed over.
			e.drop(both(rewrites, objectNamed("default/cargo11")))
		},
		why:  "saw 0 objects of one resource that lay in the agreed version when a migration succeeded, and needs at least 12",
		weak: func(e *edit) { e.stopAt(e.find(1, outcome("second"))) },
	},
}
