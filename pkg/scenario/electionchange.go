package scenario

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"golang.org/x/mod/semver"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// changeElection has candidates declare other versions, and has an operator set strategies, each time
// until the candidate leads that should.
func (r *Runner) changeElection(ctx context.Context, c *crew) error {
	for i := range c.step.Participants {
		p := &c.step.Participants[i]
		if p.Becomes == "" {
			continue
		}
		if err := r.workFor(ctx, c, ElectionSettle); err != nil {
			return err
		}
		if err := c.redeclare(ctx, p); err != nil {
			return err
		}
		if err := r.awaitFirst(ctx, c, oldestStrategy); err != nil {
			return err
		}
	}
	for _, strategy := range c.step.ChooseStrategies {
		if err := r.workFor(ctx, c, ElectionSettle); err != nil {
			return err
		}
		if err := r.choose(ctx, c, strategy); err != nil {
			return err
		}
		if err := r.awaitFirst(ctx, c, strategy); err != nil {
			return err
		}
	}
	return nil
}

// awaitFirst works until the candidate leads that comes first by a strategy.
func (r *Runner) awaitFirst(ctx context.Context, c *crew, strategy string) error {
	return r.workUntil(ctx, c, HandoverTimeout, func(l *coordinationv1.Lease) bool {
		p := c.mine(l)
		return p != nil && p == c.first(strategy)
	})
}

// first is the candidate that comes first by a strategy, of those that answer.
func (c *crew) first(strategy string) *Participant {
	var all []*Participant
	for i := range c.step.Participants {
		if p := &c.step.Participants[i]; c.standing[c.name(p)] != nil && !p.IgnoresPings && p.RenewedAgo == 0 {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b *Participant) int {
		order := cmp.Or(semver.Compare("v"+a.behaves(), "v"+b.behaves()), semver.Compare("v"+a.is(), "v"+b.is()))
		if strategy == newestStrategy {
			return -order
		}
		return order
	})
}

// is and behaves are the versions of a candidate after it declared them again.
func (p *Participant) is() string      { return cmp.Or(p.Becomes, p.Binary) }
func (p *Participant) behaves() string { return cmp.Or(p.Becomes, p.Emulation, p.Binary) }

// redeclare has a candidate declare another version.
func (c *crew) redeclare(ctx context.Context, p *Participant) error {
	for {
		var is coordinationv1beta1.LeaseCandidate
		if !c.get(ctx, candidatesPath+"/"+c.name(p), &is) {
			return notThere(c.client.Member(), "there is no candidate %s to declare another version", c.name(p))
		}
		is.TypeMeta = metav1.TypeMeta{APIVersion: coordinationv1beta1.SchemeGroupVersion.String(), Kind: "LeaseCandidate"}
		is.Spec.BinaryVersion, is.Spec.EmulationVersion, is.ManagedFields = p.Becomes, p.Becomes, nil
		call := electionCall(history.ElectionParticipate, candidateCall("update", c.name(p)))
		call.Body = &is
		answer := c.client.Do(ctx, call)
		switch {
		case answer.OK():
			return nil
		case answer.Code != http.StatusConflict:
			return refused(call, c.client.Member(), answer)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// choose sets the strategy of the Lease, and repeats that if another client writes at the
// same time.
func (r *Runner) choose(ctx context.Context, c *crew, strategy string) error {
	for {
		lease := c.read(ctx)
		if lease == nil {
			return notThere(c.client.Member(), "there is no Lease %s to set the strategy of", c.lease)
		}
		lease.Spec.Strategy = ptr.To(coordinationv1.CoordinatedLeaseStrategy(strategy))
		answer := c.put(ctx, history.ElectionChoose, lease)
		switch {
		case answer.OK():
			return nil
		case answer.Code != http.StatusConflict:
			return refused(leaseCall("update", c.lease), c.client.Member(), answer)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}
