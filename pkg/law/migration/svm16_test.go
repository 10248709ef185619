package migration

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

func TestSVM16WantsEveryObject(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().stores("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0)
	}
	done := func() *historyBuilder { return begun().stores("y", v2, "m", 6, 15, 0) }
	all := done().migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-16")
	counted(t, all, "stored in an old version when", 2)
	counted(t, all, "that migrations rewrote", 2)
	counted(t, all, "stored in the new version", 2)
	begun().migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-16", "1 objects stored as g.io/v2, and 1 that are not")
	// One that was made on the way is no exception.
	done().stores("z", v1, "m", 16, 16, 3).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-16", "2 objects stored as g.io/v2, and 1 that are not")
	begun().stores("y", v2, "other", 6, 15, 0).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-16", "its metadata is not what it was")
	begun().stores("y", v2, "m", 6, 15, 0, v2).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-16", "its managed fields of g.io/v2 are not what it was")
	begun().migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-16", "migration m failed (R: 20), with the servers in agreement")
	begun().announces(things, 16, "a="+v2, "b="+v1).migrates("m", 10, 20, 11, nowFailed).finds(t, "SVM-16")
	begun().after(6*time.Minute).finds(t, "SVM-16")
	begun().manages("a", 15).after(6*time.Minute).finds(t, "SVM-16", "migration m has not ended, and nothing came of it for 5m0s or longer")
	// A success without an agreement shows nothing, and is another row's.
	alone := done().announces(things, 16, "a="+v2, "b="+v1).migrates("m", 10, 20, 11, nowSucceeded).finds(t, "SVM-16")
	counted(t, alone, "stored in the new version", 0)
}

func TestSVM16TellsALostObjectFromADeletedOne(t *testing.T) {
	begun := func() *historyBuilder {
		return upgraded().after(time.Minute).stores("y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0)
	}
	// deletes has a user ask for y to be deleted.
	deletes := func(t *historyBuilder, code int, changes ...func(*history.Event)) *historyBuilder {
		return t.requests("a", code, 0, append(changes, func(ev *history.Event) { ev.Request.Verb, ev.Request.Name = "delete", "y" })...)
	}
	lost := func(t *historyBuilder) *historyBuilder {
		return t.loses("y", 15).migrates("m", 10, 20, 11, nowSucceeded)
	}
	const blamed = "things y went after a migration of it had begun, and no client had asked for that"
	lost(begun()).after(time.Minute).finds(t, "SVM-16", blamed)
	lost(begun()).finds(t, "SVM-16") // It may have been told too late.
	// What a user has deleted is not lost, whichever is told first.
	deletes(lost(begun()), 200, sentBefore(time.Second)).after(time.Minute).finds(t, "SVM-16")
	lost(deletes(begun(), 200).away(time.Second)).after(time.Minute).finds(t, "SVM-16")
	// No client knows what came of these.
	lost(deletes(begun(), 0)).after(time.Minute).finds(t, "SVM-16")
	lost(deletes(begun(), 504)).after(time.Minute).finds(t, "SVM-16")
	lost(deletes(begun(), 504).after(time.Minute)).after(time.Minute).finds(t, "SVM-16")
	// But of these it is known that nothing came, or nothing more.
	lost(deletes(begun(), 504).after(2*time.Minute)).after(time.Minute).finds(t, "SVM-16", blamed)
	lost(deletes(begun(), 200).after(time.Second)).after(time.Minute).finds(t, "SVM-16", blamed)
	again := deletes(deletes(begun(), 504).after(time.Minute).loses("y", 15), 200, sentBefore(time.Second)).stores("y", v2, "m", 16, 16, 4)
	again.after(2*time.Minute).loses("y", 17).after(time.Minute).finds(t, "SVM-16", blamed)
	// A finalizer holds it for as long as it likes.
	held := deletes(begun(), 200, sentBefore(time.Second)).stores("y", v2, "m", 6, 14, 0)
	held.lastStored().Deleting = true
	held.after(time.Hour).loses("y", 15).after(time.Minute).finds(t, "SVM-16")
	// These did nothing.
	lost(deletes(begun(), 409)).after(time.Minute).finds(t, "SVM-16", blamed)
	lost(deletes(begun(), 503)).after(time.Minute).finds(t, "SVM-16", blamed)
	// It is asked for once.
	deletes(begun(), 200).away(time.Second).loses("y", 15).stores("y", v2, "m", 16, 16, 4).loses("y", 17).after(time.Minute).finds(t, "SVM-16", blamed)
	// Nor does it matter that no migration runs any more.
	begun().stores("y", v2, "m", 6, 15, 0).migrates("m", 10, 20, 11, nowSucceeded).loses("y", 30).after(time.Minute).finds(t, "SVM-16", blamed)
	// An object that the harness did not write may have an owner that deletes it.
	upgraded().stores("z", v1, "", 6, 6, 0).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).
		loses("z", 15).migrates("m", 10, 20, 11, nowSucceeded).after(time.Minute).finds(t, "SVM-16")
	// Before, it was no migration.
	upgraded().loses("x", 9).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).migrates("m", 10, 20, 11, nowSucceeded).after(time.Minute).finds(t, "SVM-16")
}

func TestSVM16WantsWhatComesInBetween(t *testing.T) {
	const first, created = 100, 10
	// stored has objects of a dozen stored in a version, from one to before another.
	stored := func(t *historyBuilder, version string, revision int64, from, to int) *historyBuilder {
		for i := from; i < to; i++ {
			write := int64(0)
			if version == v1 {
				write = int64(i + 1)
			}
			t.stores(fmt.Sprintf("o%02d", i), version, "m", created+int64(i), revision+int64(i), write)
		}
		return t
	}
	begun := func() *historyBuilder {
		all := newHistory().joins("a", 1).joins("b", 2).announces(things, 3, "a="+v1, "b="+v1).manages("a", 4).manager("b", history.ProcessStarted).starts("b", 1)
		return stored(all, v1, created, 0, 12).announces(things, 30, "a="+v2, "b="+v1).announces(things, 31, "a="+v2, "b="+v2).
			migrates("m", 40, 40, 0).migrates("m", 40, 41, 40, nowRuns)
	}
	fault := func(t *historyBuilder, member string, phase history.Phase) *historyBuilder {
		return t.add(history.Event{Kind: history.KindFault, Member: member, Fault: &history.Fault{
			ID: "kill", Type: "PodChaos", Action: history.FaultContainerKill, Component: history.ComponentControllerManager, Phase: phase, Proof: "p",
		}})
	}
	kill := func(t *historyBuilder, member string) *historyBuilder {
		return fault(fault(fault(t, member, history.PhaseInject).manager(member, history.ProcessExited), member, history.PhaseWitness), member, history.PhaseHeal)
	}
	kills := func(t *testing.T, b *historyBuilder, want [3]int64) {
		t.Helper()
		r := b.finds(t, "SVM-16")
		for i, mark := range []int{10, 50, 90} {
			counted(t, r, fmt.Sprintf("about %d %%", mark), want[i])
		}
	}
	kills(t, kill(stored(begun(), v2, first, 0, 1), "a"), [3]int64{1, 0, 0})
	kills(t, kill(stored(begun(), v2, first, 0, 6), "a"), [3]int64{0, 1, 0})
	kills(t, kill(stored(begun(), v2, first, 0, 11), "a"), [3]int64{0, 0, 1})
	kills(t, kill(stored(begun(), v2, first, 0, 3), "a"), [3]int64{})                          // 25 %
	kills(t, kill(stored(begun(), v2, first, 0, 6), "b"), [3]int64{})                          // It did not migrate.
	kills(t, stored(begun(), v2, first, 0, 6).manager("a", history.ProcessExited), [3]int64{}) // It was stopped.
	kills(t, kill(begun(), "a"), [3]int64{})                                                   // Nothing was done.
	kills(t, kill(stored(upgraded().manages("a", 8), v1, created, 0, 2), "a"), [3]int64{})     // Nothing ran.

	power := begun().add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "p", Type: history.FaultPower, Action: history.FaultPowerCut, Phase: history.PhaseInject}})
	kills(t, stored(power, v2, first, 0, 6).manager("a", history.ProcessExited), [3]int64{0, 1, 0})

	parted := func(done int, entries ...string) *historyBuilder {
		return stored(begun(), v2, first, 0, done).announces(things, 200, entries...)
	}
	halfway := func(done int, entries ...string) law.Result {
		return parted(done, entries...).migrates("m", 40, 210, 40, nowFailed).finds(t, "SVM-16")
	}
	const back = "rolled back about half way"
	counted(t, halfway(6, "a="+v2, "b="+v1), back, 1)
	counted(t, halfway(3, "a="+v2, "b="+v1), back, 0)
	counted(t, halfway(6), back, 0) // No client stores anything else.
	// One that goes on is another row's, and its success is no end here.
	goesOn := stored(parted(6, "a="+v2, "b="+v1), v2, 200, 6, 12).migrates("m", 40, 220, 40, nowSucceeded).finds(t, "SVM-16")
	counted(t, goesOn, back, 1)
	counted(t, goesOn, "stored in the new version", 0)

	ended := stored(begun().exits("a", 1).exits("b", 1), v2, first, 0, 12).migrates("m", 40, 210, 40, nowSucceeded).exits("a", 2).finds(t, "SVM-16")
	counted(t, ended, "ends of API servers", 2)
	counted(t, ended, "members that came to store", 2)
	// One that was upgraded before they were there is not counted.
	early := newHistory().joins("a", 1).joins("b", 2).announces(things, 3, "a="+v1, "b="+v1).announces(things, 4, "a="+v2, "b="+v1)
	early = stored(early, v1, created, 0, 12).announces(things, 31, "a="+v2, "b="+v2).migrates("m", 40, 40, 0).migrates("m", 40, 41, 40, nowRuns)
	counted(t, stored(early, v2, first, 0, 12).migrates("m", 40, 210, 40, nowSucceeded).finds(t, "SVM-16"), "members that came to store", 1)
}

// A namespace whose deletion was asked for, and of which it is not known whether it was heeded, takes
// its objects with it only if it goes.
func TestSVM16_ANamespaceThatStaysTakesNothingWithIt(t *testing.T) {
	lost := func(code int, goes bool) *historyBuilder {
		b := upgraded().after(time.Minute).stores("hold/y", v1, "m", 6, 6, 2).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
		b.requests("a", code, 0, func(ev *history.Event) {
			r := ev.Request
			r.Class, r.Verb, r.Group, r.Resource, r.Name = history.ClassRead, "delete", "", "namespaces", "hold"
		}).after(time.Hour).loses("hold/y", 14)
		if goes {
			b.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/namespaces/hold", Revision: 15})
		}
		return b.after(time.Minute)
	}
	lost(504, false).finds(t, "SVM-16", "things hold/y went after a migration of it had begun")
	lost(504, true).finds(t, "SVM-16")
	lost(200, false).finds(t, "SVM-16")
}
