package migration

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/law"
)

func TestSVM27WantsStoredVersionsTrimmed(t *testing.T) {
	done := func() *historyBuilder {
		return newHistory().defines("v1", 1, 3, "v1").stores("x", v1, "m", 5, 5, 1).defines("v2", 2, 7, "v1", "v2").manages("a", 8).after(20*time.Second).
			migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).stores("x", v2, "m", 5, 14, 0)
	}
	succeeded := func() *historyBuilder { return done().migrates("m", 10, 20, 11, nowSucceeded) }
	const late = "still named an old version 15s after migration m had succeeded"
	within := mustBound("SVM-27", "trimsWithin")
	done().defines("v2", 2, 15, "v2").migrates("m", 10, 20, 11, nowSucceeded).verdictOf(t, "SVM-27", law.Pass)
	succeeded().after(within-time.Second).defines("v2", 2, 22, "v2").verdictOf(t, "SVM-27", law.Pass)
	succeeded().after(within+time.Second).defines("v2", 2, 22, "v2").finds(t, "SVM-27", late)
	succeeded().after(within+time.Second).finds(t, "SVM-27", late)
	succeeded().after(time.Second).verdictOf(t, "SVM-27", law.Inconclusive)
	succeeded().defines("v1", 3, 22, "v1", "v2").after(within+time.Second).verdictOf(t, "SVM-27", law.Inconclusive)
	// A trim that was told late may have been in time.
	succeeded().after(within-time.Second).delayed(3*time.Second).defines("v2", 2, 22, "v2").verdictOf(t, "SVM-27", law.Inconclusive)
}
