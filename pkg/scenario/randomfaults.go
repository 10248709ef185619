package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// RandomFaults injects faults at members, one after the other, until leaders have changed
// as often as the step says. The seed of the run determines the fault, the member and the duration;
// every other fault is at a member that leads. After each fault the step waits until every
// Lease has a leader again that renews it. A Lease without a leader ends the run.
type RandomFaults struct {
	// Faults name files in the fixtures' folder of faults. Each must kill or freeze
	// components of the member @member.
	Faults []string `yaml:"faults"`
	// MinDuration and MaxDuration bound how long a fault lasts.
	MinDuration time.Duration `yaml:"minDuration"`
	MaxDuration time.Duration `yaml:"maxDuration"`
	// Leases are names in the namespace kube-system.
	Leases []string `yaml:"leases"`
	// LeaderChanges is how many changes of leader the step waits for, of all Leases
	// together. Of two changes of one Lease by the same fault only one counts.
	LeaderChanges int `yaml:"leaderChanges"`
	// Timeout is how long the step may take.
	Timeout time.Duration `yaml:"timeout"`
}

var _ = register("randomFaults", func() Action { return &RandomFaults{} }, registry.Fields{
	"faults":        registry.AFault().List(1, 5),
	"minDuration":   outage,
	"maxDuration":   outage,
	"leases":        leaseName.List(1, mostLeases),
	"leaderChanges": registry.Count(1, 300, 1, 5),
	"timeout":       registry.Between(StepTimeout, longestTimeout, StepTimeout),
}, anywhere)

func (t *RandomFaults) faults() []string                  { return t.Faults }
func (t *RandomFaults) within(*Runner, int) time.Duration { return t.Timeout }
func (t *RandomFaults) restarts(sc *Scenario) bool {
	return slices.ContainsFunc(t.Faults, sc.endsServers)
}
func (t *RandomFaults) cost() time.Duration {
	return stepCost + time.Duration(t.LeaderChanges)*electionCost
}

func (t *RandomFaults) play(ctx context.Context, r *Runner, _ target) error {
	return r.randomFaults(ctx, t)
}

func (t *RandomFaults) validate() error {
	switch {
	case len(t.Faults) == 0 || len(t.Leases) == 0:
		return errors.New("faults and leases are missing")
	case t.LeaderChanges <= 0 || t.Timeout <= 0:
		return errors.New("leaderChanges and timeout must be positive")
	case t.MinDuration <= 0 || t.MaxDuration < t.MinDuration:
		return errors.New("minDuration must be positive, and maxDuration not less")
	}
	for i, lease := range t.Leases {
		if slices.Contains(t.Leases[:i], lease) {
			return fmt.Errorf("the Lease %q is named twice", lease)
		}
	}
	return nil
}

// fits is an error that says why a fault cannot be one of a RandomFaults.
func (t *RandomFaults) fits(named *fault.Fault) error {
	switch {
	case !named.Crashes() && !named.Pauses():
		return errors.New("neither kills nor freezes a process")
	case named.Duration > 0:
		return errors.New("has a spec.duration, but the step says how long it lasts; leave the duration out")
	case named.Member != fault.StepMember:
		return fmt.Errorf("names the member %s itself, and the step picks one; make it %s", named.Member, fault.StepMember)
	}
	return nil
}

// randomFaults plays a RandomFaults.
func (r *Runner) randomFaults(ctx context.Context, step *RandomFaults) error {
	holders, err := r.led(ctx, step.Leases)
	if err != nil {
		return err
	}
	for made := 0; made < step.LeaderChanges; {
		struck, err := r.strikeAtRandom(ctx, step, holders)
		if err != nil {
			return err
		}
		now, err := r.led(ctx, step.Leases)
		if err != nil {
			return fmt.Errorf("after %s: %w", struck, err)
		}
		for _, lease := range step.Leases {
			if now[lease] != holders[lease] {
				made++
			}
		}
		holders = now
	}
	return nil
}

// strikeAtRandom injects and heals one fault, and tells which.
func (r *Runner) strikeAtRandom(ctx context.Context, step *RandomFaults, holders map[string]string) (string, error) {
	members := r.members()
	member := members[r.Rand.IntN(len(members))]
	if r.Rand.IntN(2) == 0 {
		if leads, ok := memberOf(holders[step.Leases[r.Rand.IntN(len(step.Leases))]], r.cluster.Members()); ok {
			member = leads
		}
	}
	file := step.Faults[r.Rand.IntN(len(step.Faults))]
	lasts := step.MinDuration + time.Duration(r.Rand.Int64N(int64(step.MaxDuration-step.MinDuration)+1))
	what := fmt.Sprintf("%s at %s for %s", strings.TrimSuffix(file, ".yaml"), member, lasts.Round(time.Millisecond))
	if err := r.strike(ctx, []string{member}, file, lasts); err != nil {
		return what, fmt.Errorf("%s: %w", what, err)
	}
	return what, nil
}

// led waits until each of the Leases is held by a member that renews it, and gives the
// holders. Who has been named, or has died, is named and does not renew.
func (r *Runner) led(ctx context.Context, leases []string) (map[string]string, error) {
	ctx, cancel := r.within(ctx, LeaderTimeout, history.AwaitedLeader, "", "not all of %s had a leader", strings.Join(leases, ", "))
	defer cancel()
	first, holders := map[string]leadership{}, map[string]string{}
	for {
		now, err := r.leaderships(ctx)
		for _, lease := range leases {
			seen, known := now[lease], first[lease]
			switch {
			case err != nil:
			case seen.holder == "" || seen.holder != known.holder:
				first[lease] = seen
				delete(holders, lease)
			case seen.renewed != known.renewed:
				holders[lease] = seen.holder
			}
		}
		if len(holders) == len(leases) {
			return holders, nil
		}
		if waited := r.wait(ctx, LeaderInterval); waited != nil {
			left := slices.DeleteFunc(slices.Clone(leases), func(lease string) bool { return holders[lease] != "" })
			if late := (*unreached)(nil); errors.As(waited, &late) && late.Awaited == history.AwaitedLeader {
				late.Message = fmt.Sprintf("no instance has led by %s within %s", strings.Join(left, ", "), LeaderTimeout)
			} else {
				waited = fmt.Errorf("no instance has led by %s: %w", strings.Join(left, ", "), waited)
			}
			return nil, errors.Join(waited, err)
		}
	}
}

// leaderships reads all Leases from the first member that answers, by their names.
func (r *Runner) leaderships(ctx context.Context) (map[string]leadership, error) {
	var list coordinationv1.LeaseList
	err := r.ofAny(func(client *observe.Client) error { return read(ctx, client, leasesPath, &list) })
	if err != nil {
		return nil, fmt.Errorf("read the Leases: %w", err)
	}
	out := map[string]leadership{}
	for _, lease := range list.Items {
		held := leadership{holder: ptr.Deref(lease.Spec.HolderIdentity, "")}
		if lease.Spec.RenewTime != nil {
			held.renewed = lease.Spec.RenewTime.String()
		}
		out[lease.Name] = held
	}
	return out, nil
}
