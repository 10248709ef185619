package run

import (
	"context"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// askedOnceInterrupted takes an end of a process for one that was asked for, once the run is
// interrupted. What interrupts a run may reach its control plane too: a machine that is shut
// down sends SIGTERM to every process. The requirement that no component ends by itself
// (RO-03) would take that for a breach. Nothing passes because of this: the scenario of an
// interrupted run was not played to its end.
func askedOnceInterrupted(ctx context.Context, observe cluster.Observer) cluster.Observer {
	return func(change cluster.Change) {
		if change.What == history.ProcessExited && ctx.Err() != nil {
			change.Expected = true
		}
		observe(change)
	}
}
