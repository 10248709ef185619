package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// LeaseFields writes the Lease fields of KEP-4355 through a member that may have coordinated
// leader election disabled: to a new Lease of the harness, and to a Lease that has the
// fields already because a member with the feature has created it. The step deletes both at
// the end.
type LeaseFields struct {
	// Member is the member to whose API server the step sends the requests.
	Member string `yaml:"member"`
	// CoordinatedMember is a member with coordinated leader election enabled.
	CoordinatedMember string `yaml:"coordinatedMember"`
}

var _ = register("leaseFields", func() Action { return &LeaseFields{} }, registry.Fields{"member": oneMember, "coordinatedMember": oneMember}, cluster.ChangesControlPlane)

func (s *LeaseFields) selectors() []string { return []string{s.Member} }

func (s *LeaseFields) validate() error {
	return errors.Join(missing("member", s.Member), missing("coordinatedMember", s.CoordinatedMember))
}

func (s *LeaseFields) play(ctx context.Context, r *Runner, at target) error {
	return r.leaseFields(ctx, at.one(), s)
}

// The Leases that LeaseFields writes to.
const (
	newFields  = ownPrefix + "fields-new"
	keptFields = ownPrefix + "fields-kept"
)

// leaseFields plays a LeaseFields.
func (r *Runner) leaseFields(ctx context.Context, member string, step *LeaseFields) error {
	with, err := r.selected(ctx, []string{step.CoordinatedMember})
	if err != nil {
		return err
	}
	if len(with) != 1 {
		return fmt.Errorf("coordinatedMember: %s means %d members, and must mean one", step.CoordinatedMember, len(with))
	}
	for _, one := range []struct {
		lease  string
		makers []string
	}{{keptFields, []string{with[0], member, member}}, {newFields, []string{member, member}}} {
		if err := r.writeFields(ctx, one.lease, one.makers); err != nil {
			return err
		}
	}
	return nil
}

// writeFields makes a Lease with the fields through the first of the members, changes
// it through each of the others, and deletes it.
func (r *Runner) writeFields(ctx context.Context, name string, members []string) error {
	for i, member := range members {
		client, err := r.client(member)
		if err != nil {
			return err
		}
		c := &crew{client: client, now: r.Clock.Now, step: &SimulateElection{}, lease: name}
		err = c.giveFields(ctx)
		if err == nil && i == len(members)-1 {
			err = c.erase(ctx)
		}
		client.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// giveFields writes the Lease with the fields, whether it has them or not. The Lease has no
// candidates, so no coordinator acts on it.
func (c *crew) giveFields(ctx context.Context) error {
	lease := c.read(ctx)
	if lease == nil {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: c.lease, Namespace: leaseNamespace}}
	}
	now := metav1.NewMicroTime(c.now())
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = ptr.To(c.lease), &now
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(time.Hour / time.Second))
	lease.Spec.Strategy, lease.Spec.PreferredHolder = ptr.To(coordinationv1.OldestEmulationVersion), ptr.To(c.lease+"-next")
	answer := c.put(ctx, history.ElectionFields, lease)
	if !answer.OK() && answer.Code < http.StatusInternalServerError {
		return refused(leaseCall("update", c.lease), c.client.Member(), answer)
	}
	return nil
}
