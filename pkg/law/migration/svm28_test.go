package migration

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/law"
)

func TestSVM28WantsOneMigrationAtATime(t *testing.T) {
	others := Resource{"other.io", "others"}
	first := func() *historyBuilder {
		return upgraded().manages("a", 8).after(20*time.Second).migrates("o", 10, 10, 0).of(others).migrates("o", 10, 12, 11, nowRuns).of(others).migrates("m", 13, 13, 0)
	}
	first().migrates("m", 13, 14, 13, nowRuns).finds(t, "SVM-28", "migration m of things.g.io began to run at revision 14, while o of others.other.io ran")
	first().migrates("o", 10, 14, 11, nowSucceeded).of(others).migrates("m", 13, 15, 14, nowRuns).verdictOf(t, "SVM-28", law.Pass)
	// The first one gave way.
	first().migrates("o", 10, 14, 11).of(others).migrates("m", 13, 15, 14, nowRuns).verdictOf(t, "SVM-28", law.Inconclusive)
	// The second one is short-circuited.
	first().migrates("m", 13, 14, 0, nowSucceeded).verdictOf(t, "SVM-28", law.Inconclusive)
	first().migrates("n", 14, 14, 13, nowRuns).of(others).verdictOf(t, "SVM-28", law.Inconclusive)
}

// A migration that has nothing to go through has no checkpoint.
func TestSVM03ExcusesAShortCircuit(t *testing.T) {
	on(t, "SVM-31").finds(t, "SVM-03")
}

// A migration that does not say that it runs, and rewrites objects, runs.
func TestSVM28_RunsWithoutSayingSo(t *testing.T) {
	other := Resource{"custom.io", "soundings"}
	begun := func() *historyBuilder {
		b := newHistory().joins("a", 1).announces(things, 3, "a="+v2).announces("custom.io.soundings", 4, "a=custom.io/v2")
		return b.stores("x", v1, "m", 5, 5, 1).stores("y", v1, "m", 6, 6, 2).manages("a", 8).waits(20*time.Second).migrates("o", 10, 10, 0).of(other)
	}
	rewrites := func(b *historyBuilder) *historyBuilder {
		return b.migrates("m", 12, 12, 0).after(time.Second).stores("x", v2, "m", 5, 14, 0).after(time.Second).stores("y", v2, "m", 6, 15, 0)
	}
	rewrites(begun().migrates("o", 10, 11, 10, nowRuns).of(other)).migrates("m", 12, 16, 12, nowSucceeded).finds(t, "SVM-28", "migration m of things.g.io began to run at revision 14, while o of")
	rewrites(begun().migrates("o", 10, 11, 10, nowRuns, nowSucceeded).of(other)).migrates("m", 12, 16, 12, nowSucceeded).finds(t, "SVM-28")
	rewrites(begun()).migrates("o", 10, 16, 10, nowRuns).of(other).finds(t, "SVM-28", "migration o of soundings.custom.io began to run at revision 16, while m of")
	rewrites(begun()).migrates("m", 12, 16, 12, nowSucceeded).migrates("o", 10, 17, 10, nowRuns).of(other).finds(t, "SVM-28")
	rewrites(begun()).migrates("m", 12, 16, 12).migrates("o", 10, 17, 10, nowRuns).of(other).finds(t, "SVM-28") // it gave way
}
