package stories

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// migrationCases are how the story of migrations is changed.
var migrationCases = []story.Case{
	{
		Requirement: "SVM-01", Reads: story.AnyOf(migrations, story.RequestsOfClass(history.ClassMigration)),
		Fail: func(e *story.Edit) { e.Events[e.Find(1, flawedMigration(history.InvalidGroup))].Request.Code = 201 },
		Weak: func(e *story.Edit) { e.Drop(flawedMigration(history.InvalidChange)) },
	},
	{
		Requirement: "SVM-02", Reads: story.AnyOf(migrations, story.RequestsOfClass(history.ClassMigration)),
		Fail: func(e *story.Edit) {
			// A writer removes the outcome, and sets it again.
			i := e.Find(1, outcome("early"))
			e.InsertAfter(i, withoutOutcome(e.Events[i], 1))
		},
		Weak: func(e *story.Edit) { e.Drop(flawedMigration(history.InvalidBoth)) },
	},
	{
		Requirement: "SVM-03", Reads: story.AnyOf(migrations, story.RequestsOfClass(history.ClassMigration)),
		Fail: func(e *story.Edit) {
			e.Each(migrationNamed("again"), func(ev *history.Event) {
				if ev.Stored.Migration.Checkpoint != "" {
					ev.Stored.Migration.Checkpoint = "101"
				}
			})
		},
		Weak: func(e *story.Edit) { e.Drop(flawedMigration(history.InvalidCheckpoint)) },
	},
	{
		Requirement: "SVM-04", Reads: story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects),
		Fail: func(e *story.Edit) {
			// The last object is passed over; a user writes it long after.
			e.Drop(story.AllOf(migrationWrites, objectNamed("default/cargo11")))
		},
		Weak: func(e *story.Edit) { e.StopAt(e.Find(1, outcome("early"))) },
	},
	{
		Requirement: "SVM-05", Reads: story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects),
		Fail: func(e *story.Edit) { e.Events[e.Find(2, migrationWrites)].Stored.Metadata = "another" },
		Weak: func(e *story.Edit) { e.Drop(migrationWrites) },
	},
	{
		Requirement: "SVM-06", Reads: story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects),
		Fail: func(e *story.Edit) {
			// The second migration writes an object that the first one has written.
			written := *e.Events[e.Find(5, migrationWrites)].Stored
			i := e.Find(1, story.AllOf(migrationNamed("again"), running))
			written.Revision = e.Events[i].Stored.Revision + 1
			e.InsertAfter(i, history.Event{Kind: history.KindStored, Stored: &written})
		},
		Weak: func(e *story.Edit) { e.StopAt(1 + e.Find(1, outcome("early"))) },
	},
	{
		Requirement: "SVM-07", Reads: story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects, story.BallastRequests),
		Fail: func(e *story.Edit) {
			// What a user wrote last is overwritten with what was read before.
			first := e.Events[e.Find(1, objectNamed("default/cargo00"))].Stored
			i := e.Find(1, story.AllOf(objectNamed("default/cargo00"), e.After(story.AllOf(migrationNamed("early"), running)), story.UserWrites))
			back := *e.Events[i].Stored
			back.Revision, back.Writer, back.Write, back.Metadata = back.Revision+1, first.Writer, first.Write, first.Metadata
			e.InsertAfter(i, history.Event{Kind: history.KindStored, Stored: &back})
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(story.UserWrites, userWrites(e), ballastObjects))
			e.Drop(userAnswers(e))
		},
	},
	{
		Requirement: "SVM-08", Reads: story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects),
		Fail: func(e *story.Edit) {
			first := *e.Events[e.Find(1, objectNamed("default/cargo05"))].Stored
			i := e.Find(1, story.AllOf(story.Deletions, ballastObjects))
			first.Revision = e.Events[i].Stored.Revision + 1
			first.Created, first.APIVersion = first.Revision, story.Releases["1.3"].Encoding
			e.InsertAfter(i, history.Event{Kind: history.KindStored, Stored: &first})
			e.Each(story.AllOf(objectNamed("default/cargo05"), e.After(story.AllOf(story.Deletions, ballastObjects)), story.OfKind(history.KindStored)), func(ev *history.Event) {
				if ev.Stored.Type == history.StoredPut {
					ev.Stored.Created = first.Created
				}
			})
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.Deletions, ballastObjects)) },
	},
	{
		Requirement: "SVM-09", Reads: story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects, definitionsStored, crateWrites, namespaceWrites),
		Fail: func(e *story.Edit) { failMigration(e, "early") },
		Also: story.Because("it failed although its controller had ended and servers were restarted, and its writes met errors, too", "SVM-11", "SVM-13", "SVM-10"),
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.Deletions, ballastObjects)) },
	},
	{
		Requirement: "SVM-10", Reads: story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects, story.OfKind(history.KindFault, history.KindInterceptedRequest)),
		Fail: func(e *story.Edit) { failMigration(e, "early") },
		Also: story.Because("it failed although an object was deleted, its controller had ended and servers were restarted, too", "SVM-09", "SVM-11", "SVM-13"),
		Weak: func(e *story.Edit) { e.Drop(story.OfKind(history.KindInterceptedRequest)) },
	},
	{
		Requirement: "SVM-11", Reads: story.AnyOf(migrations, story.BallastVersionWrites, leaderLeaseWrites, story.Lifecycle),
		Fail: func(e *story.Edit) { failMigration(e, "early") },
		Also: story.Because("it failed although an object was deleted and servers were restarted, and its writes met errors, too", "SVM-09", "SVM-13", "SVM-10"),
		Weak: func(e *story.Edit) { e.Drop(managerProcesses) },
	},
	{
		Requirement: "SVM-13", Reads: story.AnyOf(migrations, story.BallastVersionWrites, story.Lifecycle),
		Fail: func(e *story.Edit) { failMigration(e, "early") },
		Also: story.Because("it failed although an object was deleted and its controller had ended, and its writes met errors, too", "SVM-09", "SVM-11", "SVM-10"),
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(story.Lifecycle, story.OfMember("cp2")))
		},
	},
	{
		Requirement: "SVM-14", Reads: migrations,
		Fail: func(e *story.Edit) {
			// The second one begins before the first one has ended.
			i, j := e.Find(1, story.AllOf(migrationNamed("again"), running)), e.Find(1, outcome("early"))
			begun, ended := *e.Events[i].Stored, *e.Events[j].Stored
			begun.Revision, ended.Revision = ended.Revision, begun.Revision
			e.Each(story.AllOf(migrationNamed("again"), func(ev *history.Event) bool { return ev.Stored.Migration.Checkpoint != "" }), func(ev *history.Event) {
				ev.Stored.Migration.Checkpoint = strconv.FormatInt(begun.Revision-1, 10)
			})
			e.Events[i].Stored, e.Events[j].Stored = &ended, &begun
		},
		Weak: func(e *story.Edit) { e.Drop(migrationNamed("again")); e.Drop(migrationNamed("next")) },
	},
	{
		Requirement: "SVM-15", Reads: story.AnyOf(migrations, definitionsStored, crateWrites, story.BallastRequests),
		Fail: func(e *story.Edit) {
			// They are written as fast as it goes.
			last := e.Events[e.Find(crates, story.AllOf(crateWrites, migrationWrites))].At
			n := int64(0)
			e.Each(story.AllOf(crateWrites, migrationWrites), func(ev *history.Event) {
				if n++; n > 2 { // the first two are of another migration
					ev.At = last - (crates-n)*story.Millisecond
				}
			})
			e.Sort()
		},
		Weak: func(e *story.Edit) { e.Drop(userAnswers(e)) },
	},
	{
		Requirement: "SVM-17", Reads: story.AnyOf(migrations, story.Lifecycle, leaderLeaseWrites),
		Fail: func(e *story.Edit) { e.Drop(story.AllOf(migrationNamed("early"), running, reportsProgress)) },
		Weak: func(e *story.Edit) { e.Drop(migrationNamed("early")) },
	},
	{
		Requirement: "SVM-18", Reads: story.AnyOf(migrations, story.Lifecycle, story.DiscoveryReads, definitionsStored),
		Fail: func(e *story.Edit) { succeedMigration(e, "unknown") },
		Also: story.Because("it recorded no checkpoint before it succeeded", "SVM-03"),
		Weak: func(e *story.Edit) { e.StopAt(e.Find(1, outcome("unknown"))) },
	},
	{
		Requirement: "SVM-19", Reads: story.AnyOf(migrations, story.Lifecycle, story.DiscoveryReads),
		Fail: func(e *story.Edit) { succeedMigration(e, "impossible") },
		Also: story.Because("it recorded no checkpoint before it succeeded", "SVM-03"),
		Weak: func(e *story.Edit) { e.Drop(migrationNamed("impossible")) },
	},
	{
		Requirement: "SVM-20", Reads: story.AnyOf(migrations, story.BallastVersionWrites, story.Lifecycle, leaderLeaseWrites),
		Fail: func(e *story.Edit) {
			// It begins when cp3 still stores the old version; what it would have had to
			// wait for comes later.
			begun := withoutOutcome(e.Events[e.Find(1, story.AllOf(migrationNamed("early"), waiting))], 0)
			begun.Stored.Migration.Conditions[0].Status = "True"
			i := e.Find(1, migrationNamed("again"))
			begun.Stored.Revision = e.Events[i].Stored.Revision + 1
			e.InsertAfter(i, begun)
		},
		Weak: func(e *story.Edit) { e.Drop(migrationNamed("early")); e.Drop(migrationNamed("again")) },
	},
	{
		Requirement: "SVM-21", Reads: story.AnyOf(migrations, story.BallastVersionWrites, story.Lifecycle, leaderLeaseWrites),
		Fail: func(e *story.Edit) { succeedMigration(e, "rolled") },
		Weak: func(e *story.Edit) { e.Drop(migrationNamed("rolled")) },
	},
	{
		Requirement: "SVM-22", Reads: story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects, story.BallastRequests),
		Fail: func(e *story.Edit) {
			e.Events[e.Find(1, story.AllOf(objectNamed("default/cargo03"), story.UserWrites, e.After(outcome("again"))))].Stored.APIVersion = story.Releases["1.2"].Encoding
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(story.UserWrites, byWriter("cp2"), e.After(outcome("early"))))
			e.Drop(story.AllOf(story.BallastRequests, story.OfMember("cp2")))
		},
	},
	{
		Requirement: "SVM-23", Reads: story.AnyOf(migrations, definitionsStored, crateWrites),
		Fail: func(e *story.Edit) {
			// It is trimmed when half of the objects are rewritten.
			from, to := e.Find(5, definitionsStored), e.Find(3, story.AllOf(crateWrites, migrationWrites))
			trim, half := *e.Events[from].Stored, *e.Events[to].Stored
			trim.Revision, half.Revision = half.Revision, trim.Revision
			e.Events[from].Stored, e.Events[to].Stored = &half, &trim
		},
		Weak: func(e *story.Edit) { e.Drop(story.NthOf(e, 5, definitionsStored)) },
	},
	{
		Requirement: "SVM-24", Reads: story.AnyOf(migrations, story.BallastVersionWrites, definitionsStored, crateWrites, story.Lifecycle, leaderLeaseWrites),
		Fail: func(e *story.Edit) {
			from := e.Find(1, story.AllOf(migrationNamed("next"), running))
			for i := from; i < len(e.Events); i++ {
				e.Events[i].At += 20_000 * story.Millisecond
			}
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.Deletions, migrations)) },
	},
	{
		Requirement: "SVM-26", Reads: story.AnyOf(migrations, story.BallastVersionWrites, ballastObjects),
		Fail: func(e *story.Edit) {
			e.Drop(story.AllOf(migrationWrites, objectNamed(ballast(deletingBallast).name)))
		},
		Also: story.Because("the object is one from before the checkpoint, and one of those whose write met an error", "SVM-04", "SVM-16", "SVM-10"),
		Weak: func(e *story.Edit) {
			e.Each(story.AllOf(ballastObjects, objectNamed(ballast(deletingBallast).name)), func(ev *history.Event) { ev.Stored.Deleting = false })
		},
	},
	{
		Requirement: "SVM-27", Reads: story.AnyOf(migrations, definitionsStored, story.Lifecycle, leaderLeaseWrites),
		Fail: func(e *story.Edit) {
			// It is trimmed only when the migration has succeeded, and after the bound.
			trim, end := e.Find(5, definitionsStored), e.Find(1, outcome("flip"))
			trimmed, ended := *e.Events[trim].Stored, *e.Events[end].Stored
			trimmed.Revision, ended.Revision = ended.Revision, trimmed.Revision
			e.Events[trim].Stored, e.Events[end].Stored = &ended, &trimmed
			for i := end; i < len(e.Events); i++ {
				e.Events[i].At += 90_000 * story.Millisecond
			}
		},
		Weak: func(e *story.Edit) { e.Drop(migrationNamed("flip")) },
	},
}

// migrations are the changes of migrations.
func migrations(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, migrationPrefix)
}

func migrationNamed(name string) story.Match {
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

// running and waits fit migrations that say so; reported those that say how far they
// are.
func running(ev *history.Event) bool { return conditionStatus(ev, history.MigrationRunning) == "True" }

func waiting(ev *history.Event) bool { return conditionStatus(ev, history.MigrationRunning) == "False" }

func reportsProgress(ev *history.Event) bool {
	return migrations(ev) && strings.Contains(ev.Stored.Migration.Conditions[0].Message, " of ")
}

// outcome fits a migration that has ended.
func outcome(name string) story.Match {
	return story.AllOf(migrationNamed(name), func(ev *history.Event) bool {
		return conditionStatus(ev, history.MigrationSucceeded)+conditionStatus(ev, history.MigrationFailed) != ""
	})
}

// failMigration and succeeds give a migration the other outcome.
func failMigration(e *story.Edit, name string) { otherOutcome(e, name, history.MigrationFailed) }

func succeedMigration(e *story.Edit, name string) { otherOutcome(e, name, history.MigrationSucceeded) }

func otherOutcome(e *story.Edit, name, kind string) {
	m := e.Events[e.Find(1, outcome(name))].Stored.Migration
	c := &m.Conditions[len(m.Conditions)-1]
	c.Type, c.Reason = kind, "Migration"+kind
}

// withoutOutcome is a migration without its outcome, some revisions after an event.
func withoutOutcome(ev history.Event, revisions int64) history.Event {
	s := *ev.Stored
	m := *s.Migration
	m.Conditions = slices.Clone(m.Conditions)
	m.Conditions[len(m.Conditions)-1].Status = "False"
	s.Migration, s.Revision = &m, s.Revision+revisions
	return history.Event{Kind: history.KindStored, Stored: &s}
}

// ballastObjects and crates are the changes of the story's objects.
func ballastObjects(ev *history.Event) bool {
	return story.BallastWrites(ev) && strings.Contains(ev.Stored.Key, "/cargo")
}

func namespaceWrites(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, namespacePrefix)
}

func crateWrites(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, "/registry/"+cratesGroup+"/")
}

func objectNamed(name string) story.Match {
	return func(ev *history.Event) bool { return (ballastObjects(ev) || crateWrites(ev)) && ev.Stored.Name == name }
}

func byWriter(member string) story.Match {
	return func(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Writer == member }
}

// migrationWrites are what migrations write.
func migrationWrites(ev *history.Event) bool {
	marked := ev.Stored != nil && ev.Stored.Deleting && ev.Stored.APIVersion == story.Releases["1.2"].Encoding
	return (ballastObjects(ev) || crateWrites(ev)) && !story.UserWrites(ev) && !story.Deletions(ev) && !marked
}

func definitionsStored(ev *history.Event) bool {
	return ev.Stored != nil && ev.Stored.CustomResource != nil
}

func managerProcesses(ev *history.Event) bool {
	return ev.Process != nil && ev.Process.Component == history.ComponentControllerManager
}

func leaderLeaseWrites(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Key == leaderKey }

func flawedMigration(flaw string) story.Match {
	return func(ev *history.Event) bool {
		return story.RequestsOfClass(history.ClassMigration)(ev) && ev.Request.Invalid == flaw
	}
}

// userWrites and userAnswers fit both sides of what users wrote while the first
// migration ran.
func userWrites(e *story.Edit) story.Match {
	from, to := e.Events[e.Find(1, story.AllOf(migrationNamed("early"), running))].At, e.Events[e.Find(1, outcome("early"))].At
	return func(ev *history.Event) bool { return ev.At > from && ev.At < to }
}

func userAnswers(e *story.Edit) story.Match { return story.AllOf(story.BallastRequests, userWrites(e)) }
