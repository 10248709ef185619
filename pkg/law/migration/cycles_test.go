package migration

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A migration to the version before does not stand for that to the next one, unless it comes to a
// success in it.
func TestSVM30_AnOlderMigrationIsOfAnotherVersion(t *testing.T) {
	for end, want := range map[string]law.Verdict{nowFailed: law.Fail, nowSucceeded: law.Inconclusive} {
		b := newHistory().joins("a", 1).announces(things, 3, "a="+v1)
		b.header.Topology = &history.Topology{Settings: map[string]string{automaticSetting: "true"}}
		b.hosts("a", 3).manages("a", 4).waits(20*time.Second).stores("x", v1, "m", 5, 5, 1).stores("y", v1, "n", 6, 6, 2)
		b.waits(time.Second).announces(things, 7, "a="+v2).waits(time.Second)
		b.migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).waits(time.Second).stores("x", v2, "m", 5, 14, 0)
		b.waits(time.Second).announces(things, 15, "a=g.io/v3").waits(5*time.Second).migrates("m", 10, 20, 11, end).waits(2 * time.Hour)
		if r := b.judge(t, "SVM-30")[0]; r.Verdict != want {
			t.Errorf("after the one before has ended as %s it is %s: %v", end, r.Verdict, r.Obligations)
		}
	}
}

// That a migration was created is not enough where it does not succeed.
func TestSVM30_TheMigrationSucceeds(t *testing.T) {
	ends := func(conditions ...string) *historyBuilder {
		b := on(t, "SVM-30").announces(things, far+3, "a="+v1, "b="+v1).stores("x", v1, "m", far+5, far+5, 1).controls("cp1", far+6)
		b.after(20*time.Second).announces(things, far+7, "a="+v2, "b="+v2).after(time.Second)
		b.migrates("m", far+10, far+10, 0).migrates("m", far+10, far+12, far+11, nowRuns).stores("x", v2, "m", far+5, far+14, 0)
		return b.migrates("m", far+10, far+20, far+11, conditions...).after(time.Second)
	}
	ends(nowSucceeded).verdictOf(t, "SVM-30", law.Pass)
	ends(nowFailed).finds(t, "SVM-30", "migration m failed")
	ends(nowRuns).verdictOf(t, "SVM-30", law.Inconclusive)
	ends(nowRuns).after(time.Hour).finds(t, "SVM-30", "migration m has not ended")
	// Without an agreement it has to fail, and the next one has to succeed.
	lost := func() *historyBuilder {
		b := on(t, "SVM-30").announces(things, far+3, "a="+v1, "b="+v1).stores("x", v1, "m", far+5, far+5, 1).controls("cp1", far+6)
		b.after(20*time.Second).announces(things, far+7, "a="+v2, "b="+v2).after(time.Second)
		b.migrates("m", far+10, far+10, 0).migrates("m", far+10, far+12, far+11, nowRuns).announces(things, far+13, "a="+v2, "b="+v1)
		b.migrates("m", far+10, far+14, far+11, nowFailed).announces(things, far+15, "a="+v2, "b="+v2).migrates("n", far+16, far+16, 0)
		return b.migrates("n", far+16, far+17, far+16, nowRuns).stores("x", v2, "m", far+5, far+18, 0).migrates("n", far+16, far+19, far+16, nowSucceeded)
	}
	lost().verdictOf(t, "SVM-30", law.Pass)
}

// The clock of a migration of which nothing comes stands while the servers do not agree, and never
// begins anew: one that fails whenever they cease to agree owes what it had the time for in between.
func TestHeld_TheClockStandsWhileTheServersDoNotAgree(t *testing.T) {
	flaps := func(b *historyBuilder, agreed time.Duration) *historyBuilder {
		for i := range int64(10) {
			b.after(agreed/10).announces(things, far+1020+2*i, "a="+v2, "b="+v1).after(time.Minute)
			b.announces(things, far+1021+2*i, "a="+v2, "b="+v2)
		}
		return b
	}
	lost := func(b *historyBuilder) *historyBuilder {
		return b.announces(things, far+1040, "a="+v2, "b="+v1).after(time.Second).migrates("m", far+10, far+1041, far+11, nowFailed).after(time.Minute)
	}
	for agreed, want := range map[time.Duration]bool{goesOnWithin() + time.Minute: true, goesOnWithin() - time.Minute: false} {
		for what, b := range map[string]*historyBuilder{
			"and fails": lost(flaps(runsFar(t, "SVM-16"), agreed)), "and goes on": flaps(runsFar(t, "SVM-16"), agreed).after(time.Second),
		} {
			if r := b.judge(t, "SVM-16")[0]; (r.Verdict == law.Fail) != want {
				t.Errorf("%s in which the servers agree, %s: %s %v %+v", agreed, what, r.Verdict, r.Violations, r.Obligations)
			}
		}
	}
	// It may begin anew whenever they agree again, and come past all that is done.
	const done = 400
	b := runsFar(t, "SVM-16")
	for i := range int64(done) {
		b.stores(fmt.Sprint("x", i), v2, "m", far+100+i, far+100+i, i+3)
	}
	flaps(b, goesOnWithin()+5*done*passesObject())
	if r := lost(b).judge(t, "SVM-16")[0]; r.Verdict == law.Fail {
		t.Errorf("with %d objects to come past: %v", done, r.Violations)
	}
}

// What the servers agree on again and again has to be migrated in the time in which they do.
func TestSVM30_TheClockStandsWhileTheServersDoNotAgree(t *testing.T) {
	within := mustBound("SVM-30", "beginsWithin")
	flaps := func(agreed time.Duration, between string, meanwhile func(b *historyBuilder, i int64)) *historyBuilder {
		b := on(t, "SVM-30").announces(things, far+3, "a="+v1, "b="+v1).stores("x", v1, "m", far+5, far+5, 1).controls("cp1", far+6).after(20 * time.Second)
		for i := int64(0); i < 40; i += 10 {
			b.announces(things, far+10+i, "a="+v2, "b="+v2)
			meanwhile(b, far+i)
			b.waits(agreed).announces(things, far+19+i, "a="+between, "b="+v1).waits(10 * time.Second)
		}
		return b
	}
	nothing := func(*historyBuilder, int64) {}
	flaps(within/3, v2, nothing).finds(t, "SVM-30", "no migration of things.g.io existed 1m20s after")
	if r := flaps(within/5, v2, nothing).finds(t, "SVM-30"); r.Obligations.Excused == 0 {
		t.Errorf("%+v", r.Obligations)
	}
	// Another agreement in between ends what was owed.
	flaps(within/3, v1, nothing).finds(t, "SVM-30")
	// So does a moment in which all objects are in the version.
	flaps(within/3, v2, func(b *historyBuilder, i int64) {
		b.announces(things, i+14, "a="+v2, "b="+v1).stores("x", v2, "m", far+5, i+15, 2)
		b.announces(things, i+16, "a="+v2, "b="+v2).stores("x", v1, "m", far+5, i+17, 3)
	}).finds(t, "SVM-30")
	// A migration that the control plane deletes each time does not stand for it, unless it succeeds.
	deletes := func(b *historyBuilder, i int64) *historyBuilder {
		return b.migrates("m", i+11, i+11, 0).after(time.Second).drops("m", i+12)
	}
	deleted := func(b *historyBuilder, i int64) { deletes(b, i) }
	if r := flaps(within/2, v2, deleted).judge(t, "SVM-30")[0]; r.Verdict != law.Fail {
		t.Errorf("deleted each time: %s %+v", r.Verdict, r.Obligations)
	}
	flaps(within/5, v2, deleted).finds(t, "SVM-30")
	// One that it deletes while the servers do not agree is no such one: without agreement it has to end.
	withdrawn := func(disputed bool) *historyBuilder {
		return flaps(time.Second, v2, func(b *historyBuilder, i int64) {
			if b.waits(within/2).migrates("m", i+11, i+11, 0).after(time.Second); disputed {
				b.announces(things, i+12, "a="+v2, "b="+v1)
			}
			b.drops("m", i+13)
		})
	}
	withdrawn(true).finds(t, "SVM-30")
	// Nor has another one to follow when the servers have agreed on something else.
	other := deletes(flaps(within/5, v1, nothing).announces(things, far+50, "a="+v2, "b="+v2), far+50)
	for i := range int64(3) {
		other.announces(things, far+64+2*i, "a="+v1, "b="+v1).waits(time.Second).announces(things, far+65+2*i, "a="+v2, "b="+v2).waits(within / 2)
	}
	other.finds(t, "SVM-30")
	if r := withdrawn(false).judge(t, "SVM-30")[0]; r.Verdict != law.Fail {
		t.Errorf("deleted each time while the servers agree: %s %+v", r.Verdict, r.Obligations)
	}
	flaps(within/2, v2, func(b *historyBuilder, i int64) {
		b.migrates("m", i+11, i+11, 0).migrates("m", i+11, i+12, i+11, nowRuns).stores("x", v2, "m", far+5, i+13, 0)
		b.migrates("m", i+11, i+14, i+11, nowSucceeded).after(time.Second).drops("m", i+15)
	}).verdictOf(t, "SVM-30", law.Pass)
}

// A control plane that deletes its migration has to create another one.
func TestSVM30_TheMigrationStays(t *testing.T) {
	within := mustBound("SVM-30", "beginsWithin")
	deleted := func() *historyBuilder {
		b := on(t, "SVM-30").announces(things, far+3, "a="+v1, "b="+v1).stores("x", v1, "m", far+5, far+5, 1).controls("cp1", far+6)
		b.after(20*time.Second).announces(things, far+7, "a="+v2, "b="+v2).after(time.Second)
		return b.migrates("m", far+10, far+10, 0).after(time.Second).drops("m", far+11)
	}
	deleted().waits(within+time.Second).finds(t, "SVM-30", "migration m was deleted before it had ended")
	deleted().waits(within-time.Second).finds(t, "SVM-30")
	deleted().announces(things, far+12, "a="+v2, "b="+v1).waits(within+time.Second).finds(t, "SVM-30")
	again := deleted().migrates("n", far+12, far+12, 0).migrates("n", far+12, far+13, far+12, nowRuns).stores("x", v2, "m", far+5, far+14, 0)
	again.migrates("n", far+12, far+15, far+12, nowSucceeded).waits(time.Hour).verdictOf(t, "SVM-30", law.Pass)
	asked := deleted().requests("cp1", 200, 0, func(ev *history.Event) {
		r := ev.Request
		r.Class, r.Verb, r.Group, r.Resource, r.Name = history.ClassMigration, "delete", "storagemigration.k8s.io", "storageversionmigrations", "m"
	})
	asked.waits(within+time.Second).finds(t, "SVM-30")
	// One that has ended may go.
	b := on(t, "SVM-30").announces(things, far+3, "a="+v1, "b="+v1).stores("x", v1, "m", far+5, far+5, 1).controls("cp1", far+6)
	b.after(20*time.Second).announces(things, far+7, "a="+v2, "b="+v2).after(time.Second).migrates("m", far+10, far+10, 0)
	b.migrates("m", far+10, far+12, far+11, nowRuns).stores("x", v2, "m", far+5, far+14, 0).migrates("m", far+10, far+15, far+11, nowSucceeded)
	b.after(time.Second).drops("m", far+16).waits(within+time.Second).finds(t, "SVM-30")
}

// A migration that gave way takes its turn when it runs again, too.
func TestSVM28_RunsAgainBesideAnother(t *testing.T) {
	for _, beside := range []bool{true, false} {
		other := Resource{"custom.io", "soundings"}
		b := newHistory().joins("a", 1).announces(things, 3, "a="+v2).announces("custom.io.soundings", 4, "a=custom.io/v2")
		b.stores("x", v1, "m", 5, 5, 1).manages("a", 8).waits(20 * time.Second)
		b.migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).after(time.Second)
		b.migrates("n", 13, 13, 0).of(other).after(time.Minute)
		b.migrates("m", 10, 14, 11) // it gives way
		b.migrates("n", 13, 15, 14, nowRuns).of(other).after(time.Second)
		if !beside {
			b.migrates("n", 13, 16, 14, nowSucceeded).of(other).after(time.Second)
		}
		b.migrates("m", 10, 17, 11, nowRuns).after(time.Minute).stores("x", v2, "m", 5, 18, 0).migrates("m", 10, 20, 11, nowSucceeded)
		if r := b.judge(t, "SVM-28")[0]; (r.Verdict == law.Fail) != beside {
			t.Errorf("where the other one runs, %t: %s %v", beside, r.Verdict, r.Violations)
		}
	}
}

// That the servers did not agree for a moment excuses no failure long after they did again.
func TestHeld_AMomentWithoutAgreementExcusesNothingLongAfter(t *testing.T) {
	for _, id := range []requirement.ID{"SVM-09", "SVM-10", "SVM-11", "SVM-13", "SVM-16"} {
		for pause, want := range map[time.Duration]bool{4 * time.Minute: true, time.Second: false} {
			b := on(t, id).announces(things, far+3, "a="+v2, "b="+v2)
			for i := range 20 {
				b.stores(fmt.Sprint("x", i), v1, "m", int64(far+10+i), int64(far+10+i), int64(i+1))
			}
			b.controls("cp1", far+40).after(20*time.Second).migrates("m", far+41, far+41, 0).migrates("m", far+41, far+42, far+41, nowRuns)
			b.after(time.Second).announces(things, far+43, "a="+v2, "b="+v1).after(time.Second).announces(things, far+44, "a="+v2, "b="+v2)
			for i := range 15 {
				b.after(pause).stores(fmt.Sprint("x", i), v2, "m", int64(far+10+i), int64(far+50+i), 0)
			}
			switch id {
			case "SVM-09":
				b.loses("x19", far+69)
			case "SVM-10":
				b.errs("x15", 503)
			case "SVM-11":
				b.manager("cp1", history.ProcessExited).controls("cp2", far+69).after(time.Second)
			case "SVM-13":
				b.exits("cp2", 1).starts("cp2", 50).after(time.Second)
			}
			b.after(time.Second).migrates("m", far+41, far+70, far+41, nowFailed)
			if r := b.judge(t, id)[0]; (r.Verdict == law.Fail) != want {
				t.Errorf("%s, %s between two rewrites: %s %v", id, pause, r.Verdict, r.Violations)
			}
		}
	}
}

// What had not come of a migration before a loss of the agreement says nothing of a restart after that.
func TestHeld_ALossBeforeWhatHappenedSaysNothingOfIt(t *testing.T) {
	for after, want := range map[time.Duration]bool{goesOnWithin() + time.Minute: true, goesOnWithin() - time.Minute: false} {
		b := runsFar(t, "SVM-13").after(goesOnWithin()+time.Minute).announces(things, far+20, "a="+v2, "b="+v1).after(time.Second)
		b.announces(things, far+21, "a="+v2, "b="+v2).stores("x", v2, "m", far+6, far+22, 0).exits("cp3", 1).starts("cp3", 50)
		b.after(20*time.Second+after).announces(things, far+24, "a="+v2, "b="+v1).after(time.Second)
		if r := b.migrates("m", far+10, far+25, far+11, nowFailed).after(time.Minute).judge(t, "SVM-13")[0]; (r.Verdict == law.Fail) != want {
			t.Errorf("%s after the restart: %s %v %+v", after, r.Verdict, r.Violations, r.Obligations)
		}
	}
}

// A migration that is deleted before it says that it runs stops as any other does.
func TestSVM24_DeletedBeforeItRuns(t *testing.T) {
	for late, want := range map[bool]law.Verdict{true: law.Fail, false: law.Pass} {
		b := on(t, "SVM-24").announces(things, far+3, "a="+v2, "b="+v2)
		for i := range 5 {
			b.stores(fmt.Sprint("x", i), v1, "m", int64(far+10+i), int64(far+10+i), int64(i+1))
		}
		b.controls("cp1", far+20).after(20*time.Second).migrates("m", far+30, far+30, 0).after(2*time.Second).drops("m", far+31)
		if late {
			for i := range 5 {
				b.after(time.Minute).stores(fmt.Sprint("x", i), v2, "m", int64(far+10+i), int64(far+40+i), 0)
			}
		}
		if r := b.after(time.Minute).judge(t, "SVM-24")[0]; r.Verdict != want {
			t.Errorf("with rewrites after it, %t: %s %v", late, r.Verdict, r.Violations)
		}
	}
}

// What a migration that was deleted a moment ago still rewrites is not of one deleted long before.
func TestSVM24_AWriteIsOfTheMigrationThatWasDeletedLast(t *testing.T) {
	b := on(t, "SVM-24").announces(things, far+3, "a="+v2, "b="+v2).stores("x", v1, "m", far+10, far+10, 1)
	b.controls("cp1", far+20).after(20*time.Second).migrates("m", far+30, far+30, 0).after(2*time.Second).drops("m", far+31)
	b.after(time.Hour).migrates("n", far+32, far+32, 0).after(2*time.Second).drops("n", far+33)
	b.after(time.Second).stores("x", v2, "m", far+10, far+40, 0).after(time.Minute)
	if r := b.judge(t, "SVM-24")[0]; r.Verdict != law.Pass {
		t.Errorf("%s %v", r.Verdict, r.Violations)
	}
}

// runsFar has a migration of two objects run, with two controllers.
func runsFar(t *testing.T, id requirement.ID) *historyBuilder {
	b := onto(t, id).controls("cp1", far+4).controls("cp2", far+5).after(20 * time.Second)
	b.stores("x", v1, "m", far+6, far+6, 1).stores("y", v1, "m", far+7, far+7, 2)
	return b.migrates("m", far+10, far+10, 0).migrates("m", far+10, far+12, far+11, nowRuns)
}

// That the servers ceased to agree excuses nothing of what had not come of a migration before.
func TestHeld_ALossExcusesNoMigrationThatWasStuckBefore(t *testing.T) {
	for _, id := range []requirement.ID{"SVM-09", "SVM-10", "SVM-11", "SVM-13", "SVM-16"} {
		for stuck, want := range map[time.Duration]bool{goesOnWithin() + time.Minute: true, goesOnWithin() - time.Minute: false} {
			b := runsFar(t, id)
			switch id {
			case "SVM-09":
				b.loses("x", far+13)
			case "SVM-10":
				b.errs("x", 503)
			case "SVM-11":
				b.manager("cp2", history.ProcessExited).controls("cp1", far+13)
			case "SVM-13":
				b.exits("cp3", 1).starts("cp3", 50)
			}
			b.after(20*time.Second+stuck).announces(things, far+20, "a="+v2, "b="+v1).after(2 * time.Minute)
			b.migrates("m", far+10, far+21, far+11, nowFailed).after(time.Minute)
			if r := b.judge(t, id)[0]; (r.Verdict == law.Fail) != want {
				t.Errorf("%s, %s before the loss: %s %v %+v", id, stuck, r.Verdict, r.Violations, r.Obligations)
			}
		}
	}
}
