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
