package migration

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
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
	before := func() *historyBuilder {
		return upgraded().manages("a", 8).waits(20*time.Second).migrates("m", 10, 10, 0).migrates("m", 10, 12, 11, nowRuns)
	}
	begun := before().migrates("r", 13, 13, 0).migrates("f", 14, 14, 0).migrates("r", 13, 15, 14, nowRuns).migrates("f", 14, 16, 0, nowFailed).waits(time.Second)
	begun.drops("m", 17).waits(within+time.Second).finds(t, "SVM-24")
	failed(waits(time.Second).migrates("o", 16, 16, 0)).waits(within+time.Second).finds(t, "SVM-24")
	// One that has failed before the deletion is none of those that wait, and keeps none of them from its turn.
	missed := before().migrates("f", 13, 13, 0).migrates("n", 14, 14, 0).migrates("f", 13, 15, 0, nowFailed).waits(time.Second)
	missed.drops("m", 16).waits(within+time.Second).finds(t, "SVM-24", "migration n has not begun for")
	// What begins after the next one has, that one freed.
	row := before().migrates("n", 13, 13, 0).migrates("o", 14, 14, 0).drops("m", 15).waits(time.Second).migrates("n", 13, 16, 15, nowRuns)
	row.waits(time.Second).drops("n", 17).waits(time.Second).migrates("o", 14, 18, 17, nowRuns)
	counted(t, row.finds(t, "SVM-24"), "migrations that began after the one before them was deleted", 2)
	after(within-3*time.Second).migrates("o", 16, 21, 20, nowRuns).finds(t, "SVM-24")
}

// What has ended is not said to run: not by its definition, and not by the migration itself.
func TestSVM24_WhatHasEndedIsNotSaidToRun(t *testing.T) {
	within := mustBound("SVM-24", "unmarksWithin")
	running := func() *historyBuilder {
		return upgraded().manages("a", 8).defines("v2", 2, 9, "v1", "v2").migrates("m", 10, 10, 0).migrating("True", 11).migrates("m", 10, 12, 11, nowRuns).
			waits(20*time.Second).stores("x", v2, "m", 5, 14, 0)
	}
	for _, outcome := range []string{nowSucceeded, nowFailed} {
		ended := func() *historyBuilder { return running().migrates("m", 10, 20, 11, outcome) }
		const marked = "that it is being migrated, and migration m had ended"
		ended().waits(within+time.Second).finds(t, "SVM-24", marked)
		ended().waits(within+time.Second).migrating("False", 21).finds(t, "SVM-24", marked)
		ended().drops("m", 21).waits(within+time.Second).finds(t, "SVM-24", marked)
		inTime := ended().waits(within-time.Second).migrating("False", 21).waits(time.Minute).finds(t, "SVM-24")
		counted(t, inTime, "definitions that ceased to say that they were being migrated", 0) // no deletion showed it
		ended().migrates("n", 21, 21, 0).migrates("n", 21, 22, 21, nowRuns).waits(within+time.Second).finds(t, "SVM-24")
		ended().manager("a", history.ProcessExited).waits(time.Minute).finds(t, "SVM-24")

		said := func() *historyBuilder {
			return running().migrating("False", 15).migrates("m", 10, 20, 11, nowRuns, outcome)
		}
		const runs = "that it runs, and had ended"
		said().waits(within+time.Second).finds(t, "SVM-24", runs)
		said().waits(within+time.Second).migrates("m", 10, 21, 11, outcome).finds(t, "SVM-24", runs)
		said().waits(within-time.Second).migrates("m", 10, 21, 11, outcome).waits(time.Minute).finds(t, "SVM-24")
		said().drops("m", 21).waits(time.Minute).finds(t, "SVM-24")
		said().manager("a", history.ProcessExited).waits(time.Minute).finds(t, "SVM-24")
	}
}

// While another migration of the resource runs the definition is right, and it ceases with that one.
func TestSVM24_ADefinitionIsMarkedForAllThatRun(t *testing.T) {
	both := func() *historyBuilder {
		b := upgraded().manages("a", 8).defines("v2", 2, 9, "v1", "v2").migrates("m", 10, 10, 0).migrating("True", 11).migrates("m", 10, 12, 11, nowRuns)
		return b.waits(20*time.Second).migrates("n", 13, 13, 0).migrates("n", 13, 14, 13, nowRuns)
	}
	both().drops("m", 15).waits(time.Minute).finds(t, "SVM-24")
	both().migrates("m", 10, 15, 11, nowSucceeded).waits(time.Minute).finds(t, "SVM-24")
	const marked = "that it is being migrated, and migration n"
	both().drops("m", 15).migrates("n", 13, 16, 13, nowSucceeded).waits(time.Minute).finds(t, "SVM-24", marked)
	both().drops("m", 15).drops("n", 16).waits(time.Minute).finds(t, "SVM-24", marked)
}
