package check

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// migrates stores a migration of things at a revision; the conditions that are
// named are True. Its checkpoint is the one given, none if that is 0.
func (t *tale) migrates(name string, created, revision, checkpoint int64, conditions ...string) *tale {
	m := &history.Migration{Group: group, Resource: "things"}
	if checkpoint > 0 {
		m.Checkpoint = strconv.FormatInt(checkpoint, 10)
	}
	for _, kind := range conditions {
		m.Conditions = append(m.Conditions, history.Condition{Type: kind, Status: "True", Reason: "R", Message: strconv.FormatInt(revision, 10)})
	}
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/storageversionmigrations/" + name, Name: name, Created: created, Revision: revision, Migration: m})
}

// lies stores a thing; write is the number of a's write, 0 if somebody else wrote.
func (t *tale) lies(name, version, metadata string, created, revision, write int64, managed ...string) *tale {
	s := history.Stored{Type: history.StoredPut, Key: "/registry/g.io/things/" + name, Name: name, Created: created, Revision: revision,
		APIVersion: version, ObjectKind: "Thing", Metadata: metadata, Managed: map[string]string{}}
	if write > 0 {
		s.Writer, s.Write = "a", write
	}
	for _, v := range managed {
		s.Managed[v] = "fields of " + v
	}
	return t.stored(s)
}

func (t *tale) goes(name string, revision int64) *tale {
	return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/g.io/things/" + name, Revision: revision})
}

// upgraded are servers that agree on the second version, with a thing in the first.
func upgraded() *tale {
	return tell().joins("a", 1).joins("b", 2).says(things, 3, "a="+v2, "b="+v2).lies("x", v1, "m", 5, 5, 1)
}

const nowRuns, nowSucceeded, nowFailed = history.MigrationRunning, history.MigrationSucceeded, history.MigrationFailed

func TestSVM02SeesTwoOutcomes(t *testing.T) {
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowSucceeded, nowFailed).blames(t, "SVM-02", "both succeeded and failed")
}

func TestSVM03ComparesTheCheckpoint(t *testing.T) {
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 9, nowRuns).blames(t, "SVM-03", "its checkpoint was recorded as 9")
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 99, nowRuns).blames(t, "SVM-03", "its checkpoint was recorded as 99")
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 14, 13, nowRuns).blames(t, "SVM-03", `was 11 and is "13"`)
	// One that was made anew under the same name has a checkpoint of its own.
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).
		stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/m", Revision: 13}).
		migrates("m", 14, 14, 0).migrates("m", 14, 16, 15, nowRuns).blames(t, "SVM-03")
}

func TestSVM04LooksAtWhatLivesOnly(t *testing.T) {
	begun := func() *tale {
		return upgraded().lies("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	begun().migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-04", "2 objects from before its checkpoint 11")
	begun().lies("x", v2, "m", 5, 14, 0).goes("y", 15).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-04")
	// What was made after the checkpoint is another row's.
	begun().lies("x", v2, "m", 5, 14, 0).goes("y", 15).lies("z", v1, "m", 16, 16, 3).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-04")
	begun().lies("x", v2, "m", 5, 14, 0).goes("y", 15).lies("z", v1, "m", 16, 16, 3).migrates("m", 10, 20, 11, nowSucceeded).
		blames(t, "SVM-22", "which was made on the way, is stored as g.io/v1")
}

func TestSVM05KnowsWhatAnyWriteLoses(t *testing.T) {
	begun := func() *tale {
		return tell().joins("a", 1).says(things, 3, "a="+v2).hosts("a", 4).lies("x", "g.io/v0", "m", 5, 5, 1, v1, "g.io/v0").
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	// Nobody serves v0 any more, so that no client could see its fields.
	begun().lies("x", v2, "m", 5, 14, 0, v1).blames(t, "SVM-05")
	begun().lies("x", v2, "m", 5, 14, 0, "g.io/v0").blames(t, "SVM-05", "its managed fields of g.io/v1 are not what it was")
	begun().lies("x", v2, "m", 5, 14, 0, v1, v2).blames(t, "SVM-05", "its managed fields of g.io/v2 are not what it was")
	begun().lies("x", v2, "n", 5, 14, 0, v1).blames(t, "SVM-05", "its metadata is not what it was")
	// A controller that puts a finalizer on what was just made is no migration.
	begun().lies("y", v2, "m", 13, 13, 2).lies("y", v2, "with a finalizer", 13, 14, 0).blames(t, "SVM-05")
}

// contains stores a thing with a content; write is the number of a's write, 0 if somebody
// else wrote.
func (t *tale) contains(name, version, content string, created, revision, write int64) *tale {
	s := history.Stored{Type: history.StoredPut, Key: "/registry/g.io/things/" + name, Name: name, Created: created, Revision: revision,
		APIVersion: version, ObjectKind: "Thing", Metadata: "m", Content: content}
	if write > 0 {
		s.Writer, s.Write = "a", write
	}
	return t.stored(s)
}

func TestSVM05FollowsContents(t *testing.T) {
	begun := func() *tale {
		return tell().joins("a", 1).joins("b", 2).says(things, 3, "a="+v2, "b="+v2).
			contains("x", v1, "heavy", 5, 5, 1).contains("y", v1, "heavy", 6, 6, 2).contains("z", v1, "light", 7, 7, 3).
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	const differed = "contents of one resource that differed, and still did when it was stored in another version"
	saw(t, begun().contains("x", v2, "schwer", 5, 14, 0).contains("y", v2, "schwer", 6, 15, 0).contains("z", v2, "leicht", 7, 16, 0).
		blames(t, "SVM-05"), differed, 2)
	begun().contains("x", v2, "schwer", 5, 14, 0).contains("y", v2, "leicht", 6, 15, 0).
		blames(t, "SVM-05", "its content (which x had too, and was left with another one) is not what it was")
	begun().contains("x", v2, "schwer", 5, 14, 0).contains("z", v2, "schwer", 7, 15, 0).
		blames(t, "SVM-05", "its content (now that of x, from which it had differed) is not what it was")
	// What users write is theirs.
	begun().contains("x", v2, "schwer", 5, 14, 4).contains("y", v2, "leicht", 6, 15, 0).blames(t, "SVM-05")
	// One content alone could be anything, and what has none nobody has looked at.
	saw(t, begun().contains("x", v2, "", 5, 14, 0).contains("z", v2, "leicht", 7, 16, 0).blames(t, "SVM-05"), differed, 1)
}

func TestSVM05ComparesWhereVersionsAreAlike(t *testing.T) {
	class := func(told *tale, version, content string, revision, write int64) *tale {
		s := history.Stored{Type: history.StoredPut, Key: "/registry/volumeattributesclasses/gold", Name: "gold", Created: 5, Revision: revision,
			APIVersion: "storage.k8s.io/" + version, ObjectKind: "VolumeAttributesClass", Metadata: "m", Content: content}
		if write > 0 {
			s.Writer, s.Write = "a", write
		}
		return told.stored(s)
	}
	migrates := func(told *tale, revision int64, is ...string) *tale {
		m := &history.Migration{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}
		for _, kind := range is {
			m.Conditions = append(m.Conditions, history.Condition{Type: kind, Status: "True", Reason: "R"})
		}
		return told.stored(history.Stored{Type: history.StoredPut, Key: "/registry/storageversionmigrations/c", Name: "c", Created: 10, Revision: revision, Migration: m})
	}
	begun := func() *tale {
		told := tell()
		told.header.Writes = append(told.header.Writes, history.WrittenResource{Group: "storage.k8s.io", Resource: "volumeattributesclasses", Kind: "VolumeAttributesClass"})
		told.joins("a", 1).says("storage.k8s.io.volumeattributesclasses", 3, "a=storage.k8s.io/v1")
		return migrates(migrates(class(told, "v1beta1", "gold", 5, 1), 10), 12, nowRuns)
	}
	class(begun(), "v1", "gold", 14, 0).blames(t, "SVM-05")
	class(begun(), "v1", "brass", 14, 0).blames(t, "SVM-05", "its content is not what it was")
}

func TestSVM09SeesNamespacesGo(t *testing.T) {
	begun := func() *tale {
		return tell().joins("a", 1).joins("b", 2).says(things, 3, "a="+v2, "b="+v2).lies("hold/x", v1, "m", 5, 5, 1).lies("hold/y", v1, "m", 6, 6, 2).
			lies("deck/z", v1, "m", 7, 7, 3).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).goes("hold/x", 14).goes("hold/y", 15).goes("deck/z", 16)
	}
	gone := func(t *tale, revision int64) *tale {
		return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/namespaces/hold", Revision: revision})
	}
	const single, together = "objects that users deleted before", "objects that went with their namespace"
	r := gone(begun(), 17).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-09")
	saw(t, r, single, 1)
	saw(t, r, together, 2)
	// Whoever empties a namespace has not deleted it.
	r = begun().migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-09")
	saw(t, r, single, 3)
	saw(t, r, together, 0)
	// A namespace may go when the migration has ended.
	r = gone(begun().migrates("m", 10, 20, 11, nowSucceeded), 21).blames(t, "SVM-09")
	saw(t, r, single, 1)
	saw(t, r, together, 2)
	gone(begun(), 17).migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-09", "after 3 of its objects had been deleted")
}

func TestSVM24WatchesWhatStops(t *testing.T) {
	dropped := func() *tale {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).
			stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/m", Revision: 13})
	}
	const stopped = "of those, ones that left objects in an old version, which nothing else began to migrate meanwhile"
	saw(t, dropped().pass(time.Minute).lies("z", v2, "m", 14, 14, 2).blames(t, "SVM-24"), stopped, 1)
	dropped().pass(time.Minute).lies("x", v2, "m", 5, 14, 0).blames(t, "SVM-24", "after migration m was deleted")
	// Nothing was left that it could have gone on with.
	saw(t, dropped().lies("x", v2, "m", 5, 14, 0).pass(time.Minute).lies("z", v2, "m", 15, 15, 2).blames(t, "SVM-24"), stopped, 0)
	// What goes on there is the next one's.
	saw(t, dropped().migrates("n", 14, 14, 0).migrates("n", 14, 15, 14, nowRuns).pass(time.Minute).lies("x", v2, "m", 5, 16, 0).blames(t, "SVM-24"), stopped, 0)
	// Nor is there anything to leave where nobody knows what it migrated to.
	saw(t, upgraded().says(things, 8, "a="+v1, "b="+v2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).
		stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/m", Revision: 13}).
		pass(time.Minute).lies("z", v2, "m", 14, 14, 2).blames(t, "SVM-24"), stopped, 0)
}

// The next one may have more to wait for than the deletion of the one before.
func TestSVM24KnowsWhatTheNextOneWaitsFor(t *testing.T) {
	queued := func() *tale {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).pass(3*time.Second).migrates("n", 13, 13, 0)
	}
	drop := func(t *tale) *tale {
		return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/m", Revision: 15})
	}
	const freed = "migrations that began after the one before them was deleted"
	drop(queued()).idle(40*time.Second).migrates("n", 13, 22, 21, nowRuns).blames(t, "SVM-24", "migration n began only 40s after m was deleted")
	drop(queued()).idle(40*time.Second).blames(t, "SVM-24", "migration n has not begun for")
	disputed := func() *tale { return drop(queued().says(things, 14, "a="+v2, "b="+v1)).idle(40 * time.Second) }
	disputed().blames(t, "SVM-24")
	saw(t, disputed().says(things, 20, "a="+v2, "b="+v2).migrates("n", 13, 22, 21, nowRuns).blames(t, "SVM-24"), freed, 0)
	disputed().says(things, 20, "a="+v2, "b="+v2).idle(40*time.Second).migrates("n", 13, 22, 21, nowRuns).blames(t, "SVM-24", "after m was deleted")
	led := func() *tale { return drop(queued().manager("a", history.ProcessExited)).idle(40 * time.Second) }
	led().blames(t, "SVM-24")
	saw(t, led().manages("b", 16).migrates("n", 13, 22, 21, nowRuns).blames(t, "SVM-24"), freed, 0)
	saw(t, drop(queued()).idle(time.Second).migrates("n", 13, 22, 21, nowRuns).blames(t, "SVM-24"), freed, 1)
	// Nor may one that is asked for later be kept from its turn; it has not waited for it.
	asked := func() *tale {
		return drop(upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)).idle(3*time.Second).migrates("n", 16, 16, 0)
	}
	asked().idle(40*time.Second).migrates("n", 16, 22, 21, nowRuns).blames(t, "SVM-24", "migration n began only 43s after m was deleted")
	asked().idle(40*time.Second).blames(t, "SVM-24", "migration n has not begun for")
	saw(t, asked().idle(2*time.Second).migrates("n", 16, 22, 21, nowRuns).blames(t, "SVM-24"), freed, 0)
	// One of another resource may have it before.
	other := groupResource{"", "configmaps"}
	asked().migrates("o", 11, 17, 0).of(other).migrates("o", 11, 18, 17, nowRuns).of(other).idle(40*time.Second).migrates("n", 16, 22, 21, nowRuns).blames(t, "SVM-24")
}

func TestSVM07TellsALostUpdateFromALateOne(t *testing.T) {
	begun := func() *tale {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v2, "n", 5, 14, 2)
	}
	begun().lies("x", v2, "m", 5, 15, 1).blames(t, "SVM-07", "write 2 of a at revision 14, and at revision 15 write 1 of a is back")
	begun().lies("x", v2, "o", 5, 15, 3).blames(t, "SVM-07")
	// However many writes came in between.
	busy := begun()
	for i := range int64(100) {
		busy.lies("x", v2, "o", 5, 15+i, 3+i)
	}
	busy.lies("x", v2, "m", 5, 120, 1).blames(t, "SVM-07", "write 102 of a at revision 114, and at revision 120 write 1 of a is back")
	// A migration may have read what was there before a user made the object anew.
	anew := func() *tale { return begun().goes("x", 15).lies("x", v2, "o", 16, 16, 3) }
	anew().lies("x", v2, "m", 16, 17, 1).blames(t, "SVM-07", "write 3 of a at revision 16, and at revision 17 write 1 of a is back")
	anew().lies("x", v2, "p", 16, 17, 4).blames(t, "SVM-07")
}

func TestTagsOfAnObjectAreForgotten(t *testing.T) {
	told := upgraded()
	for i := range int64(keptTags + 10) {
		told.lies("x", v1, "m", 5, 100+i, 100+i)
	}
	tags := told.world().migrations.objects["/registry/g.io/things/x"].tags
	if n := int64(len(tags)); n != keptTags || last(tags).number != 109+keptTags || tags[0].number != 110 {
		t.Errorf("%d writes are remembered, from %d to %d", n, tags[0].number, last(tags).number)
	}
}

func TestSVM08LetsUsersMakeAnew(t *testing.T) {
	begun := func() *tale {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).goes("x", 14)
	}
	begun().lies("x", v2, "m", 15, 15, 1).blames(t, "SVM-08", "it was back without a user having made it")
	begun().lies("x", v2, "m", 15, 15, 0).blames(t, "SVM-08", "it was back without a user having made it")
	begun().lies("x", v2, "n", 15, 15, 2).blames(t, "SVM-08")
	// Nor may what a user has made anew, and deleted again, come back as it was at first.
	begun().lies("x", v2, "n", 15, 15, 2).goes("x", 16).lies("x", v2, "m", 17, 17, 1).blames(t, "SVM-08", "it was back without a user having made it")
}

func TestSVM08And09CountWhatWasToBeRewritten(t *testing.T) {
	begun := func() *tale {
		return upgraded().lies("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	counts := func(told *tale, n int64) {
		t.Helper()
		saw(t, told.migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-08"), "objects deleted by users", n)
		saw(t, told.blames(t, "SVM-09"), "objects that users deleted before", n)
	}
	counts(begun().goes("x", 14), 1)
	counts(begun().lies("x", v2, "m", 5, 14, 0).goes("x", 15), 0)
	counts(begun().lies("x", v2, "n", 5, 14, 3).goes("x", 15).goes("y", 16), 1)
	begun().goes("x", 14).migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-09", "after 1 of its objects had been deleted")
	begun().lies("x", v2, "m", 5, 14, 0).goes("x", 15).migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-09")
	// Without an agreement nobody can say what is still to be rewritten.
	disagreed := func() *tale {
		return upgraded().says(things, 8, "a="+v2, "b="+v1).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	counts(disagreed().goes("x", 14), 0)
	counts(disagreed().says(things, 13, "a="+v2, "b="+v2).goes("x", 14), 1)
}

func TestSVM14GoesByAge(t *testing.T) {
	two := func(apart time.Duration) *tale {
		return upgraded().migrates("old", 10, 10, 0).pass(apart).migrates("young", 11, 11, 0).migrates("young", 11, 12, 11, nowRuns)
	}
	two(time.Minute).blames(t, "SVM-14", "and the older old had not")
	// Their creation times are the same, as far as anybody can tell.
	two(time.Millisecond).blames(t, "SVM-14")
}

func TestSVM21JudgesTheEnd(t *testing.T) {
	lost := func() *tale {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).says(things, 13, "a="+v2, "b="+v1)
	}
	saw(t, lost().migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-21"), "ended after their agreement was lost", 1)
	const late = underWay + time.Second
	lost().migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-21", "migration m succeeded at revision 20, and since revision 13")
	// If all was done it had looked before, and its success was being written.
	done := func() *tale {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v2, "m", 5, 13, 0).says(things, 14, "a="+v2, "b="+v1)
	}
	saw(t, done().migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-21"), "ended after their agreement was lost", 0)
	saw(t, done().unheard(late).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-21"), "ended after their agreement was lost", 0)
	done().pass(late).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-21", "migration m succeeded at revision 20, and since revision 14")
	// The same goes for a loss that comes while the start is being written, also if the
	// success is the first that is told of it.
	begins := func(version string) *tale {
		return tell().joins("a", 1).joins("b", 2).says(things, 3, "a="+v2, "b="+v2).lies("x", version, "m", 5, 5, 1).manages("a", 8).
			migrates("m", 10, 10, 0).says(things, 11, "a="+v2, "b="+v1)
	}
	saw(t, begins(v2).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-21"), "ended after their agreement was lost", 0)
	saw(t, begins(v2).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-21"), "ended after their agreement was lost", 0)
	begins(v1).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-21", "migration m succeeded at revision 20, and since revision 11")
	begins(v1).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-21", "migration m succeeded at revision 20, and since revision 11")
	lost().pass(2*time.Minute).blames(t, "SVM-21", "has not ended 1m0s after it lost its agreement")
	lost().pass(30*time.Second).lies("x", v2, "m", 5, 16, 0).blames(t, "SVM-21", "30s after migration m had lost its agreement")
	// It may begin anew if the agreement is back.
	returned := func() *tale { return lost().pass(30*time.Second).says(things, 15, "a="+v2, "b="+v2) }
	saw(t, returned().migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-21"), "ended after their agreement was lost", 0)
	// A second loss has its own time.
	again := func() *tale { return returned().pass(time.Minute).says(things, 16, "a="+v2, "b="+v1) }
	again().pass(5*time.Second).lies("x", v2, "m", 5, 17, 0).pass(5*time.Second).blames(t, "SVM-21")
	saw(t, again().migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-21"), "ended after their agreement was lost", 1)
	again().migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-21", "migration m succeeded at revision 20, and since revision 16")
	again().pass(30*time.Second).lies("x", v2, "m", 5, 17, 0).blames(t, "SVM-21", "30s after migration m had lost its agreement")
	again().pass(2*time.Minute).blames(t, "SVM-21", "has not ended 1m0s after it lost its agreement")
	// That it ends in the end, or that the agreement comes back, is no excuse.
	lost().idle(14*time.Minute).migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-21", "has not ended 1m0s after it lost its agreement")
	lost().idle(10*time.Minute).says(things, 15, "a="+v2, "b="+v2).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-21", "has not ended 1m0s after it lost its agreement")
	// Without a controller nobody can end it.
	saw(t, lost().manager("a", history.ProcessExited).pass(14*time.Minute).manages("b", 14).migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-21"), "ended after their agreement was lost", 1)
	// What a condition says in spite of the entries is no agreement.
	stale, common := content("a="+v2, "b="+v1), v2
	stale.Common = &common
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).put(things, 13, stale).migrates("m", 10, 20, 11, nowSucceeded).
		blames(t, "SVM-21", "migration m succeeded at revision 20, and since revision 13")
}

func TestKubernetesMigratesWithoutAgreement(t *testing.T) {
	told := tell()
	told.header.Distribution = "kubernetes"
	told.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: 1, Release: "v1.36.3"}}).
		stored(history.Stored{Type: history.StoredPut, Key: leaderLease, Revision: 1, Created: 1, Lease: &history.Lease{Holder: "a_1"}}).
		says(things, 3, "a="+v1, "b="+v2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	r := told.blames(t, "SVM-20")
	if len(r.Deviations) != 1 || r.Deviations[0].ID != "migrates-without-agreement" {
		t.Errorf("%s with the deviations %v", r.Verdict, r.Deviations)
	}
	told.header.Strict, told.next = true, 0
	told.blames(t, "SVM-20", "when the servers agreed on no version")
}

func TestSVM22TellsARollbackFromAFalseSuccess(t *testing.T) {
	succeeds := func(told *tale) *tale {
		return told.lies("x", v1, "m", 5, 5, 1).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded)
	}
	up := func(told *tale) *tale {
		return succeeds(told.starts("a", 1).joins("a", 1).starts("b", 1).joins("b", 2).says(things, 3, "a="+v2, "b="+v2).ready("a", 200, 4))
	}
	done := func() *tale { return up(tell()) }
	const agreedOn, joined = "after migration m to g.io/v2 had succeeded", "by a, which had joined before migration m to g.io/v2 succeeded at revision 20"
	done().lies("x", v1, "n", 5, 22, 2).blames(t, "SVM-22", agreedOn)
	// a was ready before, and announces the old version first.
	published := func() *tale { return done().says(things, 21, "a="+v1, "b="+v2) }
	published().lies("x", v1, "n", 5, 22, 2).blames(t, "SVM-22", joined)
	// It had joined, and reports for the first time.
	late := succeeds(tell().starts("a", 1).joins("a", 1).joins("b", 2).says(things, 3, "b="+v2)).says(things, 21, "a="+v1, "b="+v2)
	late.lies("x", v1, "n", 5, 22, 2).blames(t, "SVM-22", joined)
	// A member that is rolled back by then, and one that only joins then.
	rolledBack := func() *tale { return done().exits("a", 1).starts("a", 2).says(things, 21, "a="+v1, "b="+v2) }
	rolledBack().lies("x", v1, "n", 5, 22, 2).blames(t, "SVM-22")
	succeeds(tell().joins("b", 2).says(things, 3, "b="+v2)).starts("a", 1).joins("a", 21).says(things, 22, "a="+v1, "b="+v2).lies("x", v1, "n", 5, 23, 2).blames(t, "SVM-22")
	// It had left when the migration succeeded.
	succeeds(tell().starts("a", 1).joins("a", 1).joins("b", 2).ready("a", 200, 3).leaves("a", 4).says(things, 5, "b="+v2)).
		joins("a", 21).says(things, 22, "a="+v1, "b="+v2).lies("x", v1, "n", 5, 23, 2).blames(t, "SVM-22")
	// Nobody knows whose write this is.
	published().lies("x", v1, "n", 5, 22, 0).blames(t, "SVM-22")
	// What a definition says may change without a restart.
	up(tell().defines("v2", 1, 1, "v2")).says(things, 21, "a="+v1, "b="+v2).lies("x", v1, "n", 5, 22, 2).blames(t, "SVM-22")

	// The agreement is judged again when it is back.
	back := func() *tale {
		return rolledBack().lies("x", v1, "n", 5, 22, 2).exits("a", 2).starts("a", 3).says(things, 23, "a="+v2, "b="+v2).lies("x", v2, "o", 5, 24, 3)
	}
	saw(t, back().blames(t, "SVM-22"), "writes after a success", 1)
	back().lies("x", v1, "p", 5, 25, 4).blames(t, "SVM-22", agreedOn)
	// Until another migration has succeeded, which is what counts from then on.
	other := rolledBack().says(things, 23, "a="+v1, "b="+v1).migrates("o", 30, 30, 0).migrates("o", 30, 31, 30, nowRuns).migrates("o", 30, 32, 30, nowSucceeded)
	other.lies("x", v1, "n", 5, 33, 2).blames(t, "SVM-22")
}

// defines stores the definition of things, as a custom resource.
func (t *tale) defines(storage string, generation, revision int64, stored ...string) *tale {
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/apiextensions.k8s.io/customresourcedefinitions/things.g.io", Revision: revision,
		CustomResource: &history.CustomResource{Group: group, Resource: "things", Storage: storage, Stored: stored, Generation: generation}})
}

// migrating stores it once more, saying whether its resource is being migrated.
func (t *tale) migrating(status string, revision int64) *tale {
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/apiextensions.k8s.io/customresourcedefinitions/things.g.io", Revision: revision,
		CustomResource: &history.CustomResource{Group: group, Resource: "things", Storage: "v2", Stored: []string{"v1", "v2"}, Generation: 2, Migrating: status}})
}

// A definition does not go on to say that its resource is being migrated.
func TestSVM24LooksAtDefinitions(t *testing.T) {
	const ceased = "definitions that ceased to say that they were being migrated, where any did"
	running := func() *tale {
		return upgraded().manages("a", 8).defines("v2", 2, 9, "v1", "v2").migrates("m", 10, 10, 0).migrating("True", 11).migrates("m", 10, 12, 11, nowRuns)
	}
	dropped := func(t *tale) *tale {
		return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/m", Revision: 15})
	}
	const goesOn = "has said for 15s that it is being migrated, and migration m was deleted"
	dropped(running()).idle(40*time.Second).blames(t, "SVM-24", goesOn)
	dropped(running()).idle(40*time.Second).migrating("False", 16).blames(t, "SVM-24", goesOn)
	saw(t, dropped(running()).idle(time.Second).migrating("False", 16).idle(40*time.Second).blames(t, "SVM-24"), ceased, 1)
	// Nor does it say so again.
	dropped(running()).migrating("False", 16).migrating("True", 17).idle(40*time.Second).blames(t, "SVM-24", goesOn)
	// Unless another one runs, and nobody could see to it.
	saw(t, dropped(running()).migrates("n", 16, 16, 0).migrates("n", 16, 17, 16, nowRuns).idle(40*time.Second).blames(t, "SVM-24"), ceased, 0)
	dropped(running()).manager("a", history.ProcessExited).idle(40*time.Second).blames(t, "SVM-24")
	// Where definitions do not say so, there is nothing to wait for.
	silent := upgraded().manages("a", 8).defines("v2", 2, 9, "v1", "v2").migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	dropped(silent).idle(40*time.Second).blames(t, "SVM-24")
}

func TestSVM23WantsASuccess(t *testing.T) {
	begun := func() *tale {
		return tell().defines("v1", 1, 3, "v1").lies("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v2, "m", 5, 14, 0)
	}
	saw(t, begun().defines("v2", 2, 15, "v2").migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-23"), "trims", 1)
	saw(t, begun().migrates("m", 10, 20, 11, nowSucceeded).defines("v2", 2, 22, "v2").blames(t, "SVM-23"), "trims", 1)
	begun().defines("v2", 2, 15, "v2").migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-23", "and did not succeed")
	begun().migrates("m", 10, 20, 11, nowFailed).defines("v2", 2, 22, "v2").blames(t, "SVM-23", "had not succeeded")
	begun().defines("v2", 3, 15, "v1", "v2").defines("v2", 3, 16, "v2").blames(t, "SVM-23", "is not the one that migration m began with")
	tell().defines("v1", 1, 3, "v1", "v2").defines("v1", 1, 5, "v1").blames(t, "SVM-23", "nothing migrates it")
	begun().lies("y", v1, "m", 15, 15, 2).defines("v2", 2, 16, "v2").migrates("m", 10, 20, 11, nowSucceeded).
		blames(t, "SVM-23", "things y is stored as v1")
	// What never ends has not succeeded either; what ends with the history may have.
	begun().defines("v2", 2, 15, "v2").pass(time.Minute).blames(t, "SVM-23", "migration m trimmed storedVersions of things.g.io and has not succeeded since")
	begun().defines("v2", 2, 15, "v2").blames(t, "SVM-23")
}

func TestSVM18And19WaitForABound(t *testing.T) {
	unknown := func() *tale {
		return tell().starts("a", 1).hosts("a", 1).starts("b", 1).hosts("b", 2).starts("c", 1).hosts("c", 3).manager("a", history.ProcessStarted).leads("a", 4)
	}
	of := func(told *tale, resource string, created, revision int64, conditions ...string) *tale {
		told.migrates("m", created, revision, 0, conditions...)
		told.events[len(told.events)-1].Stored.Migration.Resource = resource
		return told
	}
	saw(t, of(of(unknown(), "nothings", 10, 10).pass(time.Minute), "nothings", 10, 12, nowFailed).blames(t, "SVM-18"), "failed with a reason", 1)
	of(of(unknown(), "nothings", 10, 10).pass(4*time.Minute), "nothings", 10, 12, nowFailed).blames(t, "SVM-18", "took 4m0s to fail")
	of(unknown(), "nothings", 10, 10).pass(4*time.Minute).blames(t, "SVM-18", "has not failed for 3m0s")
	// What is hosted is not unknown.
	of(unknown(), "things", 10, 10).pass(4*time.Minute).blames(t, "SVM-18")
}

func TestSVM19LeavesNothingOpen(t *testing.T) {
	const minute = time.Minute
	asked := func() *tale { return upgraded().manages("a", 8).migrates("m", 10, 10, 0) }
	began := func() *tale { return asked().migrates("m", 10, 12, 11, nowRuns) }
	lost := func(told *tale) *tale { return told.says(things, 13, "a="+v2, "b="+v1) }
	returned := func(told *tale) *tale { return lost(told).pass(minute).says(things, 14, "a="+v2, "b="+v2) }
	const run, begun = "migration m has run for 15m0s and not ended", "migration m has not begun for 15m0s, with the servers in agreement on g.io/v2"

	began().pass(14*minute).blames(t, "SVM-19")
	began().pass(16*minute).blames(t, "SVM-19", run)
	began().pass(16*minute).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-19")
	// An agreement that was away for a moment gives it more time, and not for ever.
	returned(began().pass(10*minute)).pass(10*minute).blames(t, "SVM-19")
	returned(began()).pass(16*minute).blames(t, "SVM-19", run)
	lost(began()).pass(16*minute).blames(t, "SVM-19") // It is to stop, which SVM-21 says.
	lost(began()).says(things, 14, "a="+v1, "b="+v1).pass(16*minute).blames(t, "SVM-19")
	// The servers agreed only after it had begun.
	disagreed := upgraded().manages("a", 5).says(things, 6, "a="+v1, "b="+v2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	disagreed.says(things, 13, "a="+v2, "b="+v2).pass(16*minute).blames(t, "SVM-19", run)

	asked().pass(14*minute).blames(t, "SVM-19")
	asked().pass(16*minute).blames(t, "SVM-19", begun)
	returned(asked()).pass(16*minute).blames(t, "SVM-19", begun)
	returned(asked().pass(10*minute)).pass(10*minute).blames(t, "SVM-19")
	lost(asked()).pass(16*minute).blames(t, "SVM-19")
	// Nobody was there to begin it, or not for long enough.
	asked().manager("a", history.ProcessExited).pass(16*minute).blames(t, "SVM-19")
	asked().pass(10*minute).manages("b", 13).pass(10*minute).blames(t, "SVM-19")
	// It has to wait for one that runs, and to have the time after that.
	two := func() *tale {
		return upgraded().manages("a", 8).migrates("old", 9, 9, 0).migrates("old", 9, 10, 9, nowRuns).migrates("m", 11, 11, 0)
	}
	two().pass(16*minute).blames(t, "SVM-19", "migration old has run for 15m0s and not ended")
	two().pass(10*minute).migrates("old", 9, 12, 9, nowSucceeded).pass(10*minute).blames(t, "SVM-19")
	two().pass(10*minute).migrates("old", 9, 12, 9, nowSucceeded).pass(16*minute).blames(t, "SVM-19", begun)
	// And for an older one, which is blamed.
	asked().migrates("young", 11, 11, 0).pass(16*minute).blames(t, "SVM-19", begun)
}

func TestDeletedObjectsAreForgotten(t *testing.T) {
	told := upgraded()
	for i := range int64(keptBuried + 10) {
		name := "n" + strconv.FormatInt(i, 10)
		told.lies(name, v1, "m", 100+2*i, 100+2*i, 10+i).goes(name, 101+2*i)
	}
	w := told.world()
	if n := len(w.migrations.buried); n != keptBuried || len(w.migrations.graves) != n || len(w.migrations.objects) != 1 {
		t.Errorf("%d deleted objects are remembered, and %d live ones", n, len(w.migrations.objects))
	}
}

func TestSVM15TakesTheRateAndTheTime(t *testing.T) {
	things := func(told *tale, apart time.Duration) *tale {
		for i := range int64(6) {
			told.lies("y"+strconv.FormatInt(i, 10), v1, "m", 20+i, 20+i, 20+i)
		}
		told.migrates("m", 30, 30, 0).migrates("m", 30, 32, 31, nowRuns)
		for i := range int64(6) {
			told.lies("y"+strconv.FormatInt(i, 10), v2, "m", 20+i, 40+i, 0).pass(apart)
		}
		return told
	}
	things(upgraded(), time.Second).migrates("m", 30, 60, 31, nowSucceeded).blames(t, "SVM-15")
	things(upgraded(), 10*time.Millisecond).migrates("m", 30, 60, 31, nowSucceeded).blames(t, "SVM-15", "a second, and 10 a second are declared")
	declared := things(upgraded(), 10*time.Millisecond).migrates("m", 30, 60, 31, nowSucceeded)
	declared.header.MigrationRate = 200
	declared.blames(t, "SVM-15")

	// A little too fast is too fast if it goes on, and before the end, too.
	steady := func(n int64, apart time.Duration) *tale {
		told := upgraded()
		for i := range n {
			told.lies("y"+strconv.FormatInt(i, 10), v1, "m", 20+i, 20+i, 20+i)
		}
		told.migrates("m", 20+n, 20+n, 0).migrates("m", 20+n, 22+n, 21+n, nowRuns)
		for i := range n {
			told.pass(apart).lies("y"+strconv.FormatInt(i, 10), v2, "m", 20+i, 30+n+i, 0)
		}
		return told
	}
	const tooFast = "which are 14 a second, and 10 a second are declared"
	steady(600, time.Second/14).migrates("m", 620, 2000, 621, nowSucceeded).blames(t, "SVM-15", tooFast)
	steady(600, time.Second/14).blames(t, "SVM-15", tooFast)
	steady(600, time.Second/10).migrates("m", 620, 2000, 621, nowSucceeded).blames(t, "SVM-15")

	// Neither does a rest afterwards make up for a hurry: 40 objects at once and five
	// more in five minutes.
	hurried := func(n int64, rate float64, begun ...func(*tale)) *tale {
		told := upgraded()
		told.header.MigrationRate = rate
		for i := range n + 5 {
			told.lies("y"+strconv.FormatInt(i, 10), v1, "m", 20+i, 20+i, 20+i)
		}
		told.migrates("m", 100, 100, 0).migrates("m", 100, 102, 101, nowRuns)
		for _, then := range begun {
			then(told)
		}
		for i := range n + 5 {
			if i >= n {
				told.pass(time.Minute)
			}
			told.lies("y"+strconv.FormatInt(i, 10), v2, "m", 20+i, 110+i, 0)
		}
		return told.migrates("m", 100, 200, 101, nowSucceeded)
	}
	hurried(40, 2).blames(t, "SVM-15", "migration m rewrote 40 objects within 10s, which are 4 a second, and 2 a second are declared")
	hurried(30, 2).blames(t, "SVM-15")
	// What is told at once may have been done one after the other, unseen.
	unheard := func(told *tale) {
		told.pass(20 * time.Second).add(history.Event{Kind: history.KindAway, From: told.now - int64(20*time.Second), Away: &history.Away{Source: string(SourceEtcd)}})
	}
	saw(t, hurried(40, 2, unheard).blames(t, "SVM-15"), "whose pace was measured", 1)

	slow := func(before, during time.Duration) *tale {
		told := upgraded()
		for range needTimed {
			told.asks("a", 200, 6, sentBefore(before))
		}
		things(told, time.Second)
		for range needTimed {
			told.asks("a", 200, 60, sentBefore(during))
		}
		return told.migrates("m", 30, 60, 31, nowSucceeded)
	}
	slow(10*time.Millisecond, 4*time.Second).blames(t, "SVM-15", "the slowest of a hundred requests took")
	// Neither is a busy machine a migration's fault, nor is what is quick enough.
	slow(3*time.Second, 4*time.Second).blames(t, "SVM-15")
	slow(10*time.Millisecond, 500*time.Millisecond).blames(t, "SVM-15")
}

func TestSVM15CountsWhoIsNotServed(t *testing.T) {
	// Each member is ready, and needTimed requests are served in time while none runs,
	// and while one does; then what is given happens to another one.
	begun := func() *tale {
		told := tell().starts("a", 1).joins("a", 1).joins("b", 2).says(things, 3, "a="+v2, "b="+v2).lies("x", v1, "m", 5, 5, 1).ready("a", 200, 5)
		for range needTimed {
			told.asks("a", 200, 6)
		}
		return told
	}
	running := func() *tale {
		told := begun().migrates("m", 30, 30, 0).migrates("m", 30, 32, 31, nowRuns)
		for range needTimed {
			told.asks("a", 200, 40)
		}
		return told
	}
	const what, blamed = "requests timed while a migration ran", "the slowest of a hundred requests took 2.8"
	// fails has a request fail so, after it took so long.
	fails := func(told *tale, code int, took time.Duration, changes ...func(*history.Event)) *tale {
		plain := func(ev *history.Event) { ev.Request.Barrier = false }
		return told.pass(took).asks("a", code, 0, append([]func(*history.Event){plain, sentBefore(took)}, changes...)...)
	}
	refused := func(ev *history.Event) { ev.Request.Error = "dial tcp 127.0.0.1:6443: connect: connection refused" }
	canceled := func(ev *history.Event) { ev.Request.Error = "context canceled" }
	barrier := func(ev *history.Event) { ev.Request.Barrier = true }
	for code, took := range map[int]time.Duration{0: 3 * time.Second, 429: time.Millisecond, 503: time.Millisecond, 504: 3 * time.Second} {
		saw(t, fails(running(), code, took).pass(time.Minute).ready("a", 200, 50).blames(t, "SVM-15", blamed), what, needTimed+1)
	}
	for name, told := range map[string]*tale{
		"nobody was there":          fails(running(), 0, time.Millisecond, refused),
		"nobody waited":             fails(running(), 0, time.Second, canceled),
		"a barrier":                 fails(running(), 503, time.Millisecond, barrier),
		"a conflict":                fails(running(), 409, time.Second),
		"its server ended":          fails(running(), 0, time.Second).exits("a", 1),
		"it was started":            fails(running().exits("a", 1).starts("a", 2), 503, time.Millisecond),
		"it was not ready":          fails(running().ready("a", 500, 41), 503, time.Millisecond),
		"it was ready only then":    fails(running().ready("a", 500, 41).pass(time.Second).ready("a", 200, 42), 503, time.Second, sentBefore(time.Second)),
		"it was not ready any more": fails(running(), 503, time.Millisecond).ready("a", 500, 41),
		"a fault is there":          fails(running().delays(history.PhaseInject).ready("a", 200, 41), 504, time.Second),
		"a fault was there":         fails(running().delays(history.PhaseInject), 504, time.Second).delays(history.PhaseHeal),
	} {
		t.Run(name, func(t *testing.T) {
			saw(t, told.pass(time.Minute).ready("a", 200, 50).blames(t, "SVM-15"), what, needTimed)
		})
	}
	// How things end is not known of the last moment.
	saw(t, fails(running(), 503, time.Second).blames(t, "SVM-15"), what, needTimed)
	// A server that does not answer for its readiness may have too much to do.
	saw(t, fails(running().ready("a", 0, 0), 503, time.Second).pass(time.Minute).ready("a", 200, 50).blames(t, "SVM-15", blamed), what, needTimed+1)
	// It is no migration's fault if it was so before.
	before := fails(begun(), 503, time.Second).pass(time.Minute).migrates("m", 30, 30, 0).migrates("m", 30, 32, 31, nowRuns)
	for range needTimed {
		before.asks("a", 200, 40)
	}
	saw(t, fails(before, 503, time.Second).pass(time.Minute).ready("a", 200, 50).blames(t, "SVM-15"), "requests timed while none ran", needTimed+1)
}

func TestSVM20SeesWritesThatNobodyTellsOf(t *testing.T) {
	upgraded().says(things, 6, "a="+v1, "b="+v2).migrates("m", 10, 10, 0).lies("x", v2, "m", 5, 12, 0).blames(t, "SVM-20", "when the servers agreed on no version and migration m had not begun")
	// It may be the rest of one that was deleted a moment ago.
	upgraded().migrates("m", 10, 10, 0).lies("x", v2, "m", 5, 12, 0).blames(t, "SVM-20")
}

// manages has a member's API server and controller manager begin, and the latter lead.
func (t *tale) manages(member string, revision int64) *tale {
	return t.starts(member, 1).manager(member, history.ProcessStarted).leads(member, revision)
}

// A machine that has no time for a controller, or none for its leader, is no breach.
func TestSVM11WantsTheTimeToEnd(t *testing.T) {
	crashed := func() *tale {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).manager("a", history.ProcessExited)
	}
	crashed().pass(6*time.Minute).blames(t, "SVM-11")
	crashed().manages("b", 13).pass(6*time.Minute).blames(t, "SVM-11", "has not ended after its controller had ended, and nothing came of it for 5m0s or longer")
	crashed().pass(6*time.Minute).manages("b", 13).pass(4*time.Minute).blames(t, "SVM-11")
	crashed().manages("b", 13).pass(4*time.Minute).lies("x", v2, "m", 5, 14, 0).pass(4*time.Minute).blames(t, "SVM-11")
	crashed().manages("b", 13).pass(4*time.Minute).migrates("m", 10, 14, 11, nowRuns).pass(4*time.Minute).blames(t, "SVM-11")
	// That it fails is one at once.
	crashed().manages("b", 13).migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-11", "after its controller had ended")
}

// meets has a write of a thing by a's controller manager come to an error, 0 for
// none at all.
func (t *tale) meets(name string, code int) *tale {
	return t.asked("PUT", "/apis/g.io/v1/things/"+name, code)
}

// asked is a request of a's controller manager that a fault has hit.
func (t *tale) asked(method, path string, code int) *tale {
	return t.add(history.Event{Kind: history.KindExchange, Member: "a", From: t.now, Exchange: &history.Exchange{
		Fault: "f", Component: history.ComponentControllerManager, Method: method, Path: path, Sent: code > 0, Code: code}})
}

func TestSVM10CountsWhatPasses(t *testing.T) {
	begun := func() *tale {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	const what = "errors that pass by themselves under"
	saw(t, begun().meets("x", 429).meets("x", 500).meets("x", 0).lies("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-10"), what, 3)
	// A conflict does not pass, nor is an answer that is none an error; and who reads
	// or watches does not migrate.
	saw(t, begun().meets("x", 409).meets("x", 200).asked("GET", "/apis/g.io/v1/things/x", 503).asked("PUT", "/apis/g.io/v1/things/x/status", 503).
		asked("PUT", "/apis/g.io/v1/others/x", 503).lies("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-10"), what, 0)
	// What is met before it runs, or under one that does not succeed, is nothing survived.
	saw(t, upgraded().migrates("m", 10, 10, 0).meets("x", 503).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-10"), what, 0)
	begun().meets("x", 503).migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-10", "failed (R: 20) after 1 errors that pass")
	begun().migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-10")
	// To fail for want of an agreement is right.
	begun().meets("x", 503).says(things, 13, "a="+v2, "b="+v1).migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-10")
	// It has had the time to end only if its controller lives and leads.
	begun().meets("x", 503).pass(6*time.Minute).blames(t, "SVM-10")
	begun().manages("a", 13).meets("x", 503).pass(6*time.Minute).blames(t, "SVM-10", "met 1 errors that pass by themselves and has not ended, and nothing came of it for 5m0s or longer")
	begun().manages("a", 13).meets("x", 503).pass(4*time.Minute).manages("b", 14).pass(4*time.Minute).blames(t, "SVM-10")
	begun().lies("y", v1, "m", 13, 13, 2).manages("a", 14).meets("x", 503).pass(4*time.Minute).lies("y", v2, "m", 13, 15, 0).pass(4*time.Minute).blames(t, "SVM-10")
	begun().meets("x", 503).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-10", "things x, whose write had met an error that passes by itself, is stored as g.io/v1")
}

func TestObjectOf(t *testing.T) {
	for path, want := range map[string]string{
		"/apis/g.io/v1/things/x":                     "things.g.io x",
		"/apis/g.io/v1/namespaces/n/things/x":        "things.g.io n/x",
		"/api/v1/namespaces/n/configmaps/x":          "configmaps. n/x",
		"/api/v1/namespaces/n":                       "namespaces. n",
		"/apis/g.io/v1/things":                       "",
		"/apis/g.io/v1/things/x/status":              "",
		"/apis/g.io/v1/namespaces/n/things":          "",
		"/apis/g.io/v1/namespaces/n/things/x/status": "",
		"/apis/g.io": "",
		"/healthz":   "",
		"":           "",
	} {
		got := ""
		if gr, name, ok := objectOf(path); ok {
			got = gr.resource + "." + gr.group + " " + name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestSVM12CountsWhatIsWrittenAgain(t *testing.T) {
	// Of ten things seven are written when the controller of a ends, and the rest after.
	interrupted := func(again int) *tale {
		told := tell().stored(history.Stored{Type: history.StoredPut, Key: leaderLease, Revision: 1, Created: 1, Lease: &history.Lease{Holder: "a_1"}}).
			joins("a", 2).says(things, 3, "a="+v2)
		write := func(i int) string {
			name := "y" + strconv.Itoa(i)
			told.meets(name, 200)
			return name
		}
		for i := range 10 {
			told.lies("y"+strconv.Itoa(i), v1, "m", 20+int64(i), 20+int64(i), 20+int64(i))
		}
		told.migrates("m", 30, 30, 0).migrates("m", 30, 32, 31, nowRuns)
		for i := range 7 {
			told.lies(write(i), v2, "m", 20+int64(i), 40+int64(i), 0)
		}
		told.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{
			Component: history.ComponentControllerManager, Change: history.ProcessExited, Instance: 1}})
		for i := range again {
			write(i)
		}
		for i := 7; i < 10; i++ {
			told.lies(write(i), v2, "m", 20+int64(i), 40+int64(i), 0)
		}
		return told.migrates("m", 30, 60, 31, nowSucceeded)
	}
	const what = "after which the controller went on"
	saw(t, interrupted(0).blames(t, "SVM-12"), what, 1)
	saw(t, interrupted(2).blames(t, "SVM-12"), what, 1)
	saw(t, interrupted(7).blames(t, "SVM-12", "when 7 of 10 objects were done, and 7 of those were written again"), what, 1)
	// Writes that nobody saw may have been repetitions.
	blind := interrupted(0)
	for i := range blind.events {
		if x := blind.events[i].Exchange; x != nil && x.Path == "/apis/g.io/v1/things/y8" {
			x.Method = "GET"
		}
	}
	if r := blind.blames(t, "SVM-12"); !strings.Contains(strings.Join(r.Reasons, "; "), "1 objects were rewritten by interrupted migrations and no write of them was seen") {
		t.Errorf("%q", r.Reasons)
	}
}

func TestSVM17WantsNews(t *testing.T) {
	begun := func() *tale { return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 0, nowRuns) }
	says := func(t *tale, revision, checkpoint int64, message string, succeeded bool) *tale {
		m := &history.Migration{Group: group, Resource: "things", Checkpoint: strconv.FormatInt(checkpoint, 10), Conditions: []history.Condition{{Type: nowRuns, Status: "True", Reason: "R", Message: message}}}
		if succeeded {
			m.Conditions = append(m.Conditions, history.Condition{Type: nowSucceeded, Status: "True", Reason: "R"})
		}
		return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/storageversionmigrations/m", Name: "m", Created: 10, Revision: revision, Migration: m})
	}
	// The checkpoint and the outcome are no reports of progress.
	says(says(begun(), 13, 11, "12", false).pass(time.Minute), 20, 11, "12", true).blames(t, "SVM-17", "its status told nothing on the way")
	saw(t, says(says(begun(), 13, 11, "1 of 2", false).pass(time.Minute), 20, 11, "1 of 2", true).blames(t, "SVM-17"), "reports of progress", 1)
}

func TestSVM20WantsAWait(t *testing.T) {
	const waited = "and that a controller had the time to begin with"
	asked := func() *tale {
		return upgraded().manages("a", 6).says(things, 7, "a="+v1, "b="+v2).migrates("m", 10, 10, 0)
	}
	begins := func(t *tale) *tale {
		return t.says(things, 20, "a="+v2, "b="+v2).pass(time.Second).migrates("m", 10, 22, 21, nowRuns)
	}
	saw(t, begins(asked().idle(time.Minute)).blames(t, "SVM-20"), waited, 1)
	// A controller that has no time, or is not there, begins nothing either.
	saw(t, begins(asked().idle(time.Second)).blames(t, "SVM-20"), waited, 0)
	saw(t, begins(asked().manager("a", history.ProcessExited).idle(time.Minute)).blames(t, "SVM-20"), waited, 0)
	saw(t, begins(asked().manager("a", history.ProcessExited).idle(time.Minute).manages("b", 15).idle(time.Second)).blames(t, "SVM-20"), waited, 0)
	// One that had the time and went shows it, too.
	saw(t, begins(asked().idle(time.Minute).manager("a", history.ProcessExited).manages("b", 15).idle(time.Second)).blames(t, "SVM-20"), waited, 1)
	// Nor does one show anything that takes as long to begin with all in agreement.
	slow := begins(asked().idle(time.Minute)).migrates("m", 10, 23, 21, nowSucceeded).migrates("n", 24, 24, 0).idle(2*time.Minute).migrates("n", 24, 25, 24, nowRuns)
	saw(t, slow.blames(t, "SVM-20"), waited, 0)
	// Whoever says that he has succeeded has begun.
	asked().migrates("m", 10, 22, 21, nowSucceeded).blames(t, "SVM-20", "began to run at revision 22, when the servers agreed on no version")
}

// A success is held against what its servers agreed on when it began, where they do not
// agree any more.
func TestASuccessWithoutAgreement(t *testing.T) {
	lost := func() *tale {
		return upgraded().lies("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).
			lies("x", v2, "m", 5, 13, 0).says(things, 14, "a="+v2, "b="+v1)
	}
	lost().migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-04", "and 1 objects from before its checkpoint 11 are not stored as g.io/v2")
	lost().lies("y", v2, "m", 6, 15, 0).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-04")
	lost().lies("z", v1, "m", 16, 16, 3).migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-22", "which was made on the way, is stored as g.io/v1")
	// Nobody need know of a checkpoint.
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 0, nowRuns).lies("z", v1, "m", 16, 16, 3).migrates("m", 10, 20, 0, nowSucceeded).
		blames(t, "SVM-22", "which was made on the way, is stored as g.io/v1")
}

// What a migration has under way when it ends, or writes a second time, is judged too.
func TestWritesAfterARewrite(t *testing.T) {
	begun := func() *tale {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v2, "m", 5, 13, 0)
	}
	begun().lies("x", v2, "other", 5, 14, 0).blames(t, "SVM-05", "its metadata is not what it was")
	begun().lies("x", v2, "other", 5, 14, 0).blames(t, "SVM-16", "its metadata is not what it was")
	begun().lies("x", v2, "other", 5, 14, 2).lies("x", v2, "finalizer", 5, 15, 0).blames(t, "SVM-05")
	ended := func() *tale {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v1, "m2", 5, 13, 2).migrates("m", 10, 14, 11, nowFailed)
	}
	ended().lies("x", v2, "m", 5, 15, 1).blames(t, "SVM-07", "at revision 15 write 1 of a is back; migration m had begun")
	ended().lies("x", v2, "m2", 5, 15, 0).blames(t, "SVM-05")
	ended().lies("x", v2, "other", 5, 15, 0).blames(t, "SVM-05", "after migration m had ended, and its metadata is not what it was")
}

func TestMigrationsThatNeverEnd(t *testing.T) {
	begun := func() *tale {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	begun().exits("b", 1).pass(6*time.Minute).blames(t, "SVM-13", "has not ended after API servers had been restarted, and nothing came of it for 5m0s or longer")
	begun().exits("b", 1).pass(4*time.Minute).blames(t, "SVM-13")
	// Another leader is no excuse, whether the one before it ended or not.
	begun().manages("b", 13).pass(6*time.Minute).blames(t, "SVM-11", "has not ended after another controller had come to lead")
	begun().manages("b", 13).migrates("m", 10, 20, 11, nowFailed).blames(t, "SVM-11", "after another controller had come to lead")
	// Nobody has announced anything, so there is nothing to wait for.
	alone := func() *tale {
		return tell().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	alone().pass(16*time.Minute).blames(t, "SVM-19", "has run for 15m0s and not ended, with no server having announced anything")
	begun().pass(10*time.Minute).lies("x", v2, "m", 5, 14, 0).pass(10*time.Minute).blames(t, "SVM-19")
}
