package migration

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// A migration that stood still for too long has stood still, whatever comes of it later.
func TestSVM19_TheNextStepDoesNotMakeUpForAPause(t *testing.T) {
	asked := func(d time.Duration) *historyBuilder {
		return upgraded().stores("y", v1, "n", 6, 6, 2).manages("a", 8).waits(20*time.Second).migrates("m", 10, 10, 0).waits(d)
	}
	begun := func(d time.Duration) *historyBuilder { return asked(0).migrates("m", 10, 12, 11, nowRuns).waits(d) }
	ends := func(b *historyBuilder) *historyBuilder { return b.migrates("m", 10, 20, 11, nowSucceeded) }
	within := mustBound("SVM-19", "open")
	for message, story := range map[string]func(time.Duration) *historyBuilder{
		"has not begun for": func(d time.Duration) *historyBuilder {
			return asked(d).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0).stores("y", v2, "n", 6, 15, 0)
		},
		"has not gone on for": func(d time.Duration) *historyBuilder {
			return begun(time.Minute).stores("x", v2, "m", 5, 14, 0).waits(d).stores("y", v2, "n", 6, 15, 0)
		},
		"has not come to an end for": func(d time.Duration) *historyBuilder {
			return begun(time.Minute).stores("x", v2, "m", 5, 14, 0).stores("y", v2, "n", 6, 15, 0).waits(d)
		},
	} {
		ends(story(within+time.Minute)).finds(t, "SVM-19", message)
		if r := ends(story(within-time.Minute)).finds(t, "SVM-19"); r.Obligations.Met != 1 {
			t.Errorf("just within the bound: %+v", r.Obligations)
		}
	}
	// Pauses are not added up.
	ends(begun(within-time.Minute).stores("x", v2, "m", 5, 14, 0).waits(within-time.Minute).stores("y", v2, "n", 6, 15, 0).waits(within-time.Minute)).finds(t, "SVM-19")
}

// The clock stands while a migration waits for others, for a controller, or for an agreement.
func TestSVM19_WaitsForAnHour(t *testing.T) {
	other := Resource{"custom.io", "soundings"}
	begun := func() *historyBuilder {
		return upgraded().announces("custom.io.soundings", 7, "a=custom.io/v2").manages("a", 8).waits(20*time.Second).
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).waits(time.Second)
	}
	// gaveWay has five others run for twelve minutes each, after m gave way to them.
	gaveWay := func() *historyBuilder {
		b := begun()
		for i := range int64(5) {
			b.migrates("n", 100*i+100, 100*i+100, 0).of(other).migrates("m", 10, 100*i+101, 11).migrates("n", 100*i+100, 100*i+102, 14, nowRuns).of(other)
			b.waits(12*time.Minute).migrates("n", 100*i+100, 100*i+103, 14, nowSucceeded).of(other)
		}
		return b
	}
	away := func() *historyBuilder {
		return begun().manager("a", history.ProcessExited).waits(time.Hour).controls("b", 600)
	}
	for name, b := range map[string]func() *historyBuilder{"others": gaveWay, "a controller": away} {
		ends := func(after time.Duration) law.Result {
			return b().waits(after).migrates("m", 10, 610, 11, nowRuns).stores("x", v2, "m", 5, 611, 0).migrates("m", 10, 612, 11, nowSucceeded).judge(t, "SVM-19")[0]
		}
		if r := ends(time.Minute); r.Verdict == law.Fail {
			t.Errorf("waits for %s: %v", name, r.Violations)
		}
		if r := ends(time.Hour); r.Verdict != law.Fail {
			t.Errorf("waited for %s, and then did nothing for an hour: %s %q", name, r.Verdict, r.Reasons)
		}
	}
}
