package scenario

import (
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fault"
)

// powerCycle takes the power of members away, all before any gets it back, and
// gives it back to all at once: where they were the majority, no etcd would be
// ready before several are.
func (r *Runner) powerCycle(ctx context.Context, members []string, cycle *PowerCycle) error {
	outages := map[string]*fault.Outage{}
	for _, member := range members {
		outage, err := r.faults.CutPower(ctx, member)
		if err != nil {
			return err
		}
		outages[member] = outage
	}
	if err := r.wait(ctx, cycle.OffFor); err != nil {
		return err
	}
	if err := each(members, func(member string) error { return outages[member].Restore(ctx, r.rejoined) }); err != nil {
		return err
	}
	return r.recorders.waitReady(ctx, members...)
}

// rejoined waits until etcd is whole again: all members there, in one cluster,
// with one leader, and none behind what the leader had.
func (r *Runner) rejoined(ctx context.Context) (proof string, err error) {
	late := fmt.Errorf("etcd was not whole again within %s", RejoinTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, RejoinTimeout, late)
	defer cancel()
	for {
		health := r.etcdHealth(ctx)
		if health.Problem() == "" {
			return health.Summary(), nil
		}
		if err := r.wait(ctx, RejoinLook); err != nil {
			return "", fmt.Errorf("%w: %s", err, health.Problem())
		}
	}
}
