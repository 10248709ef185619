package planted

import (
	"context"
	"os"
	"time"

	"k8s.io/klog/v2"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/election/coordinator"
)

// Coordinator plants the defects of a set in a coordinator.
func Coordinator(o coordinator.Options, d defects.Set) coordinator.Options {
	o.Decide, o.Apply = Decide(d), Apply(d)
	o.LeaseDuration = d.Delay(defects.CLE13CoordinateLate) // defect: CLE-13-coordinates-late
	if pause := d.Delay(defects.CLE24Sulks); pause > 0 {
		o.Failed = func(ctx context.Context, err error) {
			klog.ErrorS(err, "Pausing after a failed write, as planted")
			brood(ctx, pause) // defect: CLE-24-sulks
		}
	}
	if d.Has(defects.CLE14EndsTheServer) {
		o.Deposed = func() { os.Exit(1) } // defect: CLE-14-ends-the-server
	}
	return o
}

// brood does nothing for a while.
func brood(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Coordinate runs a coordinator with the defects of a set until the context ends.
func Coordinate(ctx context.Context, o coordinator.Options, d defects.Set) error {
	o = Coordinator(o, d)
	if d.Has(defects.CLE13AllCoordinate) {
		go func() {
			if err := coordinator.Coordinate(ctx, o, func() error { return nil }); err != nil {
				klog.ErrorS(err, "The planted coordinator does not run")
			}
		}() // defect: CLE-13-all-coordinate
	}
	return coordinator.Run(ctx, o)
}
