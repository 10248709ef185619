package bench

import (
	"context"
	"time"
)

// Processes are at rest while they take less than quietShare of one processor in each
// quietWindow.
const (
	quietShare  = 0.1
	quietWindow = 3 * time.Second
)

// AtRest waits until processes have taken hardly any processor time for the given duration,
// at least one quietWindow, and no longer than bound. It returns the share of one processor
// that they took last. If they did not come to rest, it reports that, and the share is at
// least quietShare.
func AtRest(ctx context.Context, long, bound time.Duration, pids ...int) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	before, err := taken(pids)
	if err != nil {
		return 0, err
	}
	window := time.NewTicker(quietWindow)
	defer window.Stop()
	quiet := time.Duration(0)
	for share := 1.0; ; {
		select {
		case <-window.C:
		case <-ctx.Done():
			if ctx.Err() == context.DeadlineExceeded {
				Progress("  %.0f %% of a processor are still taken after %v", share*100, bound)
				return share, nil
			}
			return share, ctx.Err()
		}
		now, err := taken(pids)
		if err != nil {
			return 0, err
		}
		share = (now - before) / quietWindow.Seconds()
		before = now
		if quiet += quietWindow; share >= quietShare {
			quiet = 0
		}
		if quiet > 0 && quiet >= long {
			return share, nil
		}
	}
}

// taken adds up the processor time of processes, in seconds.
func taken(pids []int) (sum float64, err error) {
	for _, pid := range pids {
		n, err := Taken(pid)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
