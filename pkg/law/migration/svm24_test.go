package migration

import (
	"testing"
	"time"
)

// The next migration is to begin also where it fails, or is deleted, before it has begun.
func TestSVM24_TheNextOneBeginsThoughItEndsBefore(t *testing.T) {
	within := mustBound("SVM-24", "beginsWithin")
	waits := func(d time.Duration) *historyBuilder {
		return upgraded().manages("a", 8).waits(20*time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns).migrates("n", 13, 13, 0).drops("m", 15).waits(d)
	}
	failed := func(b *historyBuilder) *historyBuilder {
		return b.migrates("n", 13, 20, 0, nowFailed).waits(time.Second)
	}
	deleted := func(b *historyBuilder) *historyBuilder { return b.drops("n", 20).waits(time.Second) }
	failed(waits(within+time.Second)).finds(t, "SVM-24", "migration n began only 11s after m was deleted")
	failed(waits(within-time.Second)).finds(t, "SVM-24")
	deleted(waits(within+time.Second)).finds(t, "SVM-24", "migration n has not begun for 11s after m was deleted")
	deleted(waits(within-time.Second)).finds(t, "SVM-24")
	// Then it is the turn of the one after it.
	after := func(d time.Duration) *historyBuilder {
		return deleted(waits(time.Second).migrates("o", 16, 16, 0)).waits(d)
	}
	after(within+time.Second).finds(t, "SVM-24", "migration o has not begun for")
	// It is the turn of one at a time, and of none that has begun or ended before.
	waits(time.Second).migrates("o", 16, 16, 0).waits(within).finds(t, "SVM-24", "migration n has not begun for 11s after m was deleted")
	before := upgraded().manages("a", 8).waits(20*time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	before.migrates("r", 13, 13, 0).migrates("f", 14, 14, 0).migrates("r", 13, 15, 14, nowRuns).migrates("f", 14, 16, 0, nowFailed).waits(time.Second)
	before.drops("m", 17).waits(within+time.Second).finds(t, "SVM-24")
	after(within-3*time.Second).migrates("o", 16, 21, 20, nowRuns).finds(t, "SVM-24")
}
