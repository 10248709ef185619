package main

import (
	"context"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// atRest waits until a process takes hardly any processor time, and returns what
// share of one processor it took last.
func atRest(ctx context.Context, pid int) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, quietBound)
	defer cancel()
	before, err := bench.Taken(pid)
	if err != nil {
		return 0, err
	}
	window := time.NewTicker(quietWindow)
	defer window.Stop()
	for share := 1.0; ; {
		select {
		case <-window.C:
		case <-ctx.Done():
			if share >= quietShare && ctx.Err() == context.DeadlineExceeded {
				bench.Progress("  the API server is still busy")
				return share, nil
			}
			return share, ctx.Err()
		}
		now, err := bench.Taken(pid)
		if err != nil {
			return 0, err
		}
		share = (now - before) / quietWindow.Seconds()
		if before = now; share < quietShare {
			return share, nil
		}
	}
}
