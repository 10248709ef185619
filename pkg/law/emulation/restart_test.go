package emulation_test

import (
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/emulation/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// again has cp1 be killed, before or after it was ready, and be started anew with its release.
func again(b *stories.Builder, wasReady bool) {
	m := b.Members[0]
	for i := len(b.Events) - 1; !wasReady; i-- {
		if ev := &b.Events[i]; ev.Ready != nil && ev.Member == m.Name {
			ev.Ready.Code = 500
			break
		}
	}
	b.Exit(m, "signal: killed", true)
	b.Start(m, m.Release)
	b.RenewIdentity(m)
	b.Advance(1000)
	for _, r := range story.Hosted {
		b.ReportResource(m, r)
	}
	b.AnswerReady(m, 200, true)
}

// A member owes what it does after a rollback, or when it has raised what it emulates, whichever of
// its processes comes to do it.
func TestRestart_AProcessThatEndedSoonSettlesNothing(t *testing.T) {
	takesNone := func(b *stories.Builder) {
		for range 14 {
			b.Advance(1000)
			b.Refuse(b.Members[0], story.BallastGroup, "ballasts")
		}
	}
	readsNone := func(b *stories.Builder) {
		b.Read(b.Members[0], story.BallastGroup, "ballasts")
		failed := b.Events[len(b.Events)-1].Read
		failed.Code, failed.Compared, failed.Message = 500, false, "no kind Ballast is registered"
	}
	for _, wasReady := range []bool{false, true} {
		process := func(then func(*stories.Builder)) func(*stories.Builder) {
			return func(b *stories.Builder) {
				again(b, wasReady)
				then(b)
			}
		}
		judgetest.Expect(t, "EV-03", at("cp1 rolled back", process(takesNone)), check.Fail)
		judgetest.Expect(t, "EV-03", at("cp1 rolled back", process(readsNone)), check.Fail)
		judgetest.Expect(t, "EV-04", at("cp1 raised", process(takesNone)), check.Fail)
		judgetest.Expect(t, "EV-03", at("cp1 rolled back", process(func(*stories.Builder) {})), check.Pass)
		judgetest.Expect(t, "EV-04", at("cp1 raised", process(func(*stories.Builder) {})), check.Pass)
	}
}

// A member that is started anew goes on to emulate what it did: no migration begins meanwhile,
// unless it behaves like the newer release then, or its entry was removed.
func TestEV07_NoMigrationBeginsWhileAMemberIsStartedAnew(t *testing.T) {
	for name, c := range map[string]struct {
		raised, removed bool
		want            check.Verdict
	}{
		"it emulates again":     {false, false, check.Fail},
		"it has raised":         {true, false, check.Inconclusive},
		"its entry was removed": {false, true, check.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "EV-07", stories.Skip(map[string]func(*stories.Builder){"waiting": func(b *stories.Builder) {
				emulated := b.Members[2].Release
				for _, m := range b.Members[1:] {
					b.Exit(m, "signal: killed", true)
				}
				if c.removed {
					v := b.StorageVersions[story.BallastVersion]
					v.Entries = slices.DeleteFunc(v.Entries, func(e history.Entry) bool { return e.ServerID != b.Members[0].ServerID() })
					b.Publish(story.BallastVersion)
				}
				b.Advance(10_000)
				b.Migrate("late", history.MigrationRunning, "")
				b.Advance(2000)
				for _, m := range b.Members[1:] {
					b.Start(m, map[bool]string{true: b.Members[0].Release, false: emulated}[c.raised])
					b.AnswerReady(m, 200, true)
				}
			}}), c.want)
		})
	}
}
