package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// selectorsOf are the selectors that an action names.
func selectorsOf(set any) []string {
	switch v := set.(type) {
	case *Replace:
		return []string{v.Member}
	case *Restart:
		return v.Members
	case *Strike:
		if v.Member != "" {
			return []string{v.Member}
		}
	case *PowerCycle:
		return []string{v.Member}
	case *ConflictStorm:
		return v.Members
	case *JoinWithoutReporting:
		return []string{v.Member}
	case *Target:
		return []string{v.Member}
	case *Tamper:
		return []string{v.Member}
	case *SimulatedServer:
		return []string{v.Member}
	case *RegisterAPI:
		return []string{v.Member}
	case *UnregisterAPI:
		return []string{v.Member}
	case *Churn:
		return v.Members
	case *ThirdPartyAPIService:
		return []string{v.Member}
	case *Migrate:
		return []string{v.Member}
	case *DeleteMigration:
		return []string{v.Member}
	case *DeleteNamespace:
		return []string{v.Member}
	case *SimulateElection:
		return []string{v.Member}
	case *DisruptLease:
		return []string{v.Member}
	case *LeaseFields:
		return []string{v.Member}
	}
	return nil
}

// play plays one step of the scenario.
func (r *Runner) play(ctx context.Context, index int, step *Step) error {
	action, set, err := step.action()
	if err != nil {
		return fmt.Errorf("step %d: %w", index, err)
	}
	if hold, ok := set.(*Hold); ok {
		return r.hold(ctx, index, hold)
	}
	members, err := r.selected(ctx, selectorsOf(set))
	if err != nil {
		err = fmt.Errorf("step %d (%s): %w", index, action, err)
		if r.blames(ctx, err) {
			r.report(index, action, "", "", history.PhaseSkipped, err.Error())
		}
		return err
	}
	// An event has room for a single member; of several, the faults and the
	// processes tell.
	member := ""
	if len(members) == 1 {
		member = members[0]
	}
	release := ""
	var do func(context.Context) error
	switch v := set.(type) {
	case *Replace:
		targets, err := r.targets(members, v.To)
		if err != nil {
			return fmt.Errorf("step %d (%s): %w", index, action, err)
		}
		release = targets[members[0]]
		do = func(ctx context.Context) error {
			return r.replace(ctx, members, targets, v.WithFaults, v.DisabledFeatures)
		}
	case *Restart:
		targets, err := r.targets(members, v.Release)
		if err != nil {
			return fmt.Errorf("step %d (%s): %w", index, action, err)
		}
		if v.Release != "" {
			release = targets[members[0]]
		}
		do = func(ctx context.Context) error { return r.restart(ctx, members, targets, v) }
	case *Strike:
		do = func(ctx context.Context) error { return r.strike(ctx, action, members, v) }
	case *PowerCycle:
		do = func(ctx context.Context) error { return r.powerCycle(ctx, members, v) }
	case *JoinWithoutReporting:
		do = func(ctx context.Context) error { return r.joinWithoutReporting(ctx, members, v) }
	case *ConflictStorm:
		do = func(ctx context.Context) error { return r.conflictStorm(ctx, members, v) }
	case *Target:
		do = func(ctx context.Context) error { return r.target(ctx, action, members, cluster.Component(v.Component)) }
	case *Tamper:
		do = func(ctx context.Context) error { return r.tamper(ctx, members[0], v) }
	case *SimulatedServer:
		do = func(ctx context.Context) error { return r.simulatedServer(ctx, members[0], v) }
	case *WaitForHits:
		do = func(ctx context.Context) error { return r.waitForHits(ctx, v) }
	case *RegisterAPI:
		do = func(ctx context.Context) error { return r.registerAPI(ctx, members[0], v) }
	case *UnregisterAPI:
		do = func(ctx context.Context) error { return r.unregisterAPI(ctx, members[0], v) }
	case *Churn:
		do = func(ctx context.Context) error { return r.churn(ctx, members, v) }
	case *SetBackendBehavior:
		do = func(ctx context.Context) error { return r.setBackendBehavior(ctx, v) }
	case *ThirdPartyAPIService:
		do = func(ctx context.Context) error { return r.thirdPartyAPIService(ctx, members[0], v) }
	case *Populate:
		do = func(ctx context.Context) error { return r.populate(ctx, v) }
	case *Mutate:
		do = func(ctx context.Context) error { return r.mutate(ctx, v) }
	case *Migrate:
		do = func(ctx context.Context) error { return r.migrate(ctx, members[0], v) }
	case *AwaitMigrations:
		do = func(ctx context.Context) error { return r.awaitEach(ctx, v) }
	case *DeleteMigration:
		do = func(ctx context.Context) error { return r.deleteMigration(ctx, members[0], v) }
	case *DeleteNamespace:
		do = func(ctx context.Context) error { return r.deleteNamespace(ctx, members[0], v) }
	case *SimulateElection:
		do = func(ctx context.Context) error { return r.simulateElection(ctx, members[0], v) }
	case *DisruptLease:
		do = func(ctx context.Context) error { return r.disruptLease(ctx, members[0], v) }
	case *LeaseFields:
		do = func(ctx context.Context) error { return r.leaseFields(ctx, members[0], v) }
	case *RandomFaults:
		do = func(ctx context.Context) error { return r.randomFaults(ctx, v) }
	}
	// Most take the members one after the other.
	bound := r.bound(action) * time.Duration(max(len(members), 1))
	return r.stepWithin(ctx, max(bound, within(set)), index, action, member, release, do)
}

// within is how long a step asks to be given; 0 if it asks for nothing.
func within(set any) time.Duration {
	switch v := set.(type) {
	case *Churn:
		// What it has made is taken back after that.
		return v.For + StepTimeout
	case *Populate:
		return v.Timeout
	case *RandomFaults:
		return v.Timeout
	case *AwaitMigrations:
		if v.Timeout > 0 {
			return v.Timeout + MigrationSlack
		}
	}
	return 0
}

// selected are the members that several selectors mean, each once.
func (r *Runner) selected(ctx context.Context, selectors []string) ([]string, error) {
	var all []string
	for _, selector := range selectors {
		if selector == selectCoordinator {
			name, err := r.holder(ctx, coordinatorLease)
			if err != nil {
				return nil, fmt.Errorf("select %s: %w", selector, err)
			}
			selector = name
		}
		members, err := selectMembers(selector, r.members(), func() (string, error) { return r.leader(ctx) })
		if err != nil {
			return nil, err
		}
		for _, member := range members {
			if !slices.Contains(all, member) {
				all = append(all, member)
			}
		}
	}
	return all, nil
}

// client talks to a member without any link in between; the caller closes it.
func (r *Runner) client(member string) (*observe.Client, error) {
	config, err := r.directConfig(member)
	if err != nil {
		return nil, err
	}
	return observe.NewClient(member, config, r.History)
}

func (r *Runner) directConfig(member string) (*rest.Config, error) {
	return r.cluster.ClientConfig(member, false)
}

// targets is the release that each member is to get; empty means its own.
func (r *Runner) targets(members []string, name string) (map[string]string, error) {
	targets := map[string]string{}
	for _, member := range members {
		current := r.cluster.Release(member)
		if name == "" {
			targets[member] = current
			continue
		}
		release, err := releaseFor(name, current, r.start[member], r.cluster.Releases())
		if err != nil {
			return nil, err
		}
		targets[member] = release
	}
	return targets, nil
}

// replace takes members to other releases one after the other, in the
// provider's own way if it has one.
func (r *Runner) replace(ctx context.Context, members []string, releases map[string]string, with []string, off []cluster.Feature) error {
	replacer, replaces := r.cluster.(cluster.NodeUpgrader)
	for _, member := range members {
		err := r.around(ctx, []string{member}, with, func() error {
			if release := releases[member]; replaces && release != r.cluster.Release(member) {
				if err := r.switchOff(member, off); err != nil {
					return err
				}
				return replacer.Replace(ctx, member, release)
			}
			return r.stopAndStart(ctx, []string{member}, releases, off)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// restart stops and starts members, with the faults around.
func (r *Runner) restart(ctx context.Context, members []string, releases map[string]string, step *Restart) error {
	groups := [][]string{members}
	if !step.Together {
		groups = slices.Collect(slices.Chunk(members, 1))
	}
	for _, group := range groups {
		if err := r.around(ctx, group, step.WithFaults, func() error { return r.stopAndStart(ctx, group, releases, step.DisabledFeatures) }); err != nil {
			return err
		}
	}
	return nil
}

// stopAndStart stops all of the members before it starts any, with features
// switched off.
func (r *Runner) stopAndStart(ctx context.Context, members []string, releases map[string]string, off []cluster.Feature) error {
	if err := each(members, func(member string) error { return r.cluster.StopMember(ctx, member) }); err != nil {
		return err
	}
	starting := map[string]string{}
	for _, member := range members {
		if err := r.switchOff(member, off); err != nil {
			return err
		}
		starting[member] = releases[member]
	}
	return r.cluster.StartMembers(ctx, starting)
}

// around does something to members with faults there from before it until the
// members are ready after it.
func (r *Runner) around(ctx context.Context, members, with []string, do func() error) error {
	var injected []*fault.Active
	undo := func() error { return r.healLeft(ctx, injected) }
	for _, name := range with {
		for _, member := range members {
			active, err := r.inject(ctx, name, member)
			injected = append(injected, active...)
			if err != nil {
				return errors.Join(err, undo())
			}
			if r.Scenario.Faults[name].Member != fault.StepMember {
				break // it says itself where, and once is enough
			}
		}
	}
	err := do()
	if err == nil {
		err = r.recorders.waitReady(ctx, members...)
	}
	if err != nil {
		return errors.Join(err, undo())
	}
	return healAll(ctx, injected)
}

// each does something for all members at once.
func each(members []string, do func(member string) error) error {
	errs := make([]error, len(members))
	var group sync.WaitGroup
	for i, member := range members {
		group.Go(func() { errs[i] = do(member) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// inject injects a fault at those that its own selector means, with the given
// member for @member.
func (r *Runner) inject(ctx context.Context, file, member string) ([]*fault.Active, error) {
	injected := r.Scenario.Faults[file]
	if injected == nil {
		return nil, fmt.Errorf("the fault %s was not loaded", file)
	}
	selector := injected.Member
	if selector == fault.StepMember {
		selector = member
	}
	if selector == "" {
		return nil, fmt.Errorf("the fault %s leaves the member to the step, which names none", file)
	}
	members, err := r.selected(ctx, []string{selector})
	if err != nil {
		return nil, err
	}
	if injected.One && len(members) > 1 {
		return nil, fmt.Errorf("the fault %s has mode one, but %s means %d members", file, selector, len(members))
	}
	var all []*fault.Active
	for _, member := range members {
		active, err := r.faults.Inject(ctx, injected, member)
		if err != nil {
			return all, err
		}
		all = append(all, active)
	}
	return all, nil
}

// strike plays the steps that are about a fault.
func (r *Runner) strike(ctx context.Context, action string, members []string, strike *Strike) error {
	if action == "heal" {
		return r.heal(ctx, strike.Fault, members)
	}
	if len(members) == 0 {
		members = []string{""}
	}
	earlier := r.active[strike.Fault]
	var struck []*fault.Active
	for _, member := range members {
		active, err := r.inject(ctx, strike.Fault, member)
		struck = append(struck, active...)
		r.active[strike.Fault] = slices.Concat(earlier, struck)
		if err != nil {
			return err
		}
	}
	if action == "inject" {
		return nil
	}
	lasts := strike.DownFor + r.Scenario.Faults[strike.Fault].Duration
	if err := r.wait(ctx, lasts); err != nil {
		return err
	}
	r.active[strike.Fault] = earlier
	var hit []string
	for _, one := range struck {
		hit = append(hit, one.Member)
	}
	if err := healAll(ctx, struck); err != nil {
		return err
	}
	return r.recorders.waitReady(ctx, hit...)
}

// heal heals what inject steps have left at the members, or everywhere if none
// is given.
func (r *Runner) heal(ctx context.Context, file string, members []string) error {
	var healed, left []*fault.Active
	for _, one := range r.active[file] {
		if len(members) == 0 || slices.Contains(members, one.Member) {
			healed = append(healed, one)
		} else {
			left = append(left, one)
		}
	}
	if len(healed) == 0 {
		return fmt.Errorf("the fault %s is not there to be healed", file)
	}
	r.active[file] = left
	return healAll(ctx, healed)
}

func healAll(ctx context.Context, faults []*fault.Active) error {
	var errs []error
	for _, one := range faults {
		errs = append(errs, one.Heal(ctx))
	}
	return errors.Join(errs...)
}

// target stops or boots components, or whole members.
func (r *Runner) target(ctx context.Context, action string, members []string, component cluster.Component) error {
	if action == "boot" && component == "" {
		releases := map[string]string{}
		for _, member := range members {
			releases[member] = r.cluster.Release(member)
		}
		return r.cluster.StartMembers(ctx, releases)
	}
	return each(members, func(member string) error {
		switch {
		case action == "stop" && component == "":
			return r.cluster.StopMember(ctx, member)
		case action == "stop":
			return r.cluster.StopComponent(ctx, member, component)
		default:
			return r.cluster.StartComponent(ctx, member, component)
		}
	})
}

// hold lets time pass and looks at everything at its end.
func (r *Runner) hold(ctx context.Context, index int, hold *Hold) error {
	const action = "hold"
	bound := r.bound(action)
	if hold.LeaderStableFor > 0 {
		bound += LedTimeout
	}
	unsettled := r.stepWithin(ctx, bound, index, action, "", "", func(ctx context.Context) error {
		if err := r.stays(ctx, hold.LeaderStableFor); err != nil {
			return err
		}
		if err := r.settle(ctx); err != nil {
			return err
		}
		return r.recordHold(ctx, hold, history.PhaseBegin)
	})
	// One that has not settled is in no state that could be held and judged as such. It is
	// looked at all the same, for what it does then.
	if unsettled != nil && !r.blames(ctx, unsettled) {
		return unsettled
	}
	err := r.wait(ctx, hold.For)
	if err == nil {
		looking, cancel := r.within(ctx, bound, history.AwaitedEnd, "", "looking at all members was not over")
		defer cancel()
		err = r.recorders.look(looking, r)
		r.recorders.compare(looking, r)
	}
	if err == nil && unsettled == nil {
		err = r.recordHold(ctx, hold, history.PhaseEnd)
	}
	if err != nil {
		err = fmt.Errorf("step %d (%s): %w", index, action, err)
	}
	return errors.Join(unsettled, err)
}

func (r *Runner) recordHold(ctx context.Context, hold *Hold, phase history.Phase) error {
	revision, err := r.catchUp(ctx)
	if err != nil {
		return err
	}
	r.History.Record(history.Event{Kind: history.KindHold, Hold: &history.Hold{
		Name: hold.Name, Phase: phase, Releases: r.releases(), Revision: revision,
	}})
	return nil
}
