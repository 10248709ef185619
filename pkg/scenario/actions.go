package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// selected are the members that several selectors mean, each once.
func (r *Runner) selected(ctx context.Context, selectors []string) ([]string, error) {
	var all []string
	for _, selector := range selectors {
		if selector == selectTriggered {
			if r.at.triggered == "" {
				return nil, notThere("", "select %s: what met the trigger is not known to be at a member", selector)
			}
			selector = r.at.triggered
		}
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
	if r.cleaning {
		return observe.NewClient(member, config, unrecorded{r.History})
	}
	return observe.NewClient(member, config, r.History)
}

// unrecorded is a history that nothing is added to: what comes after its recorders is told by
// none of them, and must not count as a time in which nothing happened.
type unrecorded struct{ observe.Recorder }

// Record implements observe.Recorder.
func (unrecorded) Record(history.Event) {}

func (r *Runner) directConfig(member string) (*rest.Config, error) {
	config, err := r.cluster.ClientConfig(member, false)
	if err != nil {
		return nil, err
	}
	return r.marking(config), nil
}

// targets is the release that each member is to get from a step, with what it emulates; a step
// that names neither leaves a member its own.
func (r *Runner) targets(members []string, action Action) (map[string]string, error) {
	targets := map[string]string{}
	for _, member := range members {
		next, err := nextRelease(action, r.cluster.Release(member), r.start[member], r.cluster.Releases())
		if err != nil {
			return nil, err
		}
		targets[member] = next
	}
	return targets, nil
}

// nextRelease is what a member runs after a step that runs current before it and began with start.
func nextRelease(action Action, current, start string, known []string) (string, error) {
	next := current
	if name := releaseOf(action); name != "" {
		var err error
		if next, err = releaseFor(name, release.Binary(current), start, known); err != nil {
			return "", err
		}
	}
	one, ok := action.(emulating)
	if !ok {
		return next, nil
	}
	version, compatible, names := one.emulated()
	if !names {
		return next, nil
	}
	// What is relative is relative to what the member runs before the step.
	played, err := emulation(next, release.Binary(current), release.Binary(start), version, compatible, known)
	if emulated := release.Parse(played).Emulated; err == nil && emulated != "" && release.Compare(emulated, next) > 0 {
		return "", fmt.Errorf("the binaries of %s cannot emulate %s, which is newer than they are: name a version that is not", release.Binary(next), emulated)
	}
	return played, err
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
		if r.Scenario.lackOfFault(r.cluster, name) != "" {
			continue
		}
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
	if err := r.ensureOwner(ctx); err != nil {
		return nil, err
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

func healAll(ctx context.Context, faults []*fault.Active) error {
	var errs []error
	for _, one := range faults {
		errs = append(errs, one.Heal(ctx))
	}
	return errors.Join(errs...)
}
