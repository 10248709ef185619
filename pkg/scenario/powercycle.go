package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// PowerCycle cuts the power of members without warning, and restores it.
type PowerCycle struct {
	// Member is a selector; several members are off at the same time.
	Member string `yaml:"member"`
	// OffFor is how long the members stay off.
	OffFor time.Duration `yaml:"offFor"`
}

var _ = register("powerCycle", func() Action { return &PowerCycle{} }, registry.Fields{"member": someMembers, "offFor": outage}, cluster.CutsPower, cluster.ReadsEtcd)

func (s *PowerCycle) validate() error {
	err := missing("member", s.Member)
	if s.OffFor <= 0 {
		err = errors.Join(err, errors.New("offFor must be a positive duration"))
	}
	return err
}
func (s *PowerCycle) selectors() []string     { return []string{s.Member} }
func (s *PowerCycle) restarts(*Scenario) bool { return true }

func (s *PowerCycle) play(ctx context.Context, r *Runner, at target) error {
	return r.powerCycle(ctx, at.members, s)
}

// powerCycle takes the power of members away, all before any gets it back, and
// gives it back to all at once: where they were the majority, no etcd would be
// ready before several are.
func (r *Runner) powerCycle(ctx context.Context, members []string, cycle *PowerCycle) error {
	outages := map[string]*fault.Outage{}
	var off []string
	var err error
	for _, member := range members {
		var outage *fault.Outage
		if outage, err = r.faults.CutPower(ctx, member); err != nil {
			break
		}
		outages[member], off = outage, append(off, member)
	}
	if err == nil {
		err = r.wait(ctx, cycle.OffFor)
	}
	// What was taken is given back whatever happens: the run may go on.
	if back := each(off, func(member string) error { return outages[member].Restore(ctx, r.rejoined) }); err != nil || back != nil {
		return errors.Join(err, back)
	}
	return r.recorders.waitReady(ctx, members...)
}

// rejoined waits until etcd is whole again: all members there, in one cluster,
// with one leader, and none behind what the leader had.
func (r *Runner) rejoined(ctx context.Context) (proof string, err error) {
	ctx, cancel := r.within(ctx, RejoinTimeout, history.AwaitedEtcd, "", "etcd was not whole again")
	defer cancel()
	for {
		health := r.etcdHealth(ctx)
		if health.Problem() == "" {
			return health.Summary(), nil
		}
		if err := r.wait(ctx, RejoinLook); err != nil {
			if late := (*unreached)(nil); errors.As(err, &late) && late.Awaited == history.AwaitedEtcd {
				late.Message += ": " + health.Problem()
				return "", late
			}
			return "", fmt.Errorf("%w: %s", err, health.Problem())
		}
	}
}
