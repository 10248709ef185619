package check

import (
	"strconv"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// far is beyond the revisions of the fixtures.
const far = 1_000_000

// on goes on from the history of a row that passes: what a broken migrator does besides
// must not stay green.
func on(t *testing.T, id requirement.ID) *tale {
	h, e := kept(t, id)
	h.Writes = append(h.Writes, history.WrittenResource{Group: group, Resource: "things", Kind: "Thing"})
	if e[len(e)-1].End != nil {
		e = e[:len(e)-1]
	}
	return &tale{header: h, events: e, now: e[len(e)-1].At + int64(time.Second)}
}

// onto is on, with servers that agree on the second version of things.
func onto(t *testing.T, id requirement.ID) *tale {
	return on(t, id).says(things, far+3, "a="+v2, "b="+v2)
}

// runs has a thing in the first version and a migration that runs.
func (t *tale) runs() *tale {
	return t.lies("x", v1, "m", far+5, far+5, 1).migrates("m", far+10, far+10, 0).migrates("m", far+10, far+12, far+11, nowRuns)
}
func (t *tale) fails() *tale    { return t.migrates("m", far+10, far+20, far+11, nowFailed) }
func (t *tale) succeeds() *tale { return t.migrates("m", far+10, far+20, far+11, nowSucceeded) }

func (t *tale) of(gr groupResource) *tale {
	m := t.events[len(t.events)-1].Stored.Migration
	m.Group, m.Resource = gr.group, gr.resource
	return t
}
func (t *tale) forgets(name string, revision int64) *tale {
	return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/" + name, Revision: revision})
}
func (t *tale) unheard(d time.Duration) *tale {
	return t.pass(d).away(d)
}
func (t *tale) controls(member string, revision int64) *tale {
	return t.starts(member, 50).manager(member, history.ProcessStarted).leads(member, revision)
}
func (t *tale) holding(content string) *tale {
	t.events[len(t.events)-1].Stored.Content = content
	return t
}

func green(t *testing.T, what string, told *tale, ids ...requirement.ID) {
	t.Helper()
	for _, r := range told.judge(t, ids...) {
		if r.Verdict == Pass {
			t.Errorf("%s: %s is pass", what, r.ID)
		} else {
			t.Logf("%s: %s is %s %q %v", what, r.ID, r.Verdict, r.Reasons, r.Violations)
		}
	}
}

func red(t *testing.T, what string, told *tale, id requirement.ID) {
	t.Helper()
	if r := told.judge(t, id)[0]; r.Verdict == Fail {
		t.Errorf("%s: %s is fail: %s", what, r.ID, r.Violations[0].Message)
	}
}

func TestSVM14CountsOnlyWhatBegan(t *testing.T) {
	told := upgraded().migrates("old", 10, 10, 0).pass(5*time.Second).migrates("young", 11, 11, 0).
		migrates("old", 10, 12, 11, nowRuns).migrates("young", 11, 13, 0, nowFailed).lies("x", v2, "m", 5, 14, 0).migrates("old", 10, 20, 11, nowSucceeded)
	green(t, "whatever queues fails at once", told, "SVM-14")
}

func TestMigrationsAreJudgedWithoutStorageVersions(t *testing.T) {
	green(t, "fails after a crash", on(t, "SVM-11").runs().controls("cp1", far+13).manager("cp1", history.ProcessExited).fails(), "SVM-11")
	green(t, "hangs after a crash", on(t, "SVM-11").runs().controls("cp1", far+13).manager("cp1", history.ProcessExited).controls("cp2", far+14).pass(time.Hour), "SVM-11")
	green(t, "fails after a restart", on(t, "SVM-13").runs().starts("cp1", 50).stops("cp1", 50).fails(), "SVM-13")
	green(t, "fails after a 503", on(t, "SVM-10").runs().meets("x", 503).fails(), "SVM-10")
	green(t, "fails for no reason", on(t, "SVM-16").runs().fails(), "SVM-16")
}

func TestSVM09IsJudgedWithoutStorageVersions(t *testing.T) {
	green(t, "fails after a deletion", on(t, "SVM-09").runs().goes("x", far+15).fails(), "SVM-09")
	green(t, "hangs after a deletion", on(t, "SVM-09").runs().controls("cp2", far+14).goes("x", far+15).pass(time.Hour), "SVM-09")
}

func TestWhatAUserWroteIsNotUndone(t *testing.T) {
	for _, id := range []requirement.ID{"SVM-05", "SVM-16"} {
		told := onto(t, id).lies("x", v1, "g1", far+5, far+5, 1).holding("one").migrates("m", far+10, far+10, 0).migrates("m", far+10, far+12, far+11, nowRuns).
			lies("x", v2, "g2", far+5, far+14, 2).holding("two").lies("x", v2, "g3", far+5, far+15, 0).holding("one")
		green(t, "what a user wrote is undone, and its tag stays", told.succeeds(), id)
	}
}

func TestObjectsThatBecomeSomethingElse(t *testing.T) {
	for what, version := range map[string]string{"bytes of no object": "", "a version of another group": "old.io/v1"} {
		for _, id := range []requirement.ID{"SVM-04", "SVM-16"} {
			green(t, what, onto(t, id).runs().lies("x", v2, "m", far+5, far+14, 0).lies("x", version, "", far+5, far+15, 0).succeeds(), id)
		}
		green(t, what, onto(t, "SVM-05").runs().lies("x", v2, "m", far+5, far+14, 0).lies("x", version, "", far+5, far+15, 0).succeeds(), "SVM-05")
		green(t, what, onto(t, "SVM-22").runs().lies("x", v2, "m", far+5, far+14, 0).succeeds().lies("x", version, "n", far+5, far+25, 2), "SVM-22")
	}
}

func TestHangingIsNotForgivenByDeletion(t *testing.T) {
	const hour = time.Hour
	green(t, "hung, and deleted", onto(t, "SVM-11").runs().controls("cp1", far+13).manager("cp1", history.ProcessExited).controls("cp2", far+14).pass(hour).forgets("m", far+30), "SVM-11")
	green(t, "hung, and deleted", onto(t, "SVM-10").runs().controls("cp2", far+14).meets("x", 503).pass(hour).forgets("m", far+30), "SVM-10")
	green(t, "hung, and deleted", onto(t, "SVM-13").runs().starts("cp1", 50).stops("cp1", 50).controls("cp2", far+14).pass(hour).forgets("m", far+30), "SVM-13")
	green(t, "hangs after a deletion", onto(t, "SVM-09").runs().controls("cp2", far+14).goes("x", far+15).pass(hour), "SVM-09")
	green(t, "hung, and deleted", onto(t, "SVM-16").runs().controls("cp2", far+14).pass(hour).forgets("m", far+30), "SVM-16")
	green(t, "hung, and deleted", onto(t, "SVM-19").runs().controls("cp2", far+14).pass(hour).forgets("m", far+30), "SVM-19")
	green(t, "open, and deleted", on(t, "SVM-18").controls("cp2", far+14).migrates("m", far+15, far+15, 0).of(groupResource{"no.io", "nothings"}).pass(hour).forgets("m", far+30), "SVM-18")
}

func TestFailingBeforeRunning(t *testing.T) {
	waits := func(id requirement.ID) *tale {
		return onto(t, id).lies("x", v1, "m", far+5, far+5, 1).controls("cp1", far+9).migrates("m", far+10, far+10, 0)
	}
	green(t, "waits, its controller crashes, and the next one fails it", waits("SVM-11").manager("cp1", history.ProcessExited).migrates("m", far+10, far+20, 0, nowFailed), "SVM-11")
	green(t, "never says that it runs, and fails half way", waits("SVM-16").lies("x", v2, "m", far+5, far+15, 0).migrates("m", far+10, far+20, 0, nowFailed), "SVM-16")
}

func TestSVM20StorageVersionIsDeleted(t *testing.T) {
	green(t, "the StorageVersion is deleted, and it begins", onto(t, "SVM-20").lies("x", v1, "m", far+5, far+5, 1).deletes(things, far+8).
		migrates("m", far+10, far+10, 0).migrates("m", far+10, far+12, far+11, nowRuns), "SVM-20")
}

func TestSVM03SuccessWithoutCheckpoint(t *testing.T) {
	green(t, "no checkpoint", onto(t, "SVM-03").lies("x", v1, "m", far+5, far+5, 1).migrates("m", far+10, far+10, 0).
		migrates("m", far+10, far+12, 0, nowRuns).lies("x", v2, "m", far+5, far+14, 0).migrates("m", far+10, far+20, 0, nowSucceeded), "SVM-03")
}

func TestSVM05AlteredBeforeRunning(t *testing.T) {
	green(t, "altered before it says that it runs", onto(t, "SVM-05").lies("x", v1, "m", far+5, far+5, 1).migrates("m", far+10, far+10, 0).
		lies("x", v2, "other", far+5, far+11, 0).migrates("m", far+10, far+12, far+11, nowRuns).succeeds(), "SVM-05")
}

func TestSVM16LostAndMadeAnew(t *testing.T) {
	told := onto(t, "SVM-16").runs().goes("x", far+15).pass(time.Minute).lies("x", v2, "m", far+16, far+16, 2).pass(time.Minute).goes("x", far+17).
		asks("cp1", 200, 0, func(ev *history.Event) { ev.Request.Verb, ev.Request.Name = "delete", "x" })
	green(t, "lost, made anew, and then deleted", told.pass(time.Minute), "SVM-16")
}

func TestSVM15UnheardRewrites(t *testing.T) {
	told := upgraded()
	for i := range int64(200) {
		told.lies("y"+strconv.FormatInt(i, 10), v1, "m", 20+i, 20+i, 20+i)
	}
	told.migrates("m", 300, 300, 0).migrates("m", 300, 302, 301, nowRuns).unheard(10 * time.Second)
	for i := range int64(200) {
		if i >= 100 {
			told.pass(99 * time.Millisecond)
		}
		told.lies("y"+strconv.FormatInt(i, 10), v2, "m", 20+i, 400+i, 0)
	}
	red(t, "ten a second, of which the recorder did not hear for ten seconds", told.migrates("m", 300, 900, 301, nowSucceeded), "SVM-15")
}

func TestSVM14OfTheSameSecond(t *testing.T) {
	red(t, "of the same second, told eight seconds apart", upgraded().migrates("b", 10, 10, 0).unheard(8*time.Second).migrates("a", 11, 11, 0).migrates("a", 11, 12, 11, nowRuns), "SVM-14")
}

func TestSVM16GoesWithItsNamespace(t *testing.T) {
	told := upgraded().lies("hold/y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).
		asks("a", 200, 0, func(ev *history.Event) {
			r := ev.Request
			r.Class, r.Verb, r.Group, r.Resource, r.Name = history.ClassRead, "delete", "", "namespaces", "hold"
		}).goes("hold/y", 14).stored(history.Stored{Type: history.StoredDelete, Key: "/registry/namespaces/hold", Revision: 15})
	red(t, "a user deletes a namespace", told.pass(time.Minute), "SVM-16")
}

func TestSVM17UnheardEnd(t *testing.T) {
	red(t, "a second long, and told late", upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).unheard(11*time.Second).migrates("m", 10, 20, 11, nowSucceeded), "SVM-17")
}

func TestSVM18And19WithoutAController(t *testing.T) {
	unknown := tell().starts("a", 1).hosts("a", 1).starts("b", 1).hosts("b", 2).starts("c", 1).hosts("c", 3)
	red(t, "nobody is there to fail it", unknown.migrates("m", 10, 10, 0).of(groupResource{"no.io", "nothings"}).pass(4*time.Minute), "SVM-18")
	review := history.HostedResource{Group: "authorization.k8s.io", Resource: "subjectaccessreviews", Kind: "SubjectAccessReview", Served: []string{"authorization.k8s.io/v1"}}
	unstored := tell().starts("a", 1).hosts("a", 1, review).migrates("m", 10, 10, 0).of(groupResource{"authorization.k8s.io", "subjectaccessreviews"})
	red(t, "nobody is there to fail it", unstored.pass(4*time.Minute), "SVM-19")
}

func TestSVM20AgreementLostMeanwhile(t *testing.T) {
	red(t, "lost a millisecond before it says that it runs", upgraded().migrates("m", 10, 10, 0).says(things, 11, "a="+v2, "b="+v1).
		migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 13, 11, nowFailed), "SVM-20")
}

func TestSVM23TrimmedAfterASuccess(t *testing.T) {
	told := tell().defines("v1", 1, 3, "v1").lies("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").
		migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v2, "m", 5, 14, 0).migrates("n", 15, 15, 0).
		migrates("m", 10, 20, 11, nowSucceeded).migrates("n", 15, 21, 20, nowRuns).defines("v2", 2, 22, "v2").migrates("n", 15, 30, 20, nowFailed)
	red(t, "trimmed after a success, when the next one runs already", told, "SVM-23")
}

func TestSVM24AnotherResourceHasItsTurn(t *testing.T) {
	other := groupResource{"", "configmaps"}
	told := upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).migrates("o", 13, 13, 0).of(other).migrates("n", 14, 14, 0).
		forgets("m", 15).migrates("o", 13, 16, 15, nowRuns).of(other).idle(40 * time.Second)
	red(t, "another resource has its turn before", told, "SVM-24")
}

func TestSVM05LongAfterTheEnd(t *testing.T) {
	told := upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v2, "m", 5, 13, 0).migrates("m", 10, 20, 11, nowSucceeded).
		pass(time.Hour).says(things, 30, "a=g.io/v3", "b=g.io/v3").lies("x", "g.io/v3", "with a finalizer", 5, 31, 0)
	red(t, "a controller writes an hour after the end", told, "SVM-05")
}

func TestSVM06StatusByAController(t *testing.T) {
	told := upgraded().lies("z", v2, "m", 6, 6, 2, v2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("z", v2, "m", 6, 14, 0, v2, v1)
	red(t, "a controller writes the status", told, "SVM-06")
}

func TestSVM15AllWritesCount(t *testing.T) {
	told := onto(t, "SVM-15").runs()
	for i := range 2000 {
		told.meets("y"+strconv.Itoa(i), 200) // one each millisecond
	}
	green(t, "a thousand writes a second that change nothing", told.succeeds(), "SVM-15")

	both := onto(t, "SVM-15").says("core.configmaps", far+4, "a=v2", "b=v2")
	cm := func(i, revision int64, version string, write int64) {
		s := history.Stored{Type: history.StoredPut, Key: "/registry/configmaps/n/y" + strconv.FormatInt(i, 10), Name: "n/y" + strconv.FormatInt(i, 10), Created: far + 1000 + i, Revision: revision, APIVersion: version, ObjectKind: "ConfigMap", Metadata: "m"}
		if write > 0 {
			s.Writer, s.Write = "a", write
		}
		both.stored(s)
	}
	for i := range int64(200) {
		both.lies("y"+strconv.FormatInt(i, 10), v1, "m", far+500+i, far+500+i, 1000+i)
	}
	for i := range int64(200) {
		cm(i, far+1000+i, "v1", 2000+i)
	}
	both.migrates("m", far+1500, far+1500, 0).migrates("o", far+1501, far+1501, 0).of(groupResource{"", "configmaps"}).
		migrates("m", far+1500, far+1502, far+1501, nowRuns).migrates("o", far+1501, far+1503, far+1502, nowRuns).of(groupResource{"", "configmaps"})
	for i := range int64(200) {
		both.pass(98*time.Millisecond).lies("y"+strconv.FormatInt(i, 10), v2, "m", far+500+i, far+2000+2*i, 0)
		cm(i, far+2001+2*i, "v2", 0)
	}
	green(t, "two at a time with ten a second each", both.migrates("m", far+1500, far+3000, far+1501, nowSucceeded).
		migrates("o", far+1501, far+3001, far+1502, nowSucceeded).of(groupResource{"", "configmaps"}), "SVM-15")
}

func TestSVM15UnreadyMembers(t *testing.T) {
	told := onto(t, "SVM-15").runs().ready("cp1", 200, 0)
	for range 200 {
		told.pass(3*time.Second).asks("cp1", 504, 0, sentBefore(3*time.Second)).ready("cp1", 500, 0)
	}
	green(t, "nobody is served any more, and the server not ready", told.succeeds().pass(time.Minute).ready("cp1", 200, 0), "SVM-15")
}

// What failed long after the bound is no evidence, even where nobody is to blame for that.
func TestSVM18And19LateIsNoEvidence(t *testing.T) {
	unknown := tell().starts("a", 1).hosts("a", 1).starts("b", 1).hosts("b", 2).starts("c", 1).hosts("c", 3)
	unknown.migrates("m", 10, 10, 0).of(groupResource{"no.io", "nothings"}).pass(4*time.Minute).migrates("m", 10, 11, 0, nowFailed).of(groupResource{"no.io", "nothings"})
	unknown.verdictOf(t, "SVM-18", Inconclusive)
	reviews := groupResource{"authorization.k8s.io", "subjectaccessreviews"}
	review := history.HostedResource{Group: reviews.group, Resource: reviews.resource, Kind: "SubjectAccessReview", Served: []string{"authorization.k8s.io/v1"}}
	unstored := tell().starts("a", 1).hosts("a", 1, review).migrates("m", 10, 10, 0).of(reviews).pass(4*time.Minute).migrates("m", 10, 11, 0, nowFailed).of(reviews)
	unstored.verdictOf(t, "SVM-19", Inconclusive)
}

// The traffic deletes and makes anew the same names every few seconds; what the recorder
// does not hear of meanwhile it tells afterwards, when all have been answered.
func TestSVM16DeletedTwiceWhileUnheard(t *testing.T) {
	del := func(t *tale) *tale {
		return t.asks("a", 200, 0, func(ev *history.Event) { ev.Request.Verb, ev.Request.Name = "delete", "y" })
	}
	told := upgraded().lies("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v2, "m", 5, 13, 0)
	told = del(told).pass(6600 * time.Millisecond)
	told = del(told).pass(500 * time.Millisecond).away(8 * time.Second)
	told = told.goes("y", 14).lies("y", v2, "m", 15, 15, 3).goes("y", 16).lies("y", v2, "m", 17, 17, 4)
	for i := int64(20); i < 26; i += 2 { // and so it goes on, told in time
		told = del(told.pass(6600*time.Millisecond)).goes("y", i).lies("y", v2, "m", i+1, i+1, i)
	}
	red(t, "deleted twice, of which the recorder told late", told.pass(time.Minute), "SVM-16")
}

func TestSVM24StoppedByADeath(t *testing.T) {
	told := upgraded().manages("a", 8).
		// It is deleted when nobody is there who could go on with it.
		migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).manager("a", history.ProcessExited).forgets("m", 13).idle(30*time.Second).
		manages("b", 30).migrates("o", 31, 31, 0).migrates("o", 31, 32, 31, nowRuns).migrates("n", 33, 33, 0).forgets("o", 34).pass(time.Second).
		migrates("n", 33, 35, 34, nowRuns).lies("x", v2, "m", 5, 36, 0).migrates("n", 33, 37, 34, nowSucceeded)
	green(t, "stopped by the death of its controller", told, "SVM-24")
}

func TestRewritesToldLate(t *testing.T) {
	lost := upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).says(things, 13, "a="+v2, "b="+v1).
		pass(5*time.Second).unheard(17*time.Second).lies("x", v2, "m", 5, 14, 0).migrates("m", 10, 15, 11, nowFailed)
	red(t, "rewritten within seconds of the loss, and told late", lost, "SVM-21")
	gone := upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).forgets("m", 13).
		pass(5*time.Second).unheard(11*time.Second).lies("x", v2, "m", 5, 14, 0)
	red(t, "rewritten within seconds of the deletion, and told late", gone, "SVM-24")
	meanwhile := upgraded().migrates("m", 10, 10, 0).says(things, 11, "a="+v2, "b="+v1).unheard(8*time.Second).
		migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 13, 11, nowFailed)
	red(t, "lost a moment before it says that it runs, and told late", meanwhile, "SVM-20")
}

func TestSVM22RolledBackWithoutTheAPI(t *testing.T) {
	told := tell().starts("a", 1).joins("a", 1).starts("b", 1).joins("b", 2).says(things, 3, "a="+v2, "b="+v2).ready("a", 200, 4).
		lies("x", v1, "m", 5, 5, 1).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).
		exits("a", 1).add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: 2, Release: "0", Off: []string{history.FeatureStorageVersions}}}).
		ready("a", 200, 21).lies("x", v1, "n", 5, 22, 2)
	red(t, "rolled back to what does not announce anything", told, "SVM-22")
}

func TestFlipDuringSuccess(t *testing.T) {
	begun := func() *tale {
		return tell().defines("v1", 1, 3, "v1").lies("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v2, "m", 5, 14, 0).lies("y", v2, "m", 15, 15, 2)
	}
	for _, id := range []requirement.ID{"SVM-04", "SVM-16", "SVM-22"} {
		red(t, "the definition is changed while the success is being written", begun().defines("v1", 3, 19, "v1", "v2").migrates("m", 10, 20, 11, nowSucceeded), id)
	}
	begun().lies("z", v1, "m", 6, 16, 3).defines("v1", 3, 19, "v1", "v2").migrates("m", 10, 20, 11, nowSucceeded).blames(t, "SVM-04", "are not stored as g.io/v2")
}

func TestBeginsAnew(t *testing.T) {
	const many = 90_000
	crashed := func() *tale {
		told := upgraded().manages("a", 8)
		for i := range int64(many) {
			told.lies("y"+strconv.FormatInt(i, 10), v1, "m", 100+i, 100+i, 100+i)
		}
		told.migrates("m", 200_000, 200_000, 0).migrates("m", 200_000, 200_001, 200_000, nowRuns)
		for i := range int64(many) {
			told.lies("y"+strconv.FormatInt(i, 10), v2, "m", 100+i, 200_010+i, 0)
		}
		return told.manager("a", history.ProcessExited).manages("b", 300_000).pass(6 * time.Minute)
	}
	red(t, "a controller that begins anew comes to ninety thousand objects that need nothing", crashed(), "SVM-11")
	red(t, "the same", crashed(), "SVM-16")
	red(t, "the same, for twenty minutes", crashed().pass(14*time.Minute), "SVM-19")
	crashed().pass(time.Hour).blames(t, "SVM-11", "nothing came of it")
}

func TestStillBlamedInSpiteOfAllowances(t *testing.T) {
	lost := upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).says(things, 13, "a="+v2, "b="+v1)
	lost.unheard(5*time.Second).pass(21*time.Second).lies("x", v2, "m", 5, 14, 0).blames(t, "SVM-21", "after migration m had lost its agreement")
	// A server without the API that had joined before is no rollback.
	off := func(t *tale, instance int) *tale {
		return t.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{
			Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: instance, Off: []string{history.FeatureStorageVersions}}})
	}
	off(tell(), 1).joins("a", 1).starts("b", 1).joins("b", 2).says(things, 3, "b="+v2).ready("a", 200, 4).
		lies("x", v1, "m", 5, 5, 1).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).lies("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).
		lies("x", v1, "n", 5, 22, 2).blames(t, "SVM-22", "with the servers in agreement on that")
	// One request excuses one deletion.
	del := func(t *tale) *tale {
		return t.asks("a", 200, 0, func(ev *history.Event) { ev.Request.Verb, ev.Request.Name = "delete", "y" })
	}
	twice := upgraded().lies("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	del(del(twice)).goes("y", 14).lies("y", v2, "m", 15, 15, 3).goes("y", 16).lies("y", v2, "m", 17, 17, 4).goes("y", 18).
		pass(time.Minute).blames(t, "SVM-16", "nobody had asked for that")
}
