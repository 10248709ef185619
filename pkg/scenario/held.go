package scenario

import (
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

// heldRole ends the role of a population's objects that are deleted and held.
const heldRole = "-held-"

// heldOf is how many objects that are deleted and held each member adds to a population of
// which it owns so many.
func heldOf(owned int) int { return min(HeldMost, max(1, owned/HeldEvery)) }

// hold adds objects to a population that are deleted, and held by a finalizer until the run
// ends (SVM-26). One in a namespace of its own gets none: such a namespace is deleted,
// which they would keep from its end, and that is what its scenario is about. Where they
// cannot be made in time the history has a gap, and the step goes on.
func (p *population) hold(ctx context.Context, r *Runner, name string) error {
	ctx, cancel := context.WithTimeout(ctx, HeldTimeout)
	defer cancel()
	p.held = map[string]*workload.Held{}
	for member, source := range p.sources {
		p.held[member] = workload.NewHeld(p.workload, heldOf(source.Len()), r.objectPrefix(), member, populationRole+name+heldRole, r.recorders.tagger, r.Clock)
	}
	r.recorders.listen(func(change cluster.Change) {
		if held := p.held[change.Member]; held != nil && change.Component == cluster.APIServer && change.What == history.ProcessStarted {
			held.Reset()
		}
	})
	return each(r.members(), func(member string) error {
		client, err := r.client(member)
		if err != nil {
			return err
		}
		defer client.Close()
		held := p.held[member]
		for i := range held.Len() {
			for !held.Ensure(ctx, client, i) {
				if r.wait(ctx, observe.RetryInterval) != nil {
					client.Missed(fmt.Sprintf("only %d of %d %s of the population %s were deleted and held within %s", i, held.Len(), p.workload.Spec.Resource, name, HeldTimeout))
					return nil
				}
			}
		}
		return nil
	})
}

// release lets go of all objects that are held, through the members that have made them or,
// where these do not answer, never: the control plane goes with the run.
func (r *Runner) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, ReleaseTimeout)
	defer cancel()
	_ = each(r.members(), func(member string) error {
		client, err := r.client(member)
		if err != nil {
			return err
		}
		defer client.Close()
		for _, p := range r.populations {
			if err := r.letGo(ctx, client, p.held[member]); err != nil {
				return err
			}
		}
		return nil
	})
}

// releaseOf lets go of all objects of a resource that are held, through one member.
func (r *Runner) releaseOf(ctx context.Context, member, group, resource string) error {
	ctx, cancel := r.within(ctx, ReleaseTimeout, history.AwaitedAnswer, member, "the %s that the harness holds were not let go of", resource)
	defer cancel()
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, p := range r.populations {
		if p.workload.Spec.Group != group || p.workload.Spec.Resource != resource {
			continue
		}
		for _, maker := range r.members() {
			if err := r.letGo(ctx, client, p.held[maker]); err != nil {
				return err
			}
		}
	}
	return nil
}

// letGo lets go of the objects that are held, if any are.
func (r *Runner) letGo(ctx context.Context, client *observe.Client, held *workload.Held) error {
	for i := 0; held != nil && i < held.Len(); i++ {
		for !held.Release(ctx, client, i) {
			if err := r.wait(ctx, observe.RetryInterval); err != nil {
				return err
			}
		}
	}
	return nil
}
