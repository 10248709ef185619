package migration

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// unsaid is a migration m that an able controller works on without saying that it runs: it
// rewrites so many objects, each a while after the one before.
func unsaid(objects int, each time.Duration) *historyBuilder {
	b := newHistory().joins("a", 1).announces(things, 3, "a="+v2)
	for i := range objects {
		b.stores(fmt.Sprint("x", i), v1, "m", int64(10+i), int64(10+i), int64(i+1))
	}
	b.manages("a", 1000).waits(20*time.Second).migrates("m", 1001, 1001, 0)
	for i := range objects {
		b.waits(each).stores(fmt.Sprint("x", i), v2, "m", int64(10+i), int64(1010+i), 0)
	}
	return b
}

// A migration that does not say that it runs is held to what one owes that runs.
func TestMigrationThatDoesNotSayThatItRuns(t *testing.T) {
	unsaid(100, time.Millisecond).migrates("m", 1001, 2000, 1002, nowSucceeded).finds(t, "SVM-15", "objects within")
	unsaid(100, time.Millisecond).migrates("m", 1001, 2000, 1002, nowRuns).migrates("m", 1001, 2001, 1002, nowSucceeded).finds(t, "SVM-15", "objects within")
	unsaid(20, time.Second).migrates("m", 1001, 2000, 1002, nowSucceeded).finds(t, "SVM-17", "its status told nothing on the way")
	unsaid(20, time.Second).waits(time.Second).migrates("m", 1001, 2000, 1002, nowRuns).migrates("m", 1001, 2001, 1002, nowSucceeded).finds(t, "SVM-17", "its status told nothing on the way")
	unsaid(2, time.Second).drops("m", 1500).waits(mustBound("SVM-24", "stopsWithin")+time.Second).stores("x0", v1, "m", 10, 1501, 900).stores("x0", v2, "m", 10, 1502, 0).
		finds(t, "SVM-24", "after migration m was deleted")
}

// A migration that was deleted when it had been stuck for too long was stuck all the same.
func TestSVM19StuckAndThenDeleted(t *testing.T) {
	stuck := func(d time.Duration) *historyBuilder {
		return upgraded().manages("a", 8).waits(20*time.Second).migrates("m", 10, 10, 0).waits(d).drops("m", 12).waits(time.Second)
	}
	within := mustBound("SVM-19", "open")
	stuck(within+time.Minute).finds(t, "SVM-19", "has not begun for")
	stuck(within-time.Minute).finds(t, "SVM-19")
}

// A migration that fails before it says that it runs fails all the same.
func TestMigrationThatFailsBeforeItSaysThatItRuns(t *testing.T) {
	failed := func(b *historyBuilder) *historyBuilder { return b.migrates("m", 10, 20, 0, nowFailed) }
	pending := func() *historyBuilder {
		return upgraded().manages("a", 8).waits(20*time.Second).migrates("m", 10, 10, 0)
	}
	failed(pending().loses("x", 12)).finds(t, "SVM-09", "failed")
	failed(pending().waits(time.Second).exits("a", 1).starts("a", 2).waits(time.Second)).finds(t, "SVM-13", "failed")
	// To fail for want of an agreement is right.
	failed(pending().loses("x", 12).announces(things, 13, "a="+v2, "b="+v1)).finds(t, "SVM-09")
}

// What the recorder of etcd tells so late that it may have been done at any pace is not in
// the declared one.
func TestSVM15PaceHiddenByDelay(t *testing.T) {
	b := newHistory().joins("a", 1).announces(things, 3, "a="+v2)
	for i := range 100 {
		b.stores(fmt.Sprint("x", i), v1, "m", int64(10+i), int64(10+i), int64(i+1))
	}
	b.manages("a", 1000).waits(20*time.Second).migrates("m", 1001, 1001, 0).migrates("m", 1001, 1002, 1001, nowRuns).delayed(30 * time.Second)
	for i := range 100 {
		b.stores(fmt.Sprint("x", i), v2, "m", int64(10+i), int64(1010+i), 0)
	}
	if r := b.migrates("m", 1001, 2000, 1001, nowSucceeded).finds(t, "SVM-15"); r.Obligations.Unclear == 0 {
		t.Errorf("a pace that may be any is %v", r.Obligations)
	}
}

// Where no controller is known to have been able to, a trim that came late does not show
// that controllers trim in time.
func TestSVM27TrimmedWhenNoControllerIsKnown(t *testing.T) {
	newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").
		migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).
		after(mustBound("SVM-27", "trimsWithin")+time.Second).defines("v2", 2, 22, "v2").verdictOf(t, "SVM-27", law.Inconclusive)
}

// What is written again when the migration has said that it is over is written again.
func TestSVM06WritesAgainAfterTheEnd(t *testing.T) {
	again := func(d time.Duration) *historyBuilder {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).
			migrates("m", 10, 20, 11, nowSucceeded).after(d).stores("x", v2, "m", 5, 21, 0)
	}
	again(restLands()-time.Second).finds(t, "SVM-06", "and migration m wrote it again")
	again(restLands()+time.Second).finds(t, "SVM-06")
}

// A write through a member that serves a version no longer takes the managed fields of that
// version with it, so that it has something to change.
func TestSVM06LetsFieldsOfAVersionGo(t *testing.T) {
	again := func(left ...string) *historyBuilder {
		return newHistory().joins("a", 1).announces(things, 3, "a="+v2).hosts("a", 4).stores("x", v2, "m", 5, 5, 1, "g.io/v0", v2).
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0, left...)
	}
	again(v2).finds(t, "SVM-06")
	again("g.io/v0", v2).finds(t, "SVM-06", "and migration m wrote it again")
}

// A migration that has ended does not run again.
func TestSVM02RunsAgainAfterItsEnd(t *testing.T) {
	ended := func() *historyBuilder {
		return upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 20, 11, nowSucceeded)
	}
	ended().migrates("m", 10, 21, 11, nowSucceeded, nowRuns).finds(t, "SVM-02", "says at revision 21 that it runs again")
	// One that says on that it runs says nothing new.
	upgraded().migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 20, 11, nowRuns, nowSucceeded).
		migrates("m", 10, 21, 11, nowRuns, nowSucceeded).migrates("m", 10, 22, 11, nowSucceeded).finds(t, "SVM-02")
}

// A success that comes long after a trim does not make it due, unless no controller was able to
// write it before.
func TestSVM23TrimmedLongBeforeTheSuccess(t *testing.T) {
	trimmed := func() *historyBuilder {
		return newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").manages("a", 8).after(20*time.Second).
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).defines("v2", 2, 15, "v2")
	}
	within := mustBound("SVM-23", "succeedsAfter")
	trimmed().after(within).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-23")
	trimmed().after(within+time.Second).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-23", "migration m succeeded only long after that")
	trimmed().manager("a", history.ProcessExited).after(time.Minute).controls("b", 16).after(within).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-23")
}

// What was trimmed stays trimmed, as long as the definition is the same.
func TestSVM27NamesTheOldVersionAgain(t *testing.T) {
	trimmed := func() *historyBuilder {
		return newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").manages("a", 8).after(20*time.Second).
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).migrates("m", 10, 20, 11, nowSucceeded).defines("v2", 2, 21, "v2")
	}
	trimmed().after(time.Minute).defines("v2", 2, 30, "v1", "v2").finds(t, "SVM-27", "is [v1 v2] again at revision 30")
	trimmed().after(time.Minute).defines("v1", 3, 30, "v1", "v2").finds(t, "SVM-27")
	trimmed().after(time.Minute).undefines(30).defines("v2", 2, 31, "v1", "v2").finds(t, "SVM-27")
}

// The definition that another migration marks again, and that is deleted much later, has not
// been marked since the first one was deleted.
func TestSVM24MarkedByTheNextMigration(t *testing.T) {
	upgraded().manages("a", 8).waits(20*time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).migrating("True", 13).drops("m", 14).waits(time.Second).
		migrates("n", 15, 15, 0).migrates("n", 15, 16, 15, nowRuns).waits(time.Minute).undefines(40).finds(t, "SVM-24")
}

// What clients wait for while the harness keeps an etcd stopped is no load of a migration.
func TestSVM15CountsNoRequestsThatTheHarnessHinders(t *testing.T) {
	etcd := func(b *historyBuilder, change string, instance int) {
		b.process("b", history.Process{Component: history.ComponentEtcd, Change: change, Instance: instance, Expected: true})
	}
	slow := func(stopped bool) *historyBuilder {
		b := upgraded()
		etcd(b, history.ProcessStarted, 1)
		for range 5 {
			b.requests("a", 200, 6)
		}
		b.migrates("m", 30, 30, 0).migrates("m", 30, 32, 31, nowRuns)
		if stopped {
			etcd(b, history.ProcessExited, 1)
		}
		for range 5 {
			b.after(4*time.Second).requests("a", 200, 45, sentBefore(4*time.Second))
		}
		return b.migrates("m", 30, 60, 31, nowSucceeded)
	}
	slow(false).finds(t, "SVM-15", "the slowest of a hundred requests took")
	counted(t, slow(true).finds(t, "SVM-15"), "requests timed while a migration ran", 0)
}

// A request that migrations hold up until they have ended is slow while they run.
func TestSVM15_ARequestIsAnsweredAfterTheEnd(t *testing.T) {
	held := func(took time.Duration) *historyBuilder {
		b := upgraded().manages("a", 8).waits(20 * time.Second)
		for range 10 {
			b.requests("a", 200, 6).after(time.Second)
		}
		b.migrates("m", 30, 30, 0).migrates("m", 30, 32, 31, nowRuns)
		for range 6 {
			b.requests("a", 200, 6)
		}
		b.after(20*time.Second).migrates("m", 30, 60, 31, nowSucceeded)
		for range 50 {
			b.requests("a", 200, 6, sentBefore(took))
		}
		return b.after(time.Second)
	}
	held(19*time.Second).finds(t, "SVM-15", "the slowest of a hundred requests took 19.002s, and 2ms while none did")
	held(0).finds(t, "SVM-15")
}

// That the definition goes is no loss of an agreement, and makes up for none.
func TestSVM21_TheDefinitionGoes(t *testing.T) {
	ends := mustBound("SVM-21", "endsWithin")
	begun := func() *historyBuilder {
		b := newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").manages("a", 8).waits(20 * time.Second)
		return b.migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	gone := func(b *historyBuilder) *historyBuilder { return b.loses("x", 15).undefines(16) }
	gone(begun()).waits(ends+time.Minute).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-21")
	gone(begun()).waits(ends+time.Minute).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21")
	gone(begun()).waits(time.Second).defines("v1", 1, 17, "v1").waits(ends+time.Minute).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-21", "has not ended 1m0s after")
	gone(begun()).waits(time.Second).defines("v1", 1, 17, "v1").waits(2*statusWrites()).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-21", "migration m succeeded at revision 20, and since revision 17")
	gone(begun().defines("v1", 3, 13, "v1", "v2").waits(ends+time.Second)).waits(time.Second).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-21", "has not ended 1m0s after")
	gone(begun().defines("v1", 3, 13, "v1", "v2").waits(ends-time.Minute/2)).waits(time.Minute).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-21")
}

// A request counts for neither side where it is not certain whether a migration ran.
func TestSVM15_ARequestWhileAMigrationMayHaveRunIsNotCompared(t *testing.T) {
	told := func(late bool) *historyBuilder {
		b := upgraded().manages("a", 8).after(20*time.Second).migrates("m", 10, 10, 0).requests("a", 200, 0).after(5*time.Second).requests("a", 200, 0).after(time.Second)
		if late {
			b.away(3 * time.Second)
		}
		return b.migrates("m", 10, 12, 11, nowRuns)
	}
	counted(t, told(true).finds(t, "SVM-15"), "requests timed while none ran", 1)
	counted(t, told(false).finds(t, "SVM-15"), "requests timed while none ran", 2)
}

// An answered request explains a deletion before one of which it is not known what became of it, which may
// explain a later one.
func TestSVM16_EachRequestExplainsOneDeletion(t *testing.T) {
	deletes := func(ev *history.Event) { ev.Request.Verb = "delete" }
	twice := func(unanswered bool) *historyBuilder {
		b := onto(t, "SVM-16").runs()
		if unanswered {
			b.requests("cp1", 0, 0, deletes)
		}
		b.loses("x", far+13).requests("cp1", 200, 0, deletes, sentBefore(100*time.Millisecond)).after(100 * time.Millisecond)
		return b.stores("x", v2, "n", far+14, far+14, 2).loses("x", far+15).after(time.Minute)
	}
	twice(true).finds(t, "SVM-16")
	twice(false).finds(t, "SVM-16", "things x went after a migration of it had begun")
}
