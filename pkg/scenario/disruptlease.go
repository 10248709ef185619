package scenario

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// DisruptLease deletes or overwrites the Lease of a leader election, as an administrator,
// and waits until a component leads by it again.
type DisruptLease struct {
	// Member is the member to whose API server the step sends the requests.
	Member string `yaml:"member"`
	// Lease is a name in the namespace kube-system.
	Lease string `yaml:"lease"`
	// Action is delete, or absent-holder, which sets a holder that does not exist.
	Action string `yaml:"action"`
	// Count is how often the step repeats the action; 0 means once.
	Count int `yaml:"count,omitempty"`
}

var _ = register("disruptLease", func() Action { return &DisruptLease{} }, registry.Fields{
	"member": oneMember,
	"lease":  leaseName,
	"action": registry.OneOf(history.ElectionDelete, history.ElectionAbsentHolder),
	"count":  registry.Count(1, 20, 1, 3),
}, cluster.ChangesControlPlane)

func (d *DisruptLease) selectors() []string { return []string{d.Member} }

func (d *DisruptLease) play(ctx context.Context, r *Runner, at target) error {
	return r.disruptLease(ctx, at.one(), d)
}

func (d *DisruptLease) validate() error {
	return errors.Join(missing("member", d.Member), missing("lease", d.Lease), d.fieldsProblem())
}

// fieldsProblem says what is wrong with its other fields.
func (d *DisruptLease) fieldsProblem() error {
	if d.Action != history.ElectionDelete && d.Action != history.ElectionAbsentHolder || d.Count < 0 {
		return fmt.Errorf("action must be %s or %s, and count not negative", history.ElectionDelete, history.ElectionAbsentHolder)
	}
	return nil
}

// disruptLease plays a DisruptLease.
func (r *Runner) disruptLease(ctx context.Context, member string, step *DisruptLease) error {
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	c := &crew{client: client, now: r.Clock.Now, step: &SimulateElection{}, lease: step.Lease, standing: map[string]*Participant{}}
	for range max(1, step.Count) {
		lease := c.read(ctx)
		if lease == nil {
			return notThere(member, "there is no Lease %s to disturb", step.Lease)
		}
		was := lease.UID
		switch step.Action {
		case history.ElectionDelete:
			if err := c.erase(ctx); err != nil {
				return err
			}
		case history.ElectionAbsentHolder:
			if err := r.seize(ctx, c); err != nil {
				return err
			}
		}
		err := r.workUntil(ctx, c, ElectionTimeout, func(l *coordinationv1.Lease) bool {
			holder := ""
			if l != nil {
				holder = ptr.Deref(l.Spec.HolderIdentity, "")
			}
			return holder != "" && holder != history.AbsentHolder && (step.Action != history.ElectionDelete || l.UID != was)
		})
		if err == nil {
			err = r.wait(ctx, ElectionSettle)
		}
		if err != nil {
			return err
		}
	}
	if step.Action == history.ElectionDelete && "kube-system/"+step.Lease == leaderLeaseName {
		// The checks judge whether there is a leader then.
		_, _ = r.leader(ctx)
	}
	return ctx.Err()
}
