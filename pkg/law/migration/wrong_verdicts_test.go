package migration

import (
	"strconv"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// far is beyond the revisions of the fixtures.
const far = 1_000_000

// onto is on, with servers that agree on the second version of things.
func onto(t *testing.T, id requirement.ID) *historyBuilder {
	return on(t, id).announces(things, far+3, "a="+v2, "b="+v2)
}

// runs has a thing in the first version and a migration that runs.
func (t *historyBuilder) runs() *historyBuilder {
	return t.stores("x", v1, "m", far+5, far+5, 1).migrates("m", far+10, far+10, 0).migrates("m", far+10, far+12, far+11, nowRuns)
}
func (t *historyBuilder) fails() *historyBuilder {
	return t.migrates("m", far+10, far+20, far+11, nowFailed)
}
func (t *historyBuilder) succeeds() *historyBuilder {
	return t.migrates("m", far+10, far+20, far+11, nowSucceeded)
}

func (t *historyBuilder) of(gr Resource) *historyBuilder {
	m := t.lastStored().Migration
	m.Group, m.Resource = gr.Group, gr.Name
	return t
}
func (t *historyBuilder) drops(name string, revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/storageversionmigrations/" + name, Revision: revision})
}
func (t *historyBuilder) holding(content string) *historyBuilder {
	t.lastStored().Content = content
	return t
}

func green(t *testing.T, what string, b *historyBuilder, ids ...requirement.ID) {
	t.Helper()
	for _, r := range b.judge(t, ids...) {
		if r.Verdict == law.Pass {
			t.Errorf("%s: %s is pass", what, r.ID)
		} else {
			t.Logf("%s: %s is %s %q %v", what, r.ID, r.Verdict, r.Reasons, r.Violations)
		}
	}
}

func red(t *testing.T, what string, b *historyBuilder, id requirement.ID) {
	t.Helper()
	if r := b.judge(t, id)[0]; r.Verdict == law.Fail {
		t.Errorf("%s: %s is fail: %s", what, r.ID, r.Violations[0].Message)
	}
}

func TestSVM14CountsOnlyWhatBegan(t *testing.T) {
	b := upgraded().migrates("old", 10, 10, 0).after(5*time.Second).migrates("young", 11, 11, 0).
		migrates("old", 10, 12, 11, nowRuns).migrates("young", 11, 13, 0, nowFailed).stores("x", v2, "m", 5, 14, 0).migrates("old", 10, 20, 11, nowSucceeded)
	green(t, "whatever queues fails at once", b, "SVM-14")
}

func TestMigrationsAreJudgedWithoutStorageVersions(t *testing.T) {
	green(t, "fails after a crash", on(t, "SVM-11").runs().controls("cp1", far+13).manager("cp1", history.ProcessExited).fails(), "SVM-11")
	green(t, "hangs after a crash", on(t, "SVM-11").runs().controls("cp1", far+13).manager("cp1", history.ProcessExited).controls("cp2", far+14).after(time.Hour), "SVM-11")
	green(t, "fails after a restart", on(t, "SVM-13").runs().starts("cp1", 50).exits("cp1", 50).fails(), "SVM-13")
	green(t, "fails after a 503", on(t, "SVM-10").runs().errs("x", 503).fails(), "SVM-10")
	green(t, "fails for no reason", on(t, "SVM-16").runs().fails(), "SVM-16")
}

func TestSVM09IsJudgedWithoutStorageVersions(t *testing.T) {
	green(t, "fails after a deletion", on(t, "SVM-09").runs().loses("x", far+15).fails(), "SVM-09")
	green(t, "hangs after a deletion", on(t, "SVM-09").runs().controls("cp2", far+14).loses("x", far+15).after(time.Hour), "SVM-09")
}

func TestWhatAUserWroteIsNotUndone(t *testing.T) {
	for _, id := range []requirement.ID{"SVM-05", "SVM-16"} {
		b := onto(t, id).stores("x", v1, "g1", far+5, far+5, 1).holding("one").migrates("m", far+10, far+10, 0).migrates("m", far+10, far+12, far+11, nowRuns).
			stores("x", v2, "g2", far+5, far+14, 2).holding("two").stores("x", v2, "g3", far+5, far+15, 0).holding("one")
		green(t, "what a user wrote is undone, and its tag stays", b.succeeds(), id)
	}
}

func TestObjectsThatBecomeSomethingElse(t *testing.T) {
	for what, version := range map[string]string{"bytes of no object": "", "a version of another group": "old.io/v1"} {
		for _, id := range []requirement.ID{"SVM-04", "SVM-16"} {
			green(t, what, onto(t, id).runs().stores("x", v2, "m", far+5, far+14, 0).stores("x", version, "", far+5, far+15, 0).succeeds(), id)
		}
		green(t, what, onto(t, "SVM-05").runs().stores("x", v2, "m", far+5, far+14, 0).stores("x", version, "", far+5, far+15, 0).succeeds(), "SVM-05")
		green(t, what, onto(t, "SVM-22").runs().stores("x", v2, "m", far+5, far+14, 0).succeeds().stores("x", version, "n", far+5, far+25, 2), "SVM-22")
	}
}

func TestHangingIsNotForgivenByDeletion(t *testing.T) {
	const hour = time.Hour
	green(t, "hung, and deleted", onto(t, "SVM-11").runs().controls("cp1", far+13).manager("cp1", history.ProcessExited).controls("cp2", far+14).after(hour).drops("m", far+30), "SVM-11")
	green(t, "hung, and deleted", onto(t, "SVM-10").runs().controls("cp2", far+14).errs("x", 503).after(hour).drops("m", far+30), "SVM-10")
	green(t, "hung, and deleted", onto(t, "SVM-13").runs().starts("cp1", 50).exits("cp1", 50).controls("cp2", far+14).after(hour).drops("m", far+30), "SVM-13")
	green(t, "hangs after a deletion", onto(t, "SVM-09").runs().controls("cp2", far+14).loses("x", far+15).after(hour), "SVM-09")
	green(t, "hung, and deleted", onto(t, "SVM-16").runs().controls("cp2", far+14).after(hour).drops("m", far+30), "SVM-16")
	green(t, "hung, and deleted", onto(t, "SVM-19").runs().controls("cp2", far+14).after(hour).drops("m", far+30), "SVM-19")
	green(t, "open, and deleted", on(t, "SVM-18").controls("cp2", far+14).migrates("m", far+15, far+15, 0).of(Resource{"no.io", "nothings"}).after(hour).drops("m", far+30), "SVM-18")
}

func TestFailingBeforeRunning(t *testing.T) {
	waits := func(id requirement.ID) *historyBuilder {
		return onto(t, id).stores("x", v1, "m", far+5, far+5, 1).controls("cp1", far+9).migrates("m", far+10, far+10, 0)
	}
	green(t, "waits, its controller crashes, and the next one fails it", waits("SVM-11").manager("cp1", history.ProcessExited).migrates("m", far+10, far+20, 0, nowFailed), "SVM-11")
	green(t, "never says that it runs, and fails half way", waits("SVM-16").stores("x", v2, "m", far+5, far+15, 0).migrates("m", far+10, far+20, 0, nowFailed), "SVM-16")
}

func TestSVM20StorageVersionIsDeleted(t *testing.T) {
	green(t, "the StorageVersion is deleted, and it begins", onto(t, "SVM-20").stores("x", v1, "m", far+5, far+5, 1).deletes(things, far+8).
		migrates("m", far+10, far+10, 0).migrates("m", far+10, far+12, far+11, nowRuns), "SVM-20")
}

func TestSVM03SuccessWithoutCheckpoint(t *testing.T) {
	green(t, "no checkpoint", onto(t, "SVM-03").stores("x", v1, "m", far+5, far+5, 1).migrates("m", far+10, far+10, 0).
		migrates("m", far+10, far+12, 0, nowRuns).stores("x", v2, "m", far+5, far+14, 0).migrates("m", far+10, far+20, 0, nowSucceeded), "SVM-03")
}

func TestSVM05AlteredBeforeRunning(t *testing.T) {
	green(t, "altered before it says that it runs", onto(t, "SVM-05").stores("x", v1, "m", far+5, far+5, 1).migrates("m", far+10, far+10, 0).
		stores("x", v2, "other", far+5, far+11, 0).migrates("m", far+10, far+12, far+11, nowRuns).succeeds(), "SVM-05")
}

func TestSVM16LostAndMadeAnew(t *testing.T) {
	b := onto(t, "SVM-16").runs().loses("x", far+15).after(time.Minute).stores("x", v2, "m", far+16, far+16, 2).after(time.Minute).loses("x", far+17).
		requests("cp1", 200, 0, func(ev *history.Event) { ev.Request.Verb, ev.Request.Name = "delete", "x" })
	green(t, "lost, made anew, and then deleted", b.after(time.Minute), "SVM-16")
}

func TestSVM15UnheardRewrites(t *testing.T) {
	b := upgraded()
	for i := range int64(200) {
		b.stores("y"+strconv.FormatInt(i, 10), v1, "m", 20+i, 20+i, 20+i)
	}
	b.migrates("m", 300, 300, 0).migrates("m", 300, 302, 301, nowRuns).delayed(10 * time.Second)
	for i := range int64(200) {
		if i >= 100 {
			b.after(99 * time.Millisecond)
		}
		b.stores("y"+strconv.FormatInt(i, 10), v2, "m", 20+i, 400+i, 0)
	}
	red(t, "ten a second, of which the recorder did not hear for ten seconds", b.migrates("m", 300, 900, 301, nowSucceeded), "SVM-15")
}

func TestSVM14OfTheSameSecond(t *testing.T) {
	red(t, "of the same second, told eight seconds apart", upgraded().migrates("b", 10, 10, 0).delayed(8*time.Second).migrates("a", 11, 11, 0).migrates("a", 11, 12, 11, nowRuns), "SVM-14")
}

func TestSVM16GoesWithItsNamespace(t *testing.T) {
	b := upgraded().stores("hold/y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).
		requests("a", 200, 0, func(ev *history.Event) {
			r := ev.Request
			r.Class, r.Verb, r.Group, r.Resource, r.Name = history.ClassRead, "delete", "", "namespaces", "hold"
		}).loses("hold/y", 14).stored(history.Stored{Type: history.StoredDelete, Key: "/registry/namespaces/hold", Revision: 15})
	red(t, "a user deletes a namespace", b.after(time.Minute), "SVM-16")
}

func TestSVM17UnheardEnd(t *testing.T) {
	red(t, "a second long, and told late", upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).delayed(11*time.Second).migrates("m", 10, 20, 11, nowSucceeded), "SVM-17")
}

func TestSVM18And19WithoutAController(t *testing.T) {
	unknown := newHistory().starts("a", 1).hosts("a", 1).starts("b", 1).hosts("b", 2).starts("c", 1).hosts("c", 3)
	red(t, "no client is there to fail it", unknown.migrates("m", 10, 10, 0).of(Resource{"no.io", "nothings"}).after(4*time.Minute), "SVM-18")
	review := history.HostedResource{Group: "authorization.k8s.io", Resource: "subjectaccessreviews", Kind: "SubjectAccessReview", Served: []string{"authorization.k8s.io/v1"}}
	unstored := newHistory().starts("a", 1).hosts("a", 1, review).migrates("m", 10, 10, 0).of(Resource{"authorization.k8s.io", "subjectaccessreviews"})
	red(t, "no client is there to fail it", unstored.after(4*time.Minute), "SVM-19")
}

func TestSVM20AgreementLostMeanwhile(t *testing.T) {
	red(t, "lost a millisecond before it says that it runs", upgraded().migrates("m", 10, 10, 0).announces(things, 11, "a="+v2, "b="+v1).
		migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 13, 11, nowFailed), "SVM-20")
}

func TestSVM23TrimmedAfterASuccess(t *testing.T) {
	b := newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").
		migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).migrates("n", 15, 15, 0).
		migrates("m", 10, 20, 11, nowSucceeded).migrates("n", 15, 21, 20, nowRuns).defines("v2", 2, 22, "v2").migrates("n", 15, 30, 20, nowFailed)
	red(t, "trimmed after a success, when the next one runs already", b, "SVM-23")
}

func TestSVM24AnotherResourceHasItsTurn(t *testing.T) {
	other := Resource{"", "configmaps"}
	b := upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).migrates("o", 13, 13, 0).of(other).migrates("n", 14, 14, 0).
		drops("m", 15).migrates("o", 13, 16, 15, nowRuns).of(other).waits(40 * time.Second)
	red(t, "another resource has its turn before", b, "SVM-24")
}

func TestSVM05LongAfterTheEnd(t *testing.T) {
	b := upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 13, 0).migrates("m", 10, 20, 11, nowSucceeded).
		after(time.Hour).announces(things, 30, "a=g.io/v3", "b=g.io/v3").stores("x", "g.io/v3", "with a finalizer", 5, 31, 0)
	red(t, "a controller writes an hour after the end", b, "SVM-05")
}

func TestSVM06StatusByAController(t *testing.T) {
	b := upgraded().stores("z", v2, "m", 6, 6, 2, v2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("z", v2, "m", 6, 14, 0, v2, v1)
	red(t, "a controller writes the status", b, "SVM-06")
}

func TestSVM15AllWritesCount(t *testing.T) {
	b := onto(t, "SVM-15").runs()
	for i := range 2000 {
		b.errs("y"+strconv.Itoa(i), 200) // one each millisecond
	}
	green(t, "a thousand writes a second that change nothing", b.succeeds(), "SVM-15")

	both := onto(t, "SVM-15").announces("core.configmaps", far+4, "a=v2", "b=v2")
	cm := func(i, revision int64, version string, write int64) {
		s := history.Stored{Type: history.StoredPut, Key: "/registry/configmaps/n/y" + strconv.FormatInt(i, 10), Name: "n/y" + strconv.FormatInt(i, 10), Created: far + 1000 + i, Revision: revision, APIVersion: version, ObjectKind: "ConfigMap", Metadata: "m"}
		if write > 0 {
			s.Writer, s.Write = "a", write
		}
		both.stored(s)
	}
	for i := range int64(200) {
		both.stores("y"+strconv.FormatInt(i, 10), v1, "m", far+500+i, far+500+i, 1000+i)
	}
	for i := range int64(200) {
		cm(i, far+1000+i, "v1", 2000+i)
	}
	both.migrates("m", far+1500, far+1500, 0).migrates("o", far+1501, far+1501, 0).of(Resource{"", "configmaps"}).
		migrates("m", far+1500, far+1502, far+1501, nowRuns).migrates("o", far+1501, far+1503, far+1502, nowRuns).of(Resource{"", "configmaps"})
	for i := range int64(200) {
		both.after(98*time.Millisecond).stores("y"+strconv.FormatInt(i, 10), v2, "m", far+500+i, far+2000+2*i, 0)
		cm(i, far+2001+2*i, "v2", 0)
	}
	green(t, "two at a time with ten a second each", both.migrates("m", far+1500, far+3000, far+1501, nowSucceeded).
		migrates("o", far+1501, far+3001, far+1502, nowSucceeded).of(Resource{"", "configmaps"}), "SVM-15")
}

func TestSVM15UnreadyMembers(t *testing.T) {
	b := onto(t, "SVM-15").starts("cp1", 50).runs().ready("cp1", 200, 0)
	for range 200 {
		b.after(3*time.Second).requests("cp1", 504, 0, sentBefore(3*time.Second)).ready("cp1", 500, 0)
	}
	green(t, "no client is served any more, and the server not ready", b.succeeds().after(time.Minute).ready("cp1", 200, 0), "SVM-15")
}

// What failed long after the bound is no evidence, even where no client is to blame for that.
func TestSVM18And19LateIsNoEvidence(t *testing.T) {
	unknown := newHistory().starts("a", 1).hosts("a", 1).starts("b", 1).hosts("b", 2).starts("c", 1).hosts("c", 3)
	unknown.migrates("m", 10, 10, 0).of(Resource{"no.io", "nothings"}).after(4*time.Minute).migrates("m", 10, 11, 0, nowFailed).of(Resource{"no.io", "nothings"})
	unknown.verdictOf(t, "SVM-18", law.Inconclusive)
	reviews := Resource{"authorization.k8s.io", "subjectaccessreviews"}
	review := history.HostedResource{Group: reviews.Group, Resource: reviews.Name, Kind: "SubjectAccessReview", Served: []string{"authorization.k8s.io/v1"}}
	unstored := newHistory().starts("a", 1).hosts("a", 1, review).migrates("m", 10, 10, 0).of(reviews).after(4*time.Minute).migrates("m", 10, 11, 0, nowFailed).of(reviews)
	unstored.verdictOf(t, "SVM-19", law.Inconclusive)
}

// The traffic deletes and makes anew the same names every few seconds; what the recorder
// does not hear of meanwhile it tells afterwards, when all have been answered.
func TestSVM16DeletedTwiceWhileUnheard(t *testing.T) {
	del := func(t *historyBuilder) *historyBuilder {
		return t.requests("a", 200, 0, func(ev *history.Event) { ev.Request.Verb, ev.Request.Name = "delete", "y" })
	}
	b := upgraded().stores("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 13, 0)
	b = del(b).after(6600 * time.Millisecond)
	b = del(b).after(500 * time.Millisecond).away(8 * time.Second)
	b = b.loses("y", 14).stores("y", v2, "m", 15, 15, 3).loses("y", 16).stores("y", v2, "m", 17, 17, 4)
	for i := int64(20); i < 26; i += 2 { // and so it goes on, told in time
		b = del(b.after(6600*time.Millisecond)).loses("y", i).stores("y", v2, "m", i+1, i+1, i)
	}
	red(t, "deleted twice, of which the recorder told late", b.after(time.Minute), "SVM-16")
}

func TestSVM24StoppedByADeath(t *testing.T) {
	b := upgraded().manages("a", 8).
		// It is deleted when no client is there who could go on with it.
		migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).manager("a", history.ProcessExited).drops("m", 13).waits(30*time.Second).
		manages("b", 30).migrates("o", 31, 31, 0).migrates("o", 31, 32, 31, nowRuns).migrates("n", 33, 33, 0).drops("o", 34).after(time.Second).
		migrates("n", 33, 35, 34, nowRuns).stores("x", v2, "m", 5, 36, 0).migrates("n", 33, 37, 34, nowSucceeded)
	green(t, "stopped by the death of its controller", b, "SVM-24")
}

func TestRewritesToldLate(t *testing.T) {
	lost := upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).announces(things, 13, "a="+v2, "b="+v1).
		after(5*time.Second).delayed(17*time.Second).stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 15, 11, nowFailed)
	red(t, "rewritten within seconds of the loss, and told late", lost, "SVM-21")
	gone := upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).drops("m", 13).
		after(5*time.Second).delayed(11*time.Second).stores("x", v2, "m", 5, 14, 0)
	red(t, "rewritten within seconds of the deletion, and told late", gone, "SVM-24")
	meanwhile := upgraded().migrates("m", 10, 10, 0).announces(things, 11, "a="+v2, "b="+v1).delayed(8*time.Second).
		migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 13, 11, nowFailed)
	red(t, "lost a moment before it says that it runs, and told late", meanwhile, "SVM-20")
}

func TestSVM22RolledBackWithoutTheAPI(t *testing.T) {
	b := newHistory().starts("a", 1).joins("a", 1).starts("b", 1).joins("b", 2).announces(things, 3, "a="+v2, "b="+v2).ready("a", 200, 4).
		stores("x", v1, "m", 5, 5, 1).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).
		exits("a", 1).process("a", history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: 2, Release: "0", DisabledFeatures: []string{history.FeatureStorageVersions}}).
		ready("a", 200, 21).stores("x", v1, "n", 5, 22, 2)
	red(t, "rolled back to what does not announce anything", b, "SVM-22")
}

func TestFlipDuringSuccess(t *testing.T) {
	begun := func() *historyBuilder {
		return newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).stores("y", v2, "m", 15, 15, 2)
	}
	for _, id := range []requirement.ID{"SVM-04", "SVM-16", "SVM-22"} {
		red(t, "the definition is changed while the success is being written", begun().defines("v1", 3, 19, "v1", "v2").migrates("m", 10, 20, 11, nowSucceeded), id)
	}
	begun().stores("z", v1, "m", 6, 16, 3).defines("v1", 3, 19, "v1", "v2").migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-04", "are not stored as g.io/v2")
}

func TestBeginsAnew(t *testing.T) {
	const many = 30_000
	crashed := func() *historyBuilder {
		b := upgraded().manages("a", 8)
		for i := range int64(many) {
			b.stores("y"+strconv.FormatInt(i, 10), v1, "m", 100+i, 100+i, 100+i)
		}
		b.migrates("m", 200_000, 200_000, 0).migrates("m", 200_000, 200_001, 200_000, nowRuns)
		for i := range int64(many) {
			b.stores("y"+strconv.FormatInt(i, 10), v2, "m", 100+i, 200_010+i, 0)
		}
		return b.manager("a", history.ProcessExited).manages("b", 300_000).after(6 * time.Minute)
	}
	red(t, "a controller that begins anew comes to thirty thousand objects that need nothing", crashed(), "SVM-11")
	red(t, "the same", crashed(), "SVM-16")
	red(t, "the same, for twenty minutes", crashed().after(14*time.Minute), "SVM-19")
	crashed().after(time.Hour).finds(t, "SVM-11", "nothing came of it")
}

func TestStillBlamedInSpiteOfAllowances(t *testing.T) {
	lost := upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).announces(things, 13, "a="+v2, "b="+v1)
	lost.delayed(5*time.Second).after(21*time.Second).stores("x", v2, "m", 5, 14, 0).finds(t, "SVM-21", "after migration m had lost its agreement")
	// A server without the API that had joined before is no rollback.
	off := func(t *historyBuilder, instance int) *historyBuilder {
		return t.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{
			Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: instance, DisabledFeatures: []string{history.FeatureStorageVersions}}})
	}
	off(newHistory(), 1).joins("a", 1).starts("b", 1).joins("b", 2).announces(things, 3, "b="+v2).ready("a", 200, 4).
		stores("x", v1, "m", 5, 5, 1).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).
		stores("x", v1, "n", 5, 22, 2).finds(t, "SVM-22", "with the servers in agreement on that")
	// One request excuses one deletion.
	del := func(t *historyBuilder) *historyBuilder {
		return t.requests("a", 200, 0, func(ev *history.Event) { ev.Request.Verb, ev.Request.Name = "delete", "y" })
	}
	twice := upgraded().stores("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	del(del(twice)).away(time.Second).loses("y", 14).stores("y", v2, "m", 15, 15, 3).loses("y", 16).stores("y", v2, "m", 17, 17, 4).loses("y", 18).
		after(time.Minute).finds(t, "SVM-16", "no client had asked for that")
}

// undefines has the definition of things go.
func (t *historyBuilder) undefines(revision int64) *historyBuilder {
	return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/apiextensions.k8s.io/customresourcedefinitions/things.g.io", Revision: revision})
}

// Generations are counted anew for a definition that is made anew.
func TestSVM23DefinitionMadeAnew(t *testing.T) {
	removed := func() *historyBuilder {
		return newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).loses("x", 21).undefines(22)
	}
	removed().defines("v1", 1, 23, "v1").defines("v2", 2, 24, "v1", "v2").defines("v2", 2, 25, "v2").finds(t, "SVM-23", "no migration had begun with the definition as it is")
	spans := newHistory().defines("v1", 1, 3, "v1").defines("v2", 2, 7, "v1", "v2").migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).undefines(13).
		defines("v1", 1, 14, "v1").defines("v2", 2, 15, "v1", "v2").defines("v2", 2, 16, "v2").migrates("m", 10, 20, 11, nowSucceeded)
	spans.finds(t, "SVM-23", "no migration had begun with the definition as it is")
	// What it names of what had been left is judged from its first revision on.
	newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).undefines(6).defines("v2", 1, 7, "v2").finds(t, "SVM-23", "things x is stored as v1")
	// A later migration of the new one is as good as any.
	counted(t, removed().defines("v1", 1, 23, "v1").defines("v2", 2, 24, "v1", "v2").migrates("n", 30, 30, 0).migrates("n", 30, 32, 31, nowRuns).
		migrates("n", 30, 33, 31, nowSucceeded).defines("v2", 2, 34, "v2").finds(t, "SVM-23"), "trims", 1)
}

// No client has seen what had ended before the run, nor when what was there had been asked for.
func TestMigrationsFromBeforeTheRun(t *testing.T) {
	nothings := Resource{"no.io", "nothings"}
	unknown := func() *historyBuilder {
		return newHistory().starts("a", 1).hosts("a", 1).starts("b", 1).hosts("b", 2).starts("c", 1).hosts("c", 3)
	}
	const failed = "migrations of unknown resources that failed"
	unknown().migrates("m", 2, 10, 0, nowFailed).of(nothings).verdictOf(t, "SVM-18", law.Inconclusive)
	counted(t, unknown().migrates("m", 2, 10, 0).of(nothings).after(time.Second).migrates("m", 2, 11, 0, nowFailed).of(nothings).finds(t, "SVM-18"), failed, 0)
	reviews := Resource{"authorization.k8s.io", "subjectaccessreviews"}
	review := history.HostedResource{Group: reviews.Group, Resource: reviews.Name, Kind: "SubjectAccessReview", Served: []string{"authorization.k8s.io/v1"}}
	unstored := func() *historyBuilder { return newHistory().starts("a", 1).hosts("a", 1, review) }
	unstored().migrates("m", 2, 10, 0, nowFailed).of(reviews).verdictOf(t, "SVM-19", law.Inconclusive)
	unstored().migrates("m", 2, 10, 0).of(reviews).migrates("m", 2, 11, 0, nowFailed).of(reviews).verdictOf(t, "SVM-19", law.Inconclusive)

	left := func() *historyBuilder {
		b := newHistory().joins("a", 1).joins("b", 2).announces(things, 3, "a="+v2, "b="+v2)
		for i := range int64(5) {
			b.stores("y"+strconv.FormatInt(i, 10), v2, "m", 5+i, 15+i, 1+i)
		}
		return b.migrates("m", 12, 30, 13, nowSucceeded)
	}
	left().verdictOf(t, "SVM-06", law.Inconclusive)
	counted(t, left().finds(t, "SVM-02"), "migrations that ended", 0)
	counted(t, left().finds(t, "SVM-04"), "objects compared", 0)
	counted(t, left().finds(t, "SVM-16"), "stored in the new version", 0)
	counted(t, left().stores("y0", v2, "m", 5, 31, 20).finds(t, "SVM-22"), "writes after a success in the version that it was to", 0)
	// What has an outcome keeps it, the migrator that has seen it come.
	left().migrates("m", 12, 31, 13, nowFailed).finds(t, "SVM-02", "had Succeeded, and does not any more")
	// It may have begun when they agreed, and its last report may be later.
	late := newHistory().joins("a", 1).joins("b", 2).announces(things, 8, "a="+v2, "b="+v1).migrates("m", 4, 10, 5, nowRuns)
	late.finds(t, "SVM-20")
	// The trim may be by one that had succeeded before; no client knows on what.
	trimmed := newHistory().defines("v2", 2, 7, "v1", "v2").migrates("m", 4, 10, 5, nowSucceeded).defines("v2", 2, 12, "v2")
	counted(t, trimmed.finds(t, "SVM-23"), "trims", 0)
	reason(t, trimmed.finds(t, "SVM-23"), "it is not known")
	// It cannot have begun with a definition that was changed since.
	newHistory().defines("v2", 2, 7, "v1", "v2").migrates("m", 4, 10, 5, nowSucceeded).defines("v3", 3, 11, "v1", "v2").defines("v3", 3, 12, "v2").
		finds(t, "SVM-23", "no migration had begun with the definition as it is")
}

// The announcements of a custom resource may outlive its definition for a moment.
func TestDefinitionRemovedUnderAMigration(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().defines("v2", 2, 6, "v1", "v2").stores("y", v1, "m", 7, 7, 2).manages("a", 8).
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	gone := func(t *historyBuilder) *historyBuilder { return t.loses("x", 14).loses("y", 15).undefines(16) }
	failed := func(t *historyBuilder) *historyBuilder {
		return t.migrates("m", 10, 20, 11, nowFailed).deletes(things, 21)
	}
	red(t, "its resource is removed, and it fails", failed(gone(begun())), "SVM-09")
	red(t, "its resource is removed, and it fails", failed(gone(begun().errs("x", 503))), "SVM-10")
	red(t, "its resource is removed, and it fails", failed(gone(begun().manager("a", history.ProcessExited))), "SVM-11")
	red(t, "its resource is removed, and it fails", failed(gone(begun().exits("a", 1))), "SVM-13")
	red(t, "its resource is removed, and it fails", failed(gone(begun())), "SVM-16")
	red(t, "its resource is removed, and it fails before it began", failed(gone(upgraded().defines("v2", 2, 6, "v1", "v2").stores("y", v1, "m", 7, 7, 2).migrates("m", 10, 10, 0))), "SVM-16")
	// As long as it is there that is no excuse.
	begun().loses("x", 14).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-09", "after 1 of its objects had been deleted")
	// Made anew it is agreed on as before.
	gone(begun()).migrates("m", 10, 20, 11, nowFailed).defines("v2", 1, 21, "v2").stores("x", v1, "m", 22, 22, 5).migrates("n", 30, 30, 0).migrates("n", 30, 31, 30, nowRuns).
		loses("x", 31+1).migrates("n", 30, 33, 30, nowFailed).finds(t, "SVM-09", "migration n failed")
}

func TestSVM16GoesWithItsDefinition(t *testing.T) {
	removes := func(t *historyBuilder, name string) *historyBuilder {
		return t.requests("a", 200, 0, func(ev *history.Event) {
			r := ev.Request
			r.Class, r.Verb, r.Group, r.Resource, r.Name = history.ClassRead, "delete", "apiextensions.k8s.io", "customresourcedefinitions", name
			ev.From -= int64(time.Second)
		})
	}
	begun := func() *historyBuilder {
		return upgraded().defines("v2", 2, 6, "v1", "v2").migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 13, 0).
			migrates("m", 10, 14, 11, nowSucceeded)
	}
	red(t, "a user removes the custom resource", removes(begun(), "things.g.io").loses("x", 15).undefines(16).after(time.Minute), "SVM-16")
	red(t, "the same, and the answer is told last", removes(begun().loses("x", 15).undefines(16), "things.g.io").after(time.Minute), "SVM-16")
	removes(begun(), "others.g.io").loses("x", 15).after(time.Minute).finds(t, "SVM-16", "no client had asked for that")
	// It is asked for once.
	anew := removes(begun(), "things.g.io").loses("x", 15).undefines(16).defines("v2", 1, 17, "v2").stores("x", v2, "m", 18, 18, 2)
	anew.after(time.Minute).loses("x", 19).after(time.Minute).finds(t, "SVM-16", "no client had asked for that")
}

func TestSVM16NamespaceMadeAnew(t *testing.T) {
	razes := func(t *historyBuilder) *historyBuilder {
		return t.requests("a", 200, 0, func(ev *history.Event) {
			r := ev.Request
			r.Class, r.Verb, r.Group, r.Resource, r.Name = history.ClassRead, "delete", "", "namespaces", "hold"
			ev.From -= int64(time.Second)
		})
	}
	gone := func(t *historyBuilder, revision int64) *historyBuilder {
		return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/namespaces/hold", Revision: revision})
	}
	begun := func() *historyBuilder {
		return upgraded().stores("hold/y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	red(t, "the answer is told last", razes(gone(begun().loses("hold/y", 14), 15)).after(time.Minute), "SVM-16")
	anew := gone(razes(begun()).loses("hold/y", 14), 15).after(time.Minute).stores("hold/y", v2, "m", 16, 16, 3).stores("hold/z", v2, "m", 17, 17, 4)
	anew.after(time.Minute).loses("hold/z", 18).after(time.Minute).finds(t, "SVM-16", "things hold/z went after a migration of it had begun, and no client had asked for that")
}

func TestSVM16BeginsAndEndsAtOnce(t *testing.T) {
	asked := func() *historyBuilder {
		return onto(t, "SVM-16").stores("x", v1, "m", far+5, far+5, 1).migrates("m", far+10, far+10, 0)
	}
	green(t, "the first that it says is a success, with an object left", asked().migrates("m", far+10, far+20, far+11, nowSucceeded), "SVM-16")
	green(t, "the first that it says is that it runs and has failed", asked().migrates("m", far+10, far+20, far+11, nowRuns, nowFailed), "SVM-16")
}

func TestSVM18DefinitionRemoved(t *testing.T) {
	b := func() *historyBuilder {
		custom := newHistory().starts("a", 1).hosting("a", 1).starts("b", 1).hosting("b", 2).starts("c", 1).hosting("c", 3).manages("a", 4)
		custom.header.Writes = nil
		return custom.defines("v2", 2, 5, "v1", "v2").migrates("m", 10, 10, 0).after(10 * time.Minute).undefines(11)
	}
	red(t, "its resource went a second ago", b().after(time.Second), "SVM-18")
	counted(t, b().after(time.Second).migrates("m", 10, 12, 0, nowFailed).finds(t, "SVM-18"), "failed with a reason", 0)
	b().after(4*time.Minute).finds(t, "SVM-18", "has not failed for")
}

func TestSurvivedWhatCameAfterTheEnd(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 13, 0)
	}
	// Its success was written, and was being told.
	crashed := begun().manager("a", history.ProcessExited).after(time.Second).migrates("m", 10, 20, 11, nowSucceeded)
	counted(t, crashed.finds(t, "SVM-11"), "migrations that succeeded after", 0)
	unheard := begun().manager("a", history.ProcessExited).delayed(20*time.Second).migrates("m", 10, 20, 11, nowSucceeded)
	counted(t, unheard.finds(t, "SVM-11"), "migrations that succeeded after", 0)
	later := begun().manager("a", history.ProcessExited).after(20*time.Second).migrates("m", 10, 20, 11, nowSucceeded)
	counted(t, later.finds(t, "SVM-11"), "migrations that succeeded after", 1)
	handed := begun().manager("a", history.ProcessExited).manages("b", 14).migrates("m", 10, 20, 11, nowSucceeded)
	counted(t, handed.finds(t, "SVM-11"), "migrations that succeeded after", 1)

	restarted := func(last time.Duration) *historyBuilder {
		b := begun()
		b.starts("b", 1).starts("c", 1).exits("a", 1).exits("b", 1).after(10*time.Second).exits("c", 1)
		return b.after(last).migrates("m", 10, 20, 11, nowSucceeded)
	}
	counted(t, restarted(time.Second).finds(t, "SVM-13"), "migrations that succeeded after", 0)
	counted(t, restarted(10*time.Second).finds(t, "SVM-13"), "migrations that succeeded after", 1)
}

func TestSVM14OrderedWhileUnheard(t *testing.T) {
	b := upgraded().migrates("a", 10, 10, 0).delayed(8*time.Second).migrates("b", 11, 11, 0).migrates("a", 10, 12, 11, nowRuns)
	counted(t, b.finds(t, "SVM-14"), "while a younger one", 0)
}

func TestSVM24DefinitionMadeAnew(t *testing.T) {
	const ceased = "definitions that ceased to say that they were being migrated, where any did"
	b := func() *historyBuilder {
		return upgraded().manages("a", 8).defines("v2", 2, 9, "v1", "v2").migrates("m", 10, 10, 0).migrating("True", 11).migrates("m", 10, 12, 11, nowRuns).
			drops("m", 15).waits(time.Second).undefines(16).defines("v2", 1, 17, "v2")
	}
	red(t, "its definition is made anew, and says nothing", b().waits(time.Minute), "SVM-24")
	counted(t, b().defines("v2", 1, 18, "v2").waits(time.Minute).finds(t, "SVM-24"), ceased, 0)
}

func TestSVM05ForgottenLongAfterTheEnd(t *testing.T) {
	b := upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 13, 0).migrates("m", 10, 20, 11, nowSucceeded).
		after(time.Hour).announces(things, 30, "a=g.io/v3", "b=g.io/v3").drops("m", 31).stores("x", "g.io/v3", "with a finalizer", 5, 32, 0)
	red(t, "a controller writes when a migration is deleted that had ended an hour ago", b, "SVM-05")
}

func TestSVM21GoesOnAfterItsFailure(t *testing.T) {
	lost := func(id requirement.ID) *historyBuilder {
		return onto(t, id).runs().stores("y", v1, "m", far+13, far+13, 2).announces(things, far+14, "a="+v2, "b="+v1).migrates("m", far+10, far+15, far+11, nowFailed)
	}
	green(t, "says that it has failed, and goes on", lost("SVM-21").after(time.Minute).stores("x", v2, "m", far+5, far+20, 0), "SVM-21")
	stopped := func() *historyBuilder {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).announces(things, 13, "a="+v2, "b="+v1).migrates("m", 10, 15, 11, nowFailed)
	}
	stopped().after(5*time.Second).stores("x", v2, "m", 5, 16, 0).finds(t, "SVM-21")
	stopped().after(time.Minute).stores("x", v2, "with a finalizer", 5, 16, 0).finds(t, "SVM-21") // That was a controller.
	stopped().after(time.Minute).stores("x", v2, "m", 5, 16, 2).finds(t, "SVM-21")
	stopped().after(time.Minute).announces(things, 16, "a="+v2, "b="+v2).migrates("n", 17, 17, 0).migrates("n", 17, 18, 17, nowRuns).stores("x", v2, "m", 5, 19, 0).finds(t, "SVM-21")
}

// What users write in the version that is agreed on since is not what a migration has left.
func TestWritesDuringSuccess(t *testing.T) {
	begun := func() *historyBuilder {
		return newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).stores("y", v2, "m", 15, 15, 2)
	}
	for _, id := range []requirement.ID{"SVM-04", "SVM-10", "SVM-16", "SVM-22"} {
		b := begun()
		if id == "SVM-10" {
			b.errs("x", 503)
		}
		red(t, "users write after the definition was changed, while the success is being written",
			b.defines("v1", 3, 16, "v1", "v2").stores("x", v1, "n", 5, 17, 3).stores("y", v1, "n", 15, 18, 4).migrates("m", 10, 20, 11, nowSucceeded), id)
	}
	// What no client else has written, or what was so before, is what it has left.
	begun().defines("v1", 3, 16, "v1", "v2").stores("x", v1, "n", 5, 17, 0).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-04", "are not stored as g.io/v2")
	begun().stores("x", v1, "n", 5, 16, 3).defines("v1", 3, 17, "v1", "v2").migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-04", "are not stored as g.io/v2")
}

func TestSVM07WrittenBackIsNotAhead(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	const ahead = "updates of objects that the migration had not come to"
	counted(t, begun().stores("x", v2, "m", 5, 13, 0).stores("x", v1, "n", 5, 14, 2).finds(t, "SVM-07"), ahead, 0)
	counted(t, begun().stores("x", v2, "n", 5, 13, 2).finds(t, "SVM-07"), ahead, 1)
}

func TestSVM08DeletedUnderWhatCameToNothing(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().stores("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).loses("x", 13)
	}
	const deleted = "objects deleted by users while a migration ran"
	counted(t, begun().migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-08"), deleted, 0)
	counted(t, begun().drops("m", 14).finds(t, "SVM-08"), deleted, 0)
	counted(t, begun().stores("y", v2, "m", 6, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-08"), deleted, 1)
}

func TestSVM17WhileNoControllerMigrates(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().manages("a", 8).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	crashed := begun().after(time.Second).manager("a", history.ProcessExited).after(20*time.Second).manages("b", 13).after(time.Second).migrates("m", 10, 20, 11, nowSucceeded)
	red(t, "two seconds of work, and twenty in which no client led", crashed, "SVM-17")
	again := begun().after(time.Second).manager("a", history.ProcessExited).after(20*time.Second).manages("b", 13).after(20*time.Second).migrates("m", 10, 20, 11, nowSucceeded)
	again.finds(t, "SVM-17", "its status told nothing on the way")
	before := begun().after(20*time.Second).manager("a", history.ProcessExited).after(20*time.Second).manages("b", 13).after(time.Second).migrates("m", 10, 20, 11, nowSucceeded)
	before.finds(t, "SVM-17", "its status told nothing on the way")
	// It need not have ended.
	begun().after(time.Minute).finds(t, "SVM-17", "its status told nothing on the way")
	begun().after(time.Minute).drops("m", 20).finds(t, "SVM-17", "its status told nothing on the way")
	begun().after(time.Second).manager("a", history.ProcessExited).after(time.Minute).finds(t, "SVM-17")
}
