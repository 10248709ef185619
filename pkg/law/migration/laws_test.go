package migration

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// migrates stores a migration of things at a revision; the conditions that are
// named are True. Its checkpoint is the one given, none if that is 0.
func (t *historyBuilder) migrates(name string, created, revision, checkpoint int64, conditions ...string) *historyBuilder {
	m := &history.Migration{Group: group, Resource: "things"}
	if checkpoint > 0 {
		m.Checkpoint = strconv.FormatInt(checkpoint, 10)
	}
	for _, kind := range conditions {
		m.Conditions = append(m.Conditions, history.Condition{Type: kind, Status: "True", Reason: "R", Message: strconv.FormatInt(revision, 10)})
	}
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/storageversionmigrations/" + name, Name: name, Created: created, Revision: revision, Migration: m})
}

// stores stores a thing; write is the number of a's write, 0 if another client wrote.
func (t *historyBuilder) stores(name, version, metadata string, created, revision, write int64, managed ...string) *historyBuilder {
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

func (t *historyBuilder) loses(name string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/g.io/things/" + name, Revision: revision})
}

// upgraded are servers that agree on the second version, with a thing in the first.
func upgraded() *historyBuilder {
	return newHistory().joins("a", 1).joins("b", 2).announces(things, 3, "a="+v2, "b="+v2).stores("x", v1, "m", 5, 5, 1)
}

const nowRuns, nowSucceeded, nowFailed = history.MigrationRunning, history.MigrationSucceeded, history.MigrationFailed

func TestSVM02SeesTwoOutcomes(t *testing.T) {
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowSucceeded, nowFailed).finds(t, "SVM-02", "both succeeded and failed")
}

func TestSVM03ComparesTheCheckpoint(t *testing.T) {
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 9, nowRuns).finds(t, "SVM-03", "its checkpoint was recorded as 9")
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 99, nowRuns).finds(t, "SVM-03", "its checkpoint was recorded as 99")
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 14, 13, nowRuns).finds(t, "SVM-03", `was 11 and is "13"`)
	// One that was made anew under the same name has a checkpoint of its own.
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).
		stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/m", Revision: 13}).
		migrates("m", 14, 14, 0).migrates("m", 14, 16, 15, nowRuns).finds(t, "SVM-03")
}

func TestSVM04LooksAtWhatLivesOnly(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().stores("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	begun().migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-04", "2 objects from before its checkpoint")
	begun().stores("x", v2, "m", 5, 14, 0).loses("y", 15).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-04")
	// What was made after the checkpoint is another row's.
	begun().stores("x", v2, "m", 5, 14, 0).loses("y", 15).stores("z", v1, "m", 16, 16, 3).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-04")
	begun().stores("x", v2, "m", 5, 14, 0).loses("y", 15).stores("z", v1, "m", 16, 16, 3).migrates("m", 10, 20, 11, nowSucceeded).
		finds(t, "SVM-22", "which were created on the way are not stored as g.io/v2, the first one being things z, which is stored as g.io/v1")
}

func TestSVM05KnowsWhatAnyWriteLoses(t *testing.T) {
	begun := func() *historyBuilder {
		return newHistory().joins("a", 1).announces(things, 3, "a="+v2).hosts("a", 4).stores("x", "g.io/v0", "m", 5, 5, 1, v1, "g.io/v0").
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	// No client serves v0 any more, so that no client could see its fields.
	begun().stores("x", v2, "m", 5, 14, 0, v1).finds(t, "SVM-05")
	begun().stores("x", v2, "m", 5, 14, 0, "g.io/v0").finds(t, "SVM-05", "its managed fields of g.io/v1 are not what it was")
	begun().stores("x", v2, "m", 5, 14, 0, v1, v2).finds(t, "SVM-05", "its managed fields of g.io/v2 are not what it was")
	begun().stores("x", v2, "n", 5, 14, 0, v1).finds(t, "SVM-05", "its metadata is not what it was")
	// One that protects a resource puts its finalizer on whatever comes without it, and takes it from what
	// is deleted. A migration does neither.
	changes := func(before, after history.Stored) *historyBuilder {
		b := newHistory().joins("a", 1).announces(things, 3, "a="+v2).hosts("a", 4)
		for i, s := range []history.Stored{before, after} {
			s.Type, s.Key, s.Name, s.Created, s.ObjectKind, s.APIVersion = history.StoredPut, "/registry/g.io/things/x", "x", 5, "Thing", []string{v1, v2}[i]
			s.Revision, s.Managed = []int64{5, 14}[i], map[string]string{v1: "f"}
			if b.stored(s); i == 0 {
				b.migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
			}
		}
		return b
	}
	bare, kept := history.Stored{Metadata: "m"}, history.Stored{Metadata: "p", Protected: true}
	dying := history.Stored{Metadata: "d", Protected: true, Deleting: true}
	changes(bare, kept).finds(t, "SVM-05")
	changes(dying, history.Stored{Metadata: "e", Deleting: true}).finds(t, "SVM-05")
	changes(kept, bare).finds(t, "SVM-05", "its metadata is not what it was")
	changes(kept, history.Stored{Metadata: "q", Protected: true}).finds(t, "SVM-05", "its metadata is not what it was")
	changes(bare, history.Stored{Metadata: "q"}).finds(t, "SVM-05", "its metadata is not what it was")
	// A controller that puts a finalizer on what was just made is no migration.
	begun().stores("y", v2, "m", 13, 13, 2).stores("y", v2, "with a finalizer", 13, 14, 0).finds(t, "SVM-05")
}

// keeps stores a thing with a content; write is the number of a's write, 0 if another client
// wrote.
func (t *historyBuilder) keeps(name, version, content string, created, revision, write int64) *historyBuilder {
	s := history.Stored{Type: history.StoredPut, Key: "/registry/g.io/things/" + name, Name: name, Created: created, Revision: revision,
		APIVersion: version, ObjectKind: "Thing", Metadata: "m", Content: content}
	if write > 0 {
		s.Writer, s.Write = "a", write
	}
	return t.stored(s)
}

func TestSVM05FollowsContents(t *testing.T) {
	begun := func() *historyBuilder {
		return newHistory().joins("a", 1).joins("b", 2).announces(things, 3, "a="+v2, "b="+v2).
			keeps("x", v1, "heavy", 5, 5, 1).keeps("y", v1, "heavy", 6, 6, 2).keeps("z", v1, "light", 7, 7, 3).
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	const differed = "contents of one resource that differed, and still did when it was stored in another version"
	counted(t, begun().keeps("x", v2, "schwer", 5, 14, 0).keeps("y", v2, "schwer", 6, 15, 0).keeps("z", v2, "leicht", 7, 16, 0).
		finds(t, "SVM-05"), differed, 2)
	begun().keeps("x", v2, "schwer", 5, 14, 0).keeps("y", v2, "leicht", 6, 15, 0).
		finds(t, "SVM-05", "its content (which x had too, and was left with another one) is not what it was")
	begun().keeps("x", v2, "schwer", 5, 14, 0).keeps("z", v2, "schwer", 7, 15, 0).
		finds(t, "SVM-05", "its content (now that of x, from which it had differed) is not what it was")
	// What users write is theirs.
	begun().keeps("x", v2, "schwer", 5, 14, 4).keeps("y", v2, "leicht", 6, 15, 0).finds(t, "SVM-05")
	// One content alone could be anything, and an object without a digest was not looked at.
	counted(t, begun().keeps("x", v2, "", 5, 14, 0).keeps("z", v2, "leicht", 7, 16, 0).finds(t, "SVM-05"), differed, 1)
}

func TestSVM05ComparesWhereVersionsAreAlike(t *testing.T) {
	class := func(b *historyBuilder, version, content string, revision, write int64) *historyBuilder {
		s := history.Stored{Type: history.StoredPut, Key: "/registry/volumeattributesclasses/gold", Name: "gold", Created: 5, Revision: revision,
			APIVersion: "storage.k8s.io/" + version, ObjectKind: "VolumeAttributesClass", Metadata: "m", Content: content}
		if write > 0 {
			s.Writer, s.Write = "a", write
		}
		return b.stored(s)
	}
	migrates := func(b *historyBuilder, revision int64, is ...string) *historyBuilder {
		m := &history.Migration{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}
		for _, kind := range is {
			m.Conditions = append(m.Conditions, history.Condition{Type: kind, Status: "True", Reason: "R"})
		}
		return b.stored(history.Stored{Type: history.StoredPut, Key: "/registry/storageversionmigrations/c", Name: "c", Created: 10, Revision: revision, Migration: m})
	}
	begun := func() *historyBuilder {
		b := newHistory()
		b.header.Writes = append(b.header.Writes, history.WrittenResource{Group: "storage.k8s.io", Resource: "volumeattributesclasses", Kind: "VolumeAttributesClass"})
		b.joins("a", 1).announces("storage.k8s.io.volumeattributesclasses", 3, "a=storage.k8s.io/v1")
		return migrates(migrates(class(b, "v1beta1", "gold", 5, 1), 10), 12, nowRuns)
	}
	class(begun(), "v1", "gold", 14, 0).finds(t, "SVM-05")
	class(begun(), "v1", "brass", 14, 0).finds(t, "SVM-05", "its content is not what it was")
}

func TestSVM09SeesNamespacesGo(t *testing.T) {
	begun := func() *historyBuilder {
		return newHistory().joins("a", 1).joins("b", 2).announces(things, 3, "a="+v2, "b="+v2).stores("hold/x", v1, "m", 5, 5, 1).stores("hold/y", v1, "m", 6, 6, 2).
			stores("deck/z", v1, "m", 7, 7, 3).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).loses("hold/x", 14).loses("hold/y", 15).loses("deck/z", 16)
	}
	gone := func(t *historyBuilder, revision int64) *historyBuilder {
		return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/namespaces/hold", Revision: revision})
	}
	const single, together = "objects that users deleted before", "objects that went with their namespace"
	r := gone(begun(), 17).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-09")
	counted(t, r, single, 1)
	counted(t, r, together, 2)
	// A client that empties a namespace has not deleted it.
	r = begun().migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-09")
	counted(t, r, single, 3)
	counted(t, r, together, 0)
	// A namespace may go when the migration has ended.
	r = gone(begun().migrates("m", 10, 20, 11, nowSucceeded), 21).finds(t, "SVM-09")
	counted(t, r, single, 1)
	counted(t, r, together, 2)
	gone(begun(), 17).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-09", "after 3 of its objects had been deleted")
}

func TestSVM24WatchesWhatStops(t *testing.T) {
	dropped := func() *historyBuilder {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).
			stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/m", Revision: 13})
	}
	const stopped = "of those, ones that left objects in an old version, which nothing else began to migrate meanwhile"
	counted(t, dropped().after(time.Minute).stores("z", v2, "m", 14, 14, 2).finds(t, "SVM-24"), stopped, 1)
	dropped().after(time.Minute).stores("x", v2, "m", 5, 14, 0).finds(t, "SVM-24", "after migration m was deleted")
	// Nothing was left that it could have gone on with.
	counted(t, dropped().stores("x", v2, "m", 5, 14, 0).after(time.Minute).stores("z", v2, "m", 15, 15, 2).finds(t, "SVM-24"), stopped, 0)
	// What goes on there is the next one's.
	counted(t, dropped().migrates("n", 14, 14, 0).migrates("n", 14, 15, 14, nowRuns).after(time.Minute).stores("x", v2, "m", 5, 16, 0).finds(t, "SVM-24"), stopped, 0)
	// Nor is there anything to leave where it is not known what it migrated to.
	counted(t, upgraded().announces(things, 8, "a="+v1, "b="+v2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).
		stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/m", Revision: 13}).
		after(time.Minute).stores("z", v2, "m", 14, 14, 2).finds(t, "SVM-24"), stopped, 0)
}

// The next one may have more to wait for than the deletion of the one before.
func TestSVM24KnowsWhatTheNextOneWaitsFor(t *testing.T) {
	queued := func() *historyBuilder {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).after(3*time.Second).migrates("n", 13, 13, 0)
	}
	drop := func(t *historyBuilder) *historyBuilder {
		return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/m", Revision: 15})
	}
	const freed = "migrations that began after the one before them was deleted"
	drop(queued()).waits(40*time.Second).migrates("n", 13, 22, 21, nowRuns).finds(t, "SVM-24", "migration n began only 40s after m was deleted")
	drop(queued()).waits(40*time.Second).finds(t, "SVM-24", "migration n has not begun for")
	disputed := func() *historyBuilder {
		return drop(queued().announces(things, 14, "a="+v2, "b="+v1)).waits(40 * time.Second)
	}
	disputed().finds(t, "SVM-24")
	counted(t, disputed().announces(things, 20, "a="+v2, "b="+v2).migrates("n", 13, 22, 21, nowRuns).finds(t, "SVM-24"), freed, 0)
	disputed().announces(things, 20, "a="+v2, "b="+v2).waits(40*time.Second).migrates("n", 13, 22, 21, nowRuns).finds(t, "SVM-24", "after m was deleted")
	led := func() *historyBuilder {
		return drop(queued().manager("a", history.ProcessExited)).waits(40 * time.Second)
	}
	led().finds(t, "SVM-24")
	counted(t, led().manages("b", 16).migrates("n", 13, 22, 21, nowRuns).finds(t, "SVM-24"), freed, 0)
	counted(t, drop(queued()).waits(time.Second).migrates("n", 13, 22, 21, nowRuns).finds(t, "SVM-24"), freed, 1)
	// Nor may one that is asked for later be kept from its turn; it has not waited for it.
	asked := func() *historyBuilder {
		return drop(upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)).waits(3*time.Second).migrates("n", 16, 16, 0)
	}
	asked().waits(40*time.Second).migrates("n", 16, 22, 21, nowRuns).finds(t, "SVM-24", "migration n began only 43s after m was deleted")
	asked().waits(40*time.Second).finds(t, "SVM-24", "migration n has not begun for")
	counted(t, asked().waits(2*time.Second).migrates("n", 16, 22, 21, nowRuns).finds(t, "SVM-24"), freed, 0)
	// One of another resource may have it before.
	other := Resource{"", "configmaps"}
	asked().migrates("o", 11, 17, 0).of(other).migrates("o", 11, 18, 17, nowRuns).of(other).waits(40*time.Second).migrates("n", 16, 22, 21, nowRuns).finds(t, "SVM-24")
}

func TestSVM07TellsALostUpdateFromALateOne(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "n", 5, 14, 2)
	}
	begun().stores("x", v2, "m", 5, 15, 1).finds(t, "SVM-07", "write 2 of a at revision 14, and at revision 15 write 1 of a is back")
	begun().stores("x", v2, "o", 5, 15, 3).finds(t, "SVM-07")
	// However many writes came in between.
	busy := begun()
	for i := range int64(100) {
		busy.stores("x", v2, "o", 5, 15+i, 3+i)
	}
	busy.stores("x", v2, "m", 5, 120, 1).finds(t, "SVM-07", "write 102 of a at revision 114, and at revision 120 write 1 of a is back")
	// A migration may have read what was there before a user made the object anew.
	anew := func() *historyBuilder { return begun().loses("x", 15).stores("x", v2, "o", 16, 16, 3) }
	anew().stores("x", v2, "m", 16, 17, 1).finds(t, "SVM-07", "write 3 of a at revision 16, and at revision 17 write 1 of a is back")
	anew().stores("x", v2, "p", 16, 17, 4).finds(t, "SVM-07")
}

func TestSVM08LetsUsersMakeAnew(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).loses("x", 14)
	}
	begun().stores("x", v2, "m", 15, 15, 1).finds(t, "SVM-08", "it was back without a user having created it")
	begun().stores("x", v2, "m", 15, 15, 0).finds(t, "SVM-08", "it was back without a user having created it")
	begun().stores("x", v2, "n", 15, 15, 2).finds(t, "SVM-08")
	// Nor may what a user has made anew, and deleted again, come back as it was at first.
	begun().stores("x", v2, "n", 15, 15, 2).loses("x", 16).stores("x", v2, "m", 17, 17, 1).finds(t, "SVM-08", "it was back without a user having created it")
}

func TestSVM08And09CountWhatWasToBeRewritten(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().stores("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	counts := func(b *historyBuilder, n int64) {
		t.Helper()
		counted(t, b.migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-08"), "objects deleted by users", n)
		counted(t, b.finds(t, "SVM-09"), "objects that users deleted before", n)
	}
	counts(begun().loses("x", 14), 1)
	counts(begun().stores("x", v2, "m", 5, 14, 0).loses("x", 15), 0)
	counts(begun().stores("x", v2, "n", 5, 14, 3).loses("x", 15).loses("y", 16), 1)
	begun().loses("x", 14).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-09", "after 1 of its objects had been deleted")
	begun().stores("x", v2, "m", 5, 14, 0).loses("x", 15).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-09")
	// Without an agreement it is not known what is still to be rewritten.
	disagreed := func() *historyBuilder {
		return upgraded().announces(things, 8, "a="+v2, "b="+v1).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	counts(disagreed().loses("x", 14), 0)
	counts(disagreed().announces(things, 13, "a="+v2, "b="+v2).loses("x", 14), 1)
}

func TestSVM14GoesByAge(t *testing.T) {
	two := func(apart time.Duration) *historyBuilder {
		return upgraded().migrates("old", 10, 10, 0).after(apart).migrates("young", 11, 11, 0).migrates("young", 11, 12, 11, nowRuns)
	}
	two(time.Minute).finds(t, "SVM-14", "and the older old had not")
	// Their creation times are the same, as far as can be told.
	two(time.Millisecond).finds(t, "SVM-14")
}

func TestSVM21JudgesTheEnd(t *testing.T) {
	lost := func() *historyBuilder {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).announces(things, 13, "a="+v2, "b="+v1)
	}
	counted(t, lost().migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-21"), "ended after their agreement was lost", 1)
	const late = (5 * time.Second) + time.Second
	lost().migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21", "migration m succeeded at revision 20, and since revision 13")
	// If all was done it had looked before, and its success was being written.
	done := func() *historyBuilder {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 13, 0).announces(things, 14, "a="+v2, "b="+v1)
	}
	counted(t, done().migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21"), "ended after their agreement was lost", 0)
	counted(t, done().delayed(late).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21"), "ended after their agreement was lost", 0)
	done().after(late).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21", "migration m succeeded at revision 20, and since revision 14")
	// The same goes for a loss that comes while the start is being written, also if the
	// success is the first that is told of it.
	begins := func(version string) *historyBuilder {
		return newHistory().joins("a", 1).joins("b", 2).announces(things, 3, "a="+v2, "b="+v2).stores("x", version, "m", 5, 5, 1).manages("a", 8).
			migrates("m", 10, 10, 0).announces(things, 11, "a="+v2, "b="+v1)
	}
	counted(t, begins(v2).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21"), "ended after their agreement was lost", 0)
	counted(t, begins(v2).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21"), "ended after their agreement was lost", 0)
	begins(v1).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21", "migration m succeeded at revision 20, and since revision 11")
	begins(v1).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21", "migration m succeeded at revision 20, and since revision 11")
	lost().after(2*time.Minute).finds(t, "SVM-21", "has not ended 1m0s after it lost its agreement")
	lost().after(30*time.Second).stores("x", v2, "m", 5, 16, 0).finds(t, "SVM-21", "s after migration m had lost its agreement")
	// It may begin anew if the agreement is back.
	returned := func() *historyBuilder { return lost().after(30*time.Second).announces(things, 15, "a="+v2, "b="+v2) }
	counted(t, returned().migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21"), "ended after their agreement was lost", 0)
	// A second loss has its own time.
	again := func() *historyBuilder { return returned().after(time.Minute).announces(things, 16, "a="+v2, "b="+v1) }
	again().after(5*time.Second).stores("x", v2, "m", 5, 17, 0).after(5*time.Second).finds(t, "SVM-21")
	counted(t, again().migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-21"), "ended after their agreement was lost", 1)
	again().migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21", "migration m succeeded at revision 20, and since revision 16")
	again().after(30*time.Second).stores("x", v2, "m", 5, 17, 0).finds(t, "SVM-21", "s after migration m had lost its agreement")
	again().after(2*time.Minute).finds(t, "SVM-21", "has not ended 1m0s after it lost its agreement")
	// That it ends in the end, or that the agreement comes back, is no excuse.
	lost().waits(14*time.Minute).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-21", "has not ended 1m0s after it lost its agreement")
	lost().waits(10*time.Minute).announces(things, 15, "a="+v2, "b="+v2).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21", "has not ended 1m0s after it lost its agreement")
	// Without a controller it cannot be ended.
	counted(t, lost().manager("a", history.ProcessExited).after(14*time.Minute).manages("b", 14).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-21"), "ended after their agreement was lost", 1)
	// What a condition says in spite of the entries is no agreement.
	stale, common := content("a="+v2, "b="+v1), v2
	stale.Common = &common
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).put(things, 13, stale).migrates("m", 10, 20, 11, nowSucceeded).
		finds(t, "SVM-21", "migration m succeeded at revision 20, and since revision 13")
}

func TestKubernetesMigratesWithoutAgreement(t *testing.T) {
	b := newHistory()
	b.header.Distribution = "kubernetes"
	b.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: 1, Release: "v1.36.3"}}).
		stored(history.Stored{Type: history.StoredPut, Key: leaderLease, Revision: 1, Created: 1, Lease: &history.Lease{Holder: "a_1"}}).
		announces(things, 3, "a="+v1, "b="+v2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	r := b.finds(t, "SVM-20")
	if len(r.Deviations) != 1 || r.Deviations[0].ID != "migrates-without-agreement" {
		t.Errorf("%s with the deviations %v", r.Verdict, r.Deviations)
	}
	b.header.Strict = true
	b.finds(t, "SVM-20", "when the servers agreed on no version")
}

func TestSVM22TellsARollbackFromAFalseSuccess(t *testing.T) {
	succeeds := func(b *historyBuilder) *historyBuilder {
		return b.stores("x", v1, "m", 5, 5, 1).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded)
	}
	up := func(b *historyBuilder) *historyBuilder {
		return succeeds(b.starts("a", 1).joins("a", 1).starts("b", 1).joins("b", 2).announces(things, 3, "a="+v2, "b="+v2).ready("a", 200, 4))
	}
	done := func() *historyBuilder { return up(newHistory()) }
	const agreedOn, joined = "after migration m to g.io/v2 had succeeded", "by a, which had joined before migration m to g.io/v2 succeeded at revision 20"
	done().stores("x", v1, "n", 5, 22, 2).finds(t, "SVM-22", agreedOn)
	// a was ready before, and announces the old version first.
	published := func() *historyBuilder { return done().announces(things, 21, "a="+v1, "b="+v2) }
	published().stores("x", v1, "n", 5, 22, 2).finds(t, "SVM-22", joined)
	// It had joined, and reports for the first time.
	late := func() *historyBuilder {
		return succeeds(newHistory().starts("a", 1).after(2*time.Second).joins("a", 1).joins("b", 2).announces(things, 3, "b="+v2)).announces(things, 21, "a="+v1, "b="+v2)
	}
	late().stores("x", v1, "n", 5, 22, 2).finds(t, "SVM-22", joined)
	late().ready("a", 200, 21).stores("x", v1, "n", 5, 22, 2).finds(t, "SVM-22", joined)
	// A member that is rolled back by then, and one that only joins then.
	rolledBack := func() *historyBuilder {
		return done().exits("a", 1).starts("a", 2).announces(things, 21, "a="+v1, "b="+v2)
	}
	rolledBack().stores("x", v1, "n", 5, 22, 2).finds(t, "SVM-22")
	// Where it is not certain which of two processes stored it, it is not certain who had joined.
	between := func() *historyBuilder { return published().after(time.Second).exits("a", 1).starts("a", 2) }
	for what, tc := range map[string]struct {
		told    *historyBuilder
		unclear int64
	}{
		"told late": {between().after(time.Second).away(5 * time.Second), 1}, "told in time": {between(), 0},
	} {
		if r := tc.told.stores("x", v1, "n", 5, 22, 2).finds(t, "SVM-22"); r.Obligations.Unclear != tc.unclear {
			t.Errorf("%s: %+v %q", what, r.Obligations, r.Reasons)
		}
	}
	succeeds(newHistory().joins("b", 2).announces(things, 3, "b="+v2)).starts("a", 1).joins("a", 21).announces(things, 22, "a="+v1, "b="+v2).stores("x", v1, "n", 5, 23, 2).finds(t, "SVM-22")
	// It had left when the migration succeeded.
	succeeds(newHistory().starts("a", 1).joins("a", 1).joins("b", 2).ready("a", 200, 3).leaves("a", 4).announces(things, 5, "b="+v2)).
		joins("a", 21).announces(things, 22, "a="+v1, "b="+v2).stores("x", v1, "n", 5, 23, 2).finds(t, "SVM-22")
	// No client knows whose write this is.
	published().stores("x", v1, "n", 5, 22, 0).finds(t, "SVM-22")
	// What a definition says may change without a restart, and settles what servers store.
	defined := func() *historyBuilder { return up(newHistory().defines("v2", 1, 1, "v2")) }
	defined().defines("v1", 2, 21, "v2", "v1").announces(things, 22, "a="+v1, "b="+v2).stores("x", v1, "n", 5, 23, 2).finds(t, "SVM-22")
	defined().announces(things, 22, "a="+v1, "b="+v2).stores("x", v1, "n", 5, 23, 2).finds(t, "SVM-22", joined)

	// The agreement is judged again when it is back.
	back := func() *historyBuilder {
		return rolledBack().stores("x", v1, "n", 5, 22, 2).exits("a", 2).starts("a", 3).announces(things, 23, "a="+v2, "b="+v2).stores("x", v2, "o", 5, 24, 3)
	}
	counted(t, back().finds(t, "SVM-22"), "writes after a success", 1)
	back().stores("x", v1, "p", 5, 25, 4).finds(t, "SVM-22", agreedOn)
	// Until another migration has succeeded, which is what counts from then on.
	other := rolledBack().announces(things, 23, "a="+v1, "b="+v1).migrates("o", 30, 30, 0).migrates("o", 30, 31, 30, nowRuns).migrates("o", 30, 32, 30, nowSucceeded)
	other.stores("x", v1, "n", 5, 33, 2).finds(t, "SVM-22")
}

// defines stores the definition of things, as a custom resource.
func (t *historyBuilder) defines(storage string, generation, revision int64, stored ...string) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/apiextensions.k8s.io/customresourcedefinitions/things.g.io", Revision: revision,
		CustomResource: &history.CustomResource{Group: group, Resource: "things", Storage: storage, Stored: stored, Generation: generation}})
}

// migrating stores it once more, saying whether its resource is being migrated.
func (t *historyBuilder) migrating(status string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/apiextensions.k8s.io/customresourcedefinitions/things.g.io", Revision: revision,
		CustomResource: &history.CustomResource{Group: group, Resource: "things", Storage: "v2", Stored: []string{"v1", "v2"}, Generation: 2, Migrating: status}})
}

// A definition does not go on to say that its resource is being migrated.
func TestSVM24LooksAtDefinitions(t *testing.T) {
	const ceased = "definitions that ceased to say that they were being migrated, where any did"
	running := func() *historyBuilder {
		return upgraded().manages("a", 8).defines("v2", 2, 9, "v1", "v2").migrates("m", 10, 10, 0).migrating("True", 11).migrates("m", 10, 12, 11, nowRuns)
	}
	dropped := func(t *historyBuilder) *historyBuilder {
		return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/m", Revision: 15})
	}
	const goesOn = "that it is being migrated, and migration m was deleted"
	dropped(running()).waits(40*time.Second).finds(t, "SVM-24", goesOn)
	dropped(running()).waits(40*time.Second).migrating("False", 16).finds(t, "SVM-24", goesOn)
	counted(t, dropped(running()).waits(time.Second).migrating("False", 16).waits(40*time.Second).finds(t, "SVM-24"), ceased, 1)
	// Nor does it say so again.
	dropped(running()).migrating("False", 16).migrating("True", 17).waits(40*time.Second).finds(t, "SVM-24", goesOn)
	// Unless another one runs, or no controller could change it.
	counted(t, dropped(running()).migrates("n", 16, 16, 0).migrates("n", 16, 17, 16, nowRuns).waits(40*time.Second).finds(t, "SVM-24"), ceased, 0)
	dropped(running()).manager("a", history.ProcessExited).waits(40*time.Second).finds(t, "SVM-24")
	// Where definitions do not say so, there is nothing to wait for.
	silent := upgraded().manages("a", 8).defines("v2", 2, 9, "v1", "v2").migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	dropped(silent).waits(40*time.Second).finds(t, "SVM-24")
}

func TestSVM23WantsASuccess(t *testing.T) {
	begun := func() *historyBuilder {
		return newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0)
	}
	counted(t, begun().defines("v2", 2, 15, "v2").migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-23"), "trims", 1)
	counted(t, begun().migrates("m", 10, 20, 11, nowSucceeded).defines("v2", 2, 22, "v2").finds(t, "SVM-23"), "trims", 1)
	begun().defines("v2", 2, 15, "v2").migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-23", "did not succeed")
	begun().migrates("m", 10, 20, 11, nowFailed).defines("v2", 2, 22, "v2").finds(t, "SVM-23", "did not succeed")
	begun().defines("v2", 3, 15, "v1", "v2").defines("v2", 3, 16, "v2").finds(t, "SVM-23", "no migration had begun with the definition as it is")
	newHistory().defines("v1", 1, 3, "v1", "v2").defines("v1", 1, 5, "v1").finds(t, "SVM-23", "no migration had begun with the definition as it is")
	begun().stores("y", v1, "m", 15, 15, 2).defines("v2", 2, 16, "v2").migrates("m", 10, 20, 11, nowSucceeded).
		finds(t, "SVM-23", "things y is stored as v1")
	// What never ends has not succeeded either; what ends with the history may have.
	begun().defines("v2", 2, 15, "v2").after(time.Minute).finds(t, "SVM-23", "migration m has not succeeded since")
	begun().defines("v2", 2, 15, "v2").finds(t, "SVM-23")
}

func TestSVM18And19WaitForABound(t *testing.T) {
	unknown := func() *historyBuilder {
		return newHistory().starts("a", 1).ready("a", 200, 0).hosts("a", 1).starts("b", 1).hosts("b", 2).starts("c", 1).hosts("c", 3).manager("a", history.ProcessStarted).leads("a", 4)
	}
	of := func(b *historyBuilder, resource string, created, revision int64, conditions ...string) *historyBuilder {
		b.migrates("m", created, revision, 0, conditions...)
		b.lastStored().Migration.Resource = resource
		return b
	}
	counted(t, of(of(unknown(), "nothings", 10, 10).after(time.Minute), "nothings", 10, 12, nowFailed).finds(t, "SVM-18"), "failed with a reason", 1)
	of(of(unknown(), "nothings", 10, 10).after(4*time.Minute), "nothings", 10, 12, nowFailed).finds(t, "SVM-18", "took 4m0s to fail")
	of(unknown(), "nothings", 10, 10).after(4*time.Minute).finds(t, "SVM-18", "has not failed for")
	// What is hosted is not unknown.
	of(unknown(), "things", 10, 10).after(4*time.Minute).finds(t, "SVM-18")
}

func TestSVM19LeavesNothingOpen(t *testing.T) {
	const minute = time.Minute
	asked := func() *historyBuilder { return upgraded().manages("a", 8).migrates("m", 10, 10, 0) }
	began := func() *historyBuilder { return asked().migrates("m", 10, 12, 11, nowRuns) }
	lost := func(b *historyBuilder) *historyBuilder { return b.announces(things, 13, "a="+v2, "b="+v1) }
	returned := func(b *historyBuilder) *historyBuilder {
		return lost(b).after(minute).announces(things, 14, "a="+v2, "b="+v2)
	}
	const run, begun = "has not come to an end", "with the servers in agreement on g.io/v2"

	began().after(14*minute).finds(t, "SVM-19")
	began().after(16*minute).finds(t, "SVM-19", run)
	began().after(16*minute).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-19", run)
	// The clock stands while the agreement is away, and does not begin anew.
	returned(began().after(3*minute)).after(10*minute).finds(t, "SVM-19")
	returned(began().after(10*minute)).after(10*minute).finds(t, "SVM-19", run)
	returned(began()).after(16*minute).finds(t, "SVM-19", run)
	lost(began()).after(16*minute).finds(t, "SVM-19") // It is to stop, which SVM-21 says.
	lost(began()).announces(things, 14, "a="+v1, "b="+v1).after(16*minute).finds(t, "SVM-19")
	// The servers agreed only after it had begun.
	disagreed := upgraded().manages("a", 5).announces(things, 6, "a="+v1, "b="+v2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	disagreed.announces(things, 13, "a="+v2, "b="+v2).after(16*minute).finds(t, "SVM-19", run)

	asked().after(14*minute).finds(t, "SVM-19")
	asked().after(16*minute).finds(t, "SVM-19", begun)
	returned(asked()).after(16*minute).finds(t, "SVM-19", begun)
	returned(asked().after(3*minute)).after(10*minute).finds(t, "SVM-19")
	lost(asked()).after(16*minute).finds(t, "SVM-19")
	// No client was there to begin it, or not for long enough.
	asked().manager("a", history.ProcessExited).after(16*minute).finds(t, "SVM-19")
	asked().after(4*minute).manages("b", 13).after(10*minute).finds(t, "SVM-19")
	asked().after(10*minute).manages("b", 13).after(10*minute).finds(t, "SVM-19", begun)
	// It has to wait for one that runs, and to have the time after that.
	two := func() *historyBuilder {
		return upgraded().manages("a", 8).migrates("old", 9, 9, 0).migrates("old", 9, 10, 9, nowRuns).migrates("m", 11, 11, 0)
	}
	two().after(16*minute).finds(t, "SVM-19", "has not come to an end")
	two().after(10*minute).migrates("old", 9, 12, 9, nowSucceeded).after(10*minute).finds(t, "SVM-19")
	two().after(10*minute).migrates("old", 9, 12, 9, nowSucceeded).after(16*minute).finds(t, "SVM-19", begun)
	// And for an older one, which is blamed.
	asked().migrates("young", 11, 11, 0).after(16*minute).finds(t, "SVM-19", begun)
}

func TestSVM15TakesTheRateAndTheTime(t *testing.T) {
	things := func(b *historyBuilder, apart time.Duration) *historyBuilder {
		for i := range int64(6) {
			b.stores("y"+strconv.FormatInt(i, 10), v1, "m", 20+i, 20+i, 20+i)
		}
		b.migrates("m", 30, 30, 0).migrates("m", 30, 32, 31, nowRuns)
		for i := range int64(6) {
			b.stores("y"+strconv.FormatInt(i, 10), v2, "m", 20+i, 40+i, 0).after(apart)
		}
		return b
	}
	things(upgraded(), time.Second).migrates("m", 30, 60, 31, nowSucceeded).finds(t, "SVM-15")
	hasty := things(upgraded(), 10*time.Millisecond).migrates("m", 30, 60, 31, nowSucceeded)
	hasty.header.MigrationRate = 2
	hasty.finds(t, "SVM-15", "a second, and 2 a second are declared")
	declared := things(upgraded(), 10*time.Millisecond).migrates("m", 30, 60, 31, nowSucceeded)
	declared.header.MigrationRate = 200
	declared.finds(t, "SVM-15")

	// A little too fast is too fast if it goes on, and before the end, too.
	steady := func(n int64, apart time.Duration) *historyBuilder {
		b := upgraded()
		for i := range n {
			b.stores("y"+strconv.FormatInt(i, 10), v1, "m", 20+i, 20+i, 20+i)
		}
		b.migrates("m", 20+n, 20+n, 0).migrates("m", 20+n, 22+n, 21+n, nowRuns)
		for i := range n {
			b.after(apart).stores("y"+strconv.FormatInt(i, 10), v2, "m", 20+i, 30+n+i, 0)
		}
		return b
	}
	const tooFast = "a second, and 10 a second are declared"
	steady(600, time.Second/14).migrates("m", 620, 2000, 621, nowSucceeded).finds(t, "SVM-15", tooFast)
	steady(600, time.Second/14).finds(t, "SVM-15", tooFast)
	steady(600, time.Second/10).migrates("m", 620, 2000, 621, nowSucceeded).finds(t, "SVM-15")

	// Neither does a rest afterwards make up for a hurry: 40 objects at once and five
	// more in five minutes.
	hurried := func(n int64, rate float64, begun ...func(*historyBuilder)) *historyBuilder {
		b := upgraded()
		b.header.MigrationRate = rate
		for i := range n + 5 {
			b.stores("y"+strconv.FormatInt(i, 10), v1, "m", 20+i, 20+i, 20+i)
		}
		b.migrates("m", 100, 100, 0).migrates("m", 100, 102, 101, nowRuns)
		for _, then := range begun {
			then(b)
		}
		for i := range n + 5 {
			if i >= n {
				b.after(time.Minute)
			}
			b.stores("y"+strconv.FormatInt(i, 10), v2, "m", 20+i, 110+i, 0)
		}
		return b.migrates("m", 100, 200, 101, nowSucceeded)
	}
	hurried(40, 2).finds(t, "SVM-15", "migration m rewrote 40 objects within 1s, which are 39.0 a second, and 2 a second are declared")
	hurried(3, 2).finds(t, "SVM-15")
	// What is told at once may have been done one after the other, unseen.
	unheard := func(b *historyBuilder) { b.delayed(20 * time.Second) }
	r := hurried(40, 2, unheard).finds(t, "SVM-15")
	counted(t, r, "whose pace was measured", 0)
	reason(t, r, "perhaps migration m rewrote 40 objects within 1s")

	slow := func(before, during time.Duration) *historyBuilder {
		b := upgraded()
		for range 5 {
			b.requests("a", 200, 6, sentBefore(before))
		}
		things(b, time.Second)
		for range 5 {
			b.requests("a", 200, 45, sentBefore(during))
		}
		return b.migrates("m", 30, 60, 31, nowSucceeded)
	}
	slow(10*time.Millisecond, 4*time.Second).finds(t, "SVM-15", "the slowest of a hundred requests took")
	// Neither is a busy machine a migration's fault, nor is what is quick enough.
	slow(3*time.Second, 4*time.Second).finds(t, "SVM-15")
	slow(10*time.Millisecond, 500*time.Millisecond).finds(t, "SVM-15")
}

// What the machine held up is no load of a migration; less than that explains nothing.
func TestSVM15_StarvationExplainsNoMoreThanWasMeasured(t *testing.T) {
	slow := func(waited time.Duration) *historyBuilder {
		b := upgraded()
		for range 5 {
			b.requests("a", 200, 6)
		}
		b.migrates("m", 30, 30, 0).migrates("m", 30, 32, 31, nowRuns)
		for range 5 {
			b.after(4*time.Second).starves(4*time.Second, waited).requests("a", 200, 45, sentBefore(4*time.Second))
		}
		return b.migrates("m", 30, 60, 31, nowSucceeded)
	}
	slow(0).finds(t, "SVM-15", "the slowest of a hundred requests took")
	slow(2*time.Second).finds(t, "SVM-15", "the slowest of a hundred requests took")
	reason(t, slow(3500*time.Millisecond).finds(t, "SVM-15"), "the machine was starved for 3.5")

	// The machine holds up the first of 17 writes, which come 60 ms after each other.
	paced := func(waited time.Duration) *historyBuilder {
		b := upgraded()
		for i := range int64(17) {
			b.stores("y"+strconv.FormatInt(i, 10), v1, "m", 20+i, 20+i, 20+i)
		}
		b.migrates("m", 60, 60, 0).migrates("m", 60, 62, 61, nowRuns).after(time.Second).starves(time.Second, waited)
		for i := range int64(17) {
			b.stores("y"+strconv.FormatInt(i, 10), v2, "m", 20+i, 70+i, 0).after(60 * time.Millisecond)
		}
		return b.migrates("m", 60, 200, 61, nowSucceeded)
	}
	paced(0).finds(t, "SVM-15", "objects within")
	paced(50*time.Millisecond).finds(t, "SVM-15", "objects within")
	reason(t, paced(300*time.Millisecond).finds(t, "SVM-15"), "the machine was starved for 300ms")
}

func TestSVM15CountsWhoIsNotServed(t *testing.T) {
	// Each member is ready, and 5 requests are served in time while none runs,
	// and while one does; then what is given happens to another one.
	begun := func() *historyBuilder {
		b := newHistory().starts("a", 1).joins("a", 1).joins("b", 2).announces(things, 3, "a="+v2, "b="+v2).stores("x", v1, "m", 5, 5, 1).ready("a", 200, 5)
		for range 5 {
			b.requests("a", 200, 6)
		}
		return b
	}
	running := func() *historyBuilder {
		b := begun().migrates("m", 30, 30, 0).migrates("m", 30, 32, 31, nowRuns)
		for range 5 {
			b.requests("a", 200, 40)
		}
		return b
	}
	const what, blamed = "requests timed while a migration ran", "the slowest of a hundred requests took 3"
	// fails has a request fail so, after it took so long.
	fails := func(b *historyBuilder, code int, took time.Duration, changes ...func(*history.Event)) *historyBuilder {
		plain := func(ev *history.Event) { ev.Request.Barrier = false }
		return b.after(took).requests("a", code, 0, append([]func(*history.Event){plain, sentBefore(took)}, changes...)...)
	}
	refused := func(ev *history.Event) { ev.Request.Error = "dial tcp 127.0.0.1:6443: connect: connection refused" }
	canceled := func(ev *history.Event) { ev.Request.Error = "context canceled" }
	barrier := func(ev *history.Event) { ev.Request.Barrier = true }
	for code, took := range map[int]time.Duration{0: 3 * time.Second, 429: time.Millisecond, 503: time.Millisecond, 504: 3 * time.Second} {
		counted(t, fails(running(), code, took).after(time.Minute).ready("a", 200, 50).finds(t, "SVM-15", blamed), what, 5+1)
	}
	for name, b := range map[string]*historyBuilder{
		"no server was there":       fails(running(), 0, time.Millisecond, refused),
		"the client left":           fails(running(), 0, time.Second, canceled),
		"a barrier":                 fails(running(), 503, time.Millisecond, barrier),
		"a conflict":                fails(running(), 409, time.Second),
		"its server ended":          fails(running(), 0, time.Second).exits("a", 1),
		"it was started":            fails(running().exits("a", 1).ready("a", 0, 0).starts("a", 2), 503, time.Millisecond),
		"it was not ready":          fails(running().ready("a", 500, 41), 503, time.Millisecond),
		"it was ready only then":    fails(running().ready("a", 500, 41).after(time.Second).ready("a", 200, 42), 503, time.Second, sentBefore(time.Second)),
		"it was not ready any more": fails(running(), 503, time.Millisecond).ready("a", 500, 41),
		"a fault is there":          fails(running().delays(history.PhaseInject).ready("a", 200, 41), 504, time.Second),
		"a fault was there":         fails(running().delays(history.PhaseInject), 504, time.Second).delays(history.PhaseHeal),
	} {
		t.Run(name, func(t *testing.T) {
			counted(t, b.after(time.Minute).ready("a", 200, 50).finds(t, "SVM-15"), what, 5)
		})
	}
	// How things end is not known of the last moment.
	counted(t, fails(running(), 503, time.Second).finds(t, "SVM-15"), what, 5)
	// A server that does not answer for its readiness may have too much to do.
	counted(t, fails(running().ready("a", 0, 0), 503, time.Second).after(time.Minute).ready("a", 200, 50).finds(t, "SVM-15", blamed), what, 5+1)
	// It is no migration's fault if it was so before.
	before := fails(begun(), 503, time.Second).after(time.Minute).migrates("m", 30, 30, 0).migrates("m", 30, 32, 31, nowRuns)
	for range 5 {
		before.requests("a", 200, 40)
	}
	counted(t, fails(before, 503, time.Second).after(time.Minute).ready("a", 200, 50).finds(t, "SVM-15"), "requests timed while none ran", 5+1)
}

func TestSVM20SeesWritesThatNoTagTellsOf(t *testing.T) {
	upgraded().announces(things, 6, "a="+v1, "b="+v2).migrates("m", 10, 10, 0).stores("x", v2, "m", 5, 12, 0).finds(t, "SVM-20", "when the servers agreed on no version and migration m had not begun")
	// It may be the rest of one that was deleted a moment ago.
	upgraded().migrates("m", 10, 10, 0).stores("x", v2, "m", 5, 12, 0).finds(t, "SVM-20")
}

// A machine that has no time for a controller, or none for its leader, is no breach.
func TestSVM11WantsTheTimeToEnd(t *testing.T) {
	crashed := func() *historyBuilder {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).manager("a", history.ProcessExited)
	}
	crashed().after(6*time.Minute).finds(t, "SVM-11")
	crashed().manages("b", 13).after(6*time.Minute).finds(t, "SVM-11", "has not ended after its controller had ended, and nothing came of it for 5m0s or longer")
	crashed().after(6*time.Minute).manages("b", 13).after(4*time.Minute).finds(t, "SVM-11")
	crashed().manages("b", 13).after(4*time.Minute).stores("x", v2, "m", 5, 14, 0).after(4*time.Minute).finds(t, "SVM-11")
	crashed().manages("b", 13).after(4*time.Minute).migrates("m", 10, 14, 11, nowRuns).after(4*time.Minute).finds(t, "SVM-11")
	// That it fails is one at once.
	crashed().manages("b", 13).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-11", "after its controller had ended")
}

// meets has a write of a thing by a's controller manager come to an error, 0 for
// none at all.
func (t *historyBuilder) errs(name string, code int) *historyBuilder {
	return t.sends("PUT", "/apis/g.io/v1/things/"+name, code)
}

// asked is a request of a's controller manager that a fault has hit.
func (t *historyBuilder) sends(method, path string, code int) *historyBuilder {
	return t.add(history.Event{Kind: history.KindInterceptedRequest, Member: "a", From: t.now, InterceptedRequest: &history.InterceptedRequest{
		Fault: "f", Component: history.ComponentControllerManager, Method: method, Path: path, Sent: code > 0, Code: code}})
}

func TestSVM10CountsWhatPasses(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	const what = "errors that pass by themselves under"
	counted(t, begun().errs("x", 429).errs("x", 500).errs("x", 0).stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-10"), what, 3)
	// A conflict does not pass, nor is an answer that is none an error; and who reads
	// or watches does not migrate.
	counted(t, begun().errs("x", 409).errs("x", 200).sends("GET", "/apis/g.io/v1/things/x", 503).sends("PUT", "/apis/g.io/v1/things/x/status", 503).
		sends("PUT", "/apis/g.io/v1/others/x", 503).stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-10"), what, 0)
	// What is met before it runs, or under one that does not succeed, is nothing survived.
	counted(t, upgraded().migrates("m", 10, 10, 0).errs("x", 503).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-10"), what, 0)
	begun().errs("x", 503).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-10", "failed (R: 20) after 1 errors that pass")
	begun().migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-10")
	// To fail for want of an agreement is right.
	begun().errs("x", 503).announces(things, 13, "a="+v2, "b="+v1).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-10")
	// It has had the time to end only if its controller lives and leads.
	begun().errs("x", 503).after(6*time.Minute).finds(t, "SVM-10")
	begun().manages("a", 13).errs("x", 503).after(6*time.Minute).finds(t, "SVM-10", "has not ended after 1 errors that pass by themselves, and nothing came of it for 5m0s or longer")
	begun().manages("a", 13).errs("x", 503).after(2*time.Minute).manages("b", 14).after(2*time.Minute).finds(t, "SVM-10")
	begun().manages("a", 13).errs("x", 503).after(4*time.Minute).manages("b", 14).after(4*time.Minute).finds(t, "SVM-10", "nothing came of it for 5m0s or longer")
	begun().stores("y", v1, "m", 13, 13, 2).manages("a", 14).errs("x", 503).after(4*time.Minute).stores("y", v2, "m", 13, 15, 0).after(4*time.Minute).finds(t, "SVM-10")
	begun().errs("x", 503).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-10", "objects whose write had met an error that passes by itself are not stored as g.io/v2, the first one being things x")
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
			got = gr.Name + "." + gr.Group + " " + name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestSVM12CountsWhatIsWrittenAgain(t *testing.T) {
	// Of ten things seven are written when the controller of a ends, and the rest after.
	interrupted := func(again int, meanwhile ...func(*historyBuilder)) *historyBuilder {
		b := newHistory().stored(history.Stored{Type: history.StoredPut, Key: leaderLease, Revision: 1, Created: 1, Lease: &history.Lease{Holder: "a_1"}}).
			manager("a", history.ProcessStarted).joins("a", 2).announces(things, 3, "a="+v2)
		write := func(i int) string {
			name := "y" + strconv.Itoa(i)
			b.errs(name, 200)
			return name
		}
		for i := range 10 {
			b.stores("y"+strconv.Itoa(i), v1, "m", 20+int64(i), 20+int64(i), 20+int64(i))
		}
		b.migrates("m", 30, 30, 0).migrates("m", 30, 32, 31, nowRuns)
		for i := range 7 {
			b.stores(write(i), v2, "m", 20+int64(i), 40+int64(i), 0)
		}
		b.after(time.Second).manager("a", history.ProcessExited)
		for _, do := range meanwhile {
			do(b)
		}
		for i := range again {
			write(i)
		}
		for i := 7; i < 10; i++ {
			b.stores(write(i), v2, "m", 20+int64(i), 50+int64(i), 0)
		}
		return b.migrates("m", 30, 60, 31, nowSucceeded)
	}
	const what = "after which the controller went on"
	counted(t, interrupted(0).finds(t, "SVM-12"), what, 1)
	counted(t, interrupted(2).finds(t, "SVM-12"), what, 1)
	counted(t, interrupted(7).finds(t, "SVM-12", "when 7 of 10 objects were done, and 7 of those were written again"), what, 0)
	// Another controller may have led when it ended, so that it interrupted nothing.
	taken := func(b *historyBuilder) {
		b.late = true
		b.leads("b", 50).events[len(b.events)-1].From = b.now - int64(time.Second)/2
		b.late = false
	}
	// It may have begun anew because the agreement had been lost, if that was not too long ago.
	lost := func(b *historyBuilder) {
		b.announces(things, 48, "a="+v2, "b="+v1).announces(things, 49, "a="+v2).after(mustBound("SVM-21", "endsWithin") + statusWrites() + time.Second/2)
		b.late = true
	}
	for name, meanwhile := range map[string]func(*historyBuilder){"taken": taken, "lost": lost} {
		for again, unclear := range map[int]int64{2: 0, 7: 1} {
			if r := interrupted(again, meanwhile).finds(t, "SVM-12"); r.Obligations.Unclear != unclear {
				t.Errorf("%s, %d times: %+v %q", name, again, r.Obligations, r.Reasons)
			}
		}
	}
	// Writes that no client saw may have been repetitions.
	blind := interrupted(0)
	for i := range blind.events {
		if x := blind.events[i].InterceptedRequest; x != nil && x.Path == "/apis/g.io/v1/things/y8" {
			x.Method = "GET"
		}
	}
	if r := blind.finds(t, "SVM-12"); !strings.Contains(strings.Join(r.Reasons, "; "), "1 objects were rewritten by the interrupted migration m and no write of them was seen") {
		t.Errorf("%q", r.Reasons)
	}
}

func TestSVM17WantsNews(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 0, nowRuns)
	}
	says := func(t *historyBuilder, revision, checkpoint int64, message string, succeeded bool) *historyBuilder {
		m := &history.Migration{Group: group, Resource: "things", Checkpoint: strconv.FormatInt(checkpoint, 10), Conditions: []history.Condition{{Type: nowRuns, Status: "True", Reason: "R", Message: message}}}
		if succeeded {
			m.Conditions = append(m.Conditions, history.Condition{Type: nowSucceeded, Status: "True", Reason: "R"})
		}
		return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/storageversionmigrations/m", Name: "m", Created: 10, Revision: revision, Migration: m})
	}
	// The checkpoint and the outcome are no reports of progress.
	says(says(begun(), 13, 11, "12", false).after(time.Minute), 20, 11, "12", true).finds(t, "SVM-17", "its status told nothing on the way")
	counted(t, says(says(begun(), 13, 11, "1 of 2", false).after(time.Minute), 20, 11, "1 of 2", true).finds(t, "SVM-17"), "reports of progress", 1)
	// One report shortly before the end is too late where objects were rewritten all the time,
	// and not where there was nothing to tell.
	worked := func() *historyBuilder {
		return upgraded().stores("y", v1, "n", 6, 6, 1).manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	late := says(worked().after(20*time.Second).stores("x", v2, "m", 5, 13, 0), 14, 11, "1 of 2", false).stores("y", v2, "n", 6, 15, 0)
	says(late, 20, 11, "1 of 2", true).finds(t, "SVM-17", "its status told of progress only then")
	// So it is for a controller that began as soon as it led.
	soon := upgraded().stores("y", v1, "n", 6, 6, 1).manages("a", 8).after(time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	late = says(soon.after(12*time.Second).stores("x", v2, "m", 5, 13, 0), 14, 11, "1 of 2", false).stores("y", v2, "n", 6, 15, 0)
	says(late, 20, 11, "1 of 2", true).finds(t, "SVM-17", "its status told of progress only then")
	stuck := says(worked().stores("x", v2, "m", 5, 13, 0).after(time.Minute), 14, 11, "1 of 2", false).stores("y", v2, "n", 6, 15, 0)
	counted(t, says(stuck, 20, 11, "1 of 2", true).finds(t, "SVM-17"), "reports of progress", 1)
}

func TestSVM20WantsAWait(t *testing.T) {
	const waited = "and that a controller had the time to begin with"
	asked := func() *historyBuilder {
		return upgraded().manages("a", 6).announces(things, 7, "a="+v1, "b="+v2).migrates("m", 10, 10, 0)
	}
	begins := func(t *historyBuilder) *historyBuilder {
		return t.announces(things, 20, "a="+v2, "b="+v2).after(time.Second).migrates("m", 10, 22, 21, nowRuns)
	}
	counted(t, begins(asked().waits(time.Minute)).finds(t, "SVM-20"), waited, 1)
	// A controller that has no time, or is not there, begins nothing either.
	counted(t, begins(asked().waits(time.Second)).finds(t, "SVM-20"), waited, 0)
	counted(t, begins(asked().manager("a", history.ProcessExited).waits(time.Minute)).finds(t, "SVM-20"), waited, 0)
	counted(t, begins(asked().manager("a", history.ProcessExited).waits(time.Minute).manages("b", 15).waits(time.Second)).finds(t, "SVM-20"), waited, 0)
	// One that had the time and went shows it, too.
	counted(t, begins(asked().waits(time.Minute).manager("a", history.ProcessExited).manages("b", 15).waits(time.Second)).finds(t, "SVM-20"), waited, 1)
	// Nor does one show anything that takes as long to begin with all in agreement.
	slow := begins(asked().waits(time.Minute)).migrates("m", 10, 23, 21, nowSucceeded).migrates("n", 24, 24, 0).waits(2*time.Minute).migrates("n", 24, 25, 24, nowRuns)
	counted(t, slow.finds(t, "SVM-20"), waited, 0)
	// A client that says that he has succeeded has begun.
	asked().migrates("m", 10, 22, 21, nowSucceeded).finds(t, "SVM-20", "began to run when the servers agreed on no version")
}

// A success is held against what its servers agreed on when it began, where they do not
// agree any more.
func TestASuccessWithoutAgreement(t *testing.T) {
	lost := func() *historyBuilder {
		return upgraded().stores("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).
			stores("x", v2, "m", 5, 13, 0).announces(things, 14, "a="+v2, "b="+v1)
	}
	lost().migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-04", "and 1 objects from before its checkpoint are not stored as g.io/v2")
	lost().stores("y", v2, "m", 6, 15, 0).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-04")
	lost().stores("z", v1, "m", 16, 16, 3).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-22", "which were created on the way are not stored as g.io/v2, the first one being things z, which is stored as g.io/v1")
	// No client need know of a checkpoint.
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 0, nowRuns).stores("z", v1, "m", 16, 16, 3).migrates("m", 10, 20, 0, nowSucceeded).
		finds(t, "SVM-22", "which were created on the way are not stored as g.io/v2, the first one being things z, which is stored as g.io/v1")
}

// What a migration has under way when it ends, or writes a second time, is judged too.
func TestWritesAfterARewrite(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 13, 0)
	}
	begun().stores("x", v2, "other", 5, 14, 0).finds(t, "SVM-05", "its metadata is not what it was")
	begun().stores("x", v2, "other", 5, 14, 0).finds(t, "SVM-16", "its metadata is not what it was")
	begun().stores("x", v2, "other", 5, 14, 2).stores("x", v2, "finalizer", 5, 15, 0).finds(t, "SVM-05")
	ended := func() *historyBuilder {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v1, "m2", 5, 13, 2).migrates("m", 10, 14, 11, nowFailed)
	}
	ended().stores("x", v2, "m", 5, 15, 1).finds(t, "SVM-07", "at revision 15 write 1 of a is back; a migration had begun")
	ended().stores("x", v2, "m2", 5, 15, 0).finds(t, "SVM-05")
	ended().stores("x", v2, "other", 5, 15, 0).finds(t, "SVM-05", "by migration m, and its metadata is not what it was")
}

func TestMigrationsThatNeverEnd(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	begun().starts("b", 1).exits("b", 1).after(6*time.Minute).finds(t, "SVM-13", "has not ended after API servers had been restarted, and nothing came of it for 5m0s or longer")
	begun().starts("b", 1).exits("b", 1).after(4*time.Minute).finds(t, "SVM-13")
	// Another leader is no excuse, whether the one before it ended or not.
	begun().manages("b", 13).after(6*time.Minute).finds(t, "SVM-11", "has not ended after another controller had come to lead")
	begun().manages("b", 13).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-11", "after another controller had come to lead")
	// No client has announced anything, so there is nothing to wait for.
	alone := func() *historyBuilder {
		return newHistory().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	alone().after(16*time.Minute).finds(t, "SVM-19", "has not come to an end for 15m50s, with no server having announced anything")
	begun().after(10*time.Minute).stores("x", v2, "m", 5, 14, 0).after(10*time.Minute).finds(t, "SVM-19")
}
