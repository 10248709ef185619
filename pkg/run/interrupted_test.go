package run

import (
	"context"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestAskedOnceInterrupted_OnlyEndsAfterTheInterruptWereAskedFor(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var told []cluster.Change
	observe := askedOnceInterrupted(ctx, func(c cluster.Change) { told = append(told, c) })
	changes := []string{history.ProcessExited, history.ProcessStarted}
	for _, what := range changes {
		observe(cluster.Change{Member: "cp1", What: what})
	}
	interrupt()
	for _, what := range changes {
		observe(cluster.Change{Member: "cp1", What: what})
	}
	for i, want := range []bool{false, false, true, false} {
		if told[i].Expected != want || told[i].What != changes[i%2] {
			t.Errorf("change %d is %+v, want it to be asked for: %v", i, told[i], want)
		}
	}
}
