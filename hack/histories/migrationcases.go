package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// migrationCases are how the story of migrations is changed.
var migrationCases = []testCase{
	{
		id: "SVM-01", reads: either(migrations, requests(history.ClassMigration)),
		fails: "cp3 took a migration of a group that cannot be one",
		fail:  func(e *edit) { e.events[e.find(1, flawedMigration(history.InvalidGroup))].Request.Code = 201 },
		why:   "saw 0 changes of the resource refused, and needs at least 1",
		weak:  func(e *edit) { e.drop(flawedMigration(history.InvalidChange)) },
	},
	{
		id: "SVM-02", reads: either(migrations, requests(history.ClassMigration)),
		fails: "migration early had Succeeded, and does not any more",
		fail: func(e *edit) {
			// Somebody takes the outcome back after the fact, and gives it again.
			i := e.find(1, outcome("early"))
			e.insert(i, takenBack(e.events[i], 1))
		},
		why:  "saw 0 second outcomes refused, and needs at least 1",
		weak: func(e *edit) { e.drop(flawedMigration(history.InvalidBoth)) },
	},
	{
		id: "SVM-03", reads: either(migrations, requests(history.ClassMigration)),
		fails: "its checkpoint was recorded as 101",
		fail: func(e *edit) {
			e.each(migrationNamed("again"), func(ev *history.Event) {
				if ev.Stored.Migration.Checkpoint != "" {
					ev.Stored.Migration.Checkpoint = "101"
				}
			})
		},
		why:  "saw 0 changes of a checkpoint refused, and needs at least 1",
		weak: func(e *edit) { e.drop(flawedMigration(history.InvalidCheckpoint)) },
	},
	{
		id: "SVM-04", reads: either(migrations, ballastVersions, cargoes),
		fails: "and 1 objects from before its checkpoint",
		fail: func(e *edit) {
			// The last object is passed over; a user writes it long after.
			e.drop(both(rewrites, objectNamed("default/cargo11")))
		},
		why:  "saw 0 objects that successful migrations rewrote in another version, and needs at least 5",
		weak: func(e *edit) { e.stopAt(e.find(1, outcome("early"))) },
	},
	{
		id: "SVM-05", reads: either(migrations, ballastVersions, cargoes),
		fails: "and its metadata is not what it was",
		fail:  func(e *edit) { e.events[e.find(2, rewrites)].Stored.Metadata = "another" },
		why:   "saw 0 objects rewritten with the same metadata, and needs at least 5",
		weak:  func(e *edit) { e.drop(rewrites) },
	},
	{
		id: "SVM-06", reads: either(migrations, ballastVersions, cargoes),
		fails: "and migration again had it written again",
		fail: func(e *edit) {
			// The second migration writes an object that the first one has written.
			written := *e.events[e.find(5, rewrites)].Stored
			i := e.find(1, both(migrationNamed("again"), runs))
			written.Revision = e.events[i].Stored.Revision + 1
			e.insert(i, history.Event{Kind: history.KindStored, Stored: &written})
		},
		why:  "saw 0 objects in the target version that migrations left alone, and needs at least 5",
		weak: func(e *edit) { e.stopAt(1 + e.find(1, outcome("early"))) },
	},
	{
		id: "SVM-07", reads: either(migrations, ballastVersions, cargoes, ballastRequests),
		fails: "is back; migration early had begun",
		fail: func(e *edit) {
			// What a user wrote last is overwritten with what was read before.
			first := e.events[e.find(1, objectNamed("default/cargo00"))].Stored
			i := e.find(1, both(objectNamed("default/cargo00"), e.after(both(migrationNamed("early"), runs)), tagged))
			back := *e.events[i].Stored
			back.Revision, back.Writer, back.Write, back.Metadata = back.Revision+1, first.Writer, first.Write, first.Metadata
			e.insert(i, history.Event{Kind: history.KindStored, Stored: &back})
		},
		why:  "saw 0 updates by users while a migration ran, and needs at least 5",
		weak: func(e *edit) { e.drop(both(tagged, userWrites(e), cargoes)); e.drop(userAnswers(e)) },
	},
	{
		id: "SVM-08", reads: either(migrations, ballastVersions, cargoes),
		fails: "it was back without a user having made it",
		fail: func(e *edit) {
			first := *e.events[e.find(1, objectNamed("default/cargo05"))].Stored
			i := e.find(1, both(deletions, cargoes))
			first.Revision = e.events[i].Stored.Revision + 1
			first.Created, first.APIVersion = first.Revision, releases["1.3"].encoding
			e.insert(i, history.Event{Kind: history.KindStored, Stored: &first})
			e.each(both(objectNamed("default/cargo05"), e.after(both(deletions, cargoes)), kinds(history.KindStored)), func(ev *history.Event) {
				if ev.Stored.Type == history.StoredPut {
					ev.Stored.Created = first.Created
				}
			})
		},
		why:  "saw 0 objects deleted by users while a migration ran, and needs at least 1",
		weak: func(e *edit) { e.drop(both(deletions, cargoes)) },
	},
	{
		id: "SVM-09", reads: either(migrations, ballastVersions, cargoes, definitionsStored, crates, namespaces),
		fails: "migration early failed (MigrationFailed: ended) after 1 of its objects had been deleted",
		fail:  func(e *edit) { fails(e, "early") },
		also:  because("it failed although its controller had ended and servers were restarted, and its writes met errors, too", "SVM-11", "SVM-13", "SVM-10"),
		why:   "saw 0 objects that users deleted before a migration that succeeded came to them, and needs at least 1",
		weak:  func(e *edit) { e.drop(both(deletions, cargoes)) },
	},
	{
		id: "SVM-10", reads: either(migrations, ballastVersions, cargoes, kinds(history.KindFault, history.KindExchange)),
		fails: "migration early failed (MigrationFailed: ended) after 10 errors that pass by themselves",
		fail:  func(e *edit) { fails(e, "early") },
		also:  because("it failed although an object was deleted, its controller had ended and servers were restarted, too", "SVM-09", "SVM-11", "SVM-13"),
		why:   "saw 0 errors that pass by themselves under migrations that succeeded, and needs at least 10",
		weak:  func(e *edit) { e.drop(kinds(history.KindExchange)) },
	},
	{
		id: "SVM-11", reads: either(migrations, ballastVersions, leading, ends(history.ComponentControllerManager)),
		fails: "after its controller had ended",
		fail:  func(e *edit) { fails(e, "early") },
		also:  because("it failed although an object was deleted and servers were restarted, and its writes met errors, too", "SVM-09", "SVM-13", "SVM-10"),
		why:   "saw 0 migrations that succeeded after the controller that led had ended, and needs at least 1",
		weak:  func(e *edit) { e.drop(ends(history.ComponentControllerManager)) },
	},
	{
		id: "SVM-13", reads: either(migrations, ballastVersions, ends(history.ComponentAPIServer)),
		fails: "after API servers had been restarted",
		fail:  func(e *edit) { fails(e, "early") },
		also:  because("it failed although an object was deleted and its controller had ended, and its writes met errors, too", "SVM-09", "SVM-11", "SVM-10"),
		why:   "saw 0 migrations that succeeded after the API server of every member had been restarted, and needs at least 1",
		weak:  func(e *edit) { e.drop(both(ends(history.ComponentAPIServer), of("cp2"))) },
	},
	{
		id: "SVM-14", reads: migrations,
		fails: "while early ran",
		fail: func(e *edit) {
			// The second one begins before the first one has ended.
			i, j := e.find(1, both(migrationNamed("again"), runs)), e.find(1, outcome("early"))
			begun, ended := *e.events[i].Stored, *e.events[j].Stored
			begun.Revision, ended.Revision = ended.Revision, begun.Revision
			e.each(both(migrationNamed("again"), func(ev *history.Event) bool { return ev.Stored.Migration.Checkpoint != "" }), func(ev *history.Event) {
				ev.Stored.Migration.Checkpoint = strconv.FormatInt(begun.Revision-1, 10)
			})
			e.events[i].Stored, e.events[j].Stored = &ended, &begun
		},
		why:  "saw 0 migrations that ended and had another one of their resource before them, and needs at least 1",
		weak: func(e *edit) { e.drop(migrationNamed("again")); e.drop(migrationNamed("next")) },
	},
	{
		id: "SVM-15", reads: either(migrations, ballastVersions, definitionsStored, cargoes, crates, ballastRequests),
		fails: "migration flip rewrote 6 objects in",
		fail: func(e *edit) {
			// They are written as fast as it goes.
			last := e.events[e.find(6, both(crates, rewrites))].At
			n := int64(0)
			e.each(both(crates, rewrites), func(ev *history.Event) { n++; ev.At = last - (6-n)*ms })
		},
		why:  "saw 0 requests timed while a migration ran, and needs at least 5",
		weak: func(e *edit) { e.drop(userAnswers(e)) },
	},
	{
		id: "SVM-17", reads: migrations,
		fails: "and its status told nothing on the way",
		fail:  func(e *edit) { e.drop(both(migrationNamed("early"), runs, reported)) },
		why:   "saw 0 reports of progress of migrations that took long, and needs at least 1",
		weak:  func(e *edit) { e.stopAt(e.find(1, outcome("early"))) },
	},
	{
		id: "SVM-18", reads: either(migrations, instances, looks, definitionsStored),
		fails: "migration unknown succeeded, and no server hosts phantoms.nowhere.evenkeel.dev",
		fail:  func(e *edit) { succeeds(e, "unknown") },
		why:   "saw 0 migrations of unknown resources that failed with a reason, and needs at least 1",
		weak:  func(e *edit) { e.stopAt(e.find(1, outcome("unknown"))) },
	},
	{
		id: "SVM-19", reads: either(migrations, instances, looks),
		fails: "migration impossible succeeded, and subjectaccessreviews.authorization.k8s.io is never stored",
		fail:  func(e *edit) { succeeds(e, "impossible") },
		why:   "saw 0 migrations of what is never stored that failed, and needs at least 1",
		weak:  func(e *edit) { e.drop(migrationNamed("impossible")) },
	},
	{
		id: "SVM-20", reads: either(migrations, ballastVersions, instances, leading),
		fails: "when the servers agreed on no version",
		fail: func(e *edit) {
			// It begins when cp3 still stores the old version; what it would have had to
			// wait for comes later.
			begun := takenBack(e.events[e.find(1, both(migrationNamed("early"), waits))], 0)
			begun.Stored.Migration.Conditions[0].Status = "True"
			i := e.find(1, migrationNamed("again"))
			begun.Stored.Revision = e.events[i].Stored.Revision + 1
			e.insert(i, begun)
		},
		why:  "saw 0 migrations that were asked for when they were not, and that a controller had the time to begin with, and needs at least 1",
		weak: func(e *edit) { e.drop(migrationNamed("early")); e.drop(migrationNamed("again")) },
	},
	{
		id: "SVM-21", reads: either(migrations, ballastVersions, instances, leading),
		fails: "migration rolled succeeded at revision",
		fail:  func(e *edit) { succeeds(e, "rolled") },
		why:   "saw 0 migrations that ended after their agreement was lost, and needs at least 1",
		weak:  func(e *edit) { e.drop(migrationNamed("rolled")) },
	},
	{
		id: "SVM-22", reads: either(migrations, ballastVersions, cargoes, ballastRequests),
		fails: "after migration again to reference.evenkeel.dev/v1 had succeeded",
		fail: func(e *edit) {
			e.events[e.find(1, both(objectNamed("default/cargo03"), tagged, e.after(outcome("again"))))].Stored.APIVersion = releases["1.2"].encoding
		},
		why: "saw 0 writes after a success in the version that it was to, of the member with the fewest, and needs at least 3",
		weak: func(e *edit) {
			e.drop(both(tagged, byWriter("cp2"), e.after(outcome("early"))))
			e.drop(both(ballastRequests, of("cp2")))
		},
	},
	{
		id: "SVM-23", reads: either(migrations, definitionsStored, crates),
		fails: "and storedVersions of its definition is [v1]",
		fail: func(e *edit) {
			// It is trimmed when half of the objects are rewritten.
			from, to := e.find(5, definitionsStored), e.find(3, both(crates, rewrites))
			trim, half := *e.events[from].Stored, *e.events[to].Stored
			trim.Revision, half.Revision = half.Revision, trim.Revision
			e.events[from].Stored, e.events[to].Stored = &half, &trim
		},
		why:  "saw 0 trims of storedVersions by migrations that succeeded, and needs at least 1",
		weak: func(e *edit) { e.drop(nthOf(e, 5, definitionsStored)) },
	},
	{
		id: "SVM-24", reads: either(migrations, ballastVersions, definitionsStored, crates, instances, leading),
		fails: "migration next began only",
		fail: func(e *edit) {
			from := e.find(1, both(migrationNamed("next"), runs))
			for i := from; i < len(e.events); i++ {
				e.events[i].At += 20_000 * ms
			}
		},
		why:  "saw 0 migrations deleted while they ran, and needs at least 1",
		weak: func(e *edit) { e.drop(both(deletions, migrations)) },
	},
}

// migrations are the changes of migrations.
func migrations(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, migrationPrefix)
}

func migrationNamed(name string) keep {
	return func(ev *history.Event) bool { return migrations(ev) && ev.Stored.Name == name }
}

func conditionStatus(ev *history.Event, kind string) string {
	if ev.Stored == nil || ev.Stored.Migration == nil {
		return ""
	}
	i := slices.IndexFunc(ev.Stored.Migration.Conditions, func(c history.Condition) bool { return c.Type == kind })
	if i < 0 {
		return ""
	}
	return ev.Stored.Migration.Conditions[i].Status
}

// runs and waits fit migrations that say so; reported those that say how far they
// are.
func runs(ev *history.Event) bool { return conditionStatus(ev, history.MigrationRunning) == "True" }

func waits(ev *history.Event) bool { return conditionStatus(ev, history.MigrationRunning) == "False" }

func reported(ev *history.Event) bool {
	return migrations(ev) && strings.Contains(ev.Stored.Migration.Conditions[0].Message, " of ")
}

// outcome fits a migration that has ended.
func outcome(name string) keep {
	return both(migrationNamed(name), func(ev *history.Event) bool {
		return conditionStatus(ev, history.MigrationSucceeded)+conditionStatus(ev, history.MigrationFailed) != ""
	})
}

// fails and succeeds give a migration the other outcome.
func fails(e *edit, name string) { otherOutcome(e, name, history.MigrationFailed) }

func succeeds(e *edit, name string) { otherOutcome(e, name, history.MigrationSucceeded) }

func otherOutcome(e *edit, name, kind string) {
	m := e.events[e.find(1, outcome(name))].Stored.Migration
	c := &m.Conditions[len(m.Conditions)-1]
	c.Type, c.Reason = kind, "Migration"+kind
}

// takenBack is a migration without its outcome, some revisions after an event.
func takenBack(ev history.Event, revisions int64) history.Event {
	s := *ev.Stored
	m := *s.Migration
	m.Conditions = slices.Clone(m.Conditions)
	m.Conditions[len(m.Conditions)-1].Status = "False"
	s.Migration, s.Revision = &m, s.Revision+revisions
	return history.Event{Kind: history.KindStored, Stored: &s}
}

// cargoes and crates are the changes of the story's objects.
func cargoes(ev *history.Event) bool {
	return ballasts(ev) && strings.Contains(ev.Stored.Key, "/cargo")
}

func namespaces(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, namespacePrefix)
}

func crates(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, "/registry/"+cratesGroup+"/")
}

func objectNamed(name string) keep {
	return func(ev *history.Event) bool { return (cargoes(ev) || crates(ev)) && ev.Stored.Name == name }
}

func byWriter(member string) keep {
	return func(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Writer == member }
}

// rewrites are what migrations write.
func rewrites(ev *history.Event) bool {
	return (cargoes(ev) || crates(ev)) && !tagged(ev) && !deletions(ev)
}

func definitionsStored(ev *history.Event) bool {
	return ev.Stored != nil && ev.Stored.CustomResource != nil
}

func leading(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Key == leaderKey }

// ends fits the end of a component's process.
func ends(component string) keep {
	return func(ev *history.Event) bool {
		return ev.Process != nil && ev.Process.Component == component && ev.Process.Change == history.ProcessExited
	}
}

func flawedMigration(flaw string) keep {
	return func(ev *history.Event) bool {
		return requests(history.ClassMigration)(ev) && ev.Request.Invalid == flaw
	}
}

// nthOf fits one event only.
func nthOf(e *edit, nth int, fits keep) keep {
	at := e.events[e.find(nth, fits)].At
	return func(ev *history.Event) bool { return fits(ev) && ev.At == at }
}

// userWrites and userAnswers fit both sides of what users wrote while the first
// migration ran.
func userWrites(e *edit) keep {
	from, to := e.events[e.find(1, both(migrationNamed("early"), runs))].At, e.events[e.find(1, outcome("early"))].At
	return func(ev *history.Event) bool { return ev.At > from && ev.At < to }
}

func userAnswers(e *edit) keep { return both(ballastRequests, userWrites(e)) }

// because says why a change breaks other promises too.
func because(why string, ids ...requirement.ID) map[requirement.ID]string {
	out := map[requirement.ID]string{}
	for _, id := range ids {
		out[id] = why
	}
	return out
}
