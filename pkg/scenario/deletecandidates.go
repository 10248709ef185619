package scenario

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// DeleteCandidates deletes the candidates of components that run, as an administrator does who
// takes them for left over, and waits until these components are candidates again.
type DeleteCandidates struct {
	// Member is the member to whose API server the step sends the requests.
	Member string `yaml:"member"`
	// Lease is a name in the namespace kube-system, for which the candidates stand.
	Lease string `yaml:"lease"`
	// Of selects the members whose candidates the step deletes.
	Of []string `yaml:"of"`
}

var _ = register("deleteCandidates", func() Action { return &DeleteCandidates{} }, registry.Fields{
	"member": oneMember,
	"lease":  leaseName,
	"of":     registry.SomeMembers().List(1, 3),
}, cluster.ChangesControlPlane)

func (s *DeleteCandidates) selectors() []string { return []string{s.Member} }

func (s *DeleteCandidates) check(r *Runner) error {
	_, err := r.selectable(s.Of)
	return err
}

func (s *DeleteCandidates) validate() error {
	if len(s.Of) == 0 {
		return errors.Join(missing("member", s.Member), missing("lease", s.Lease), missing("of", ""))
	}
	return errors.Join(missing("member", s.Member), missing("lease", s.Lease))
}

func (s *DeleteCandidates) play(ctx context.Context, r *Runner, at target) error {
	return r.deleteCandidates(ctx, at.one(), s)
}

func (*DeleteCandidates) cost() time.Duration { return candidatesCost }

func (*DeleteCandidates) within(*Runner, int) time.Duration { return StepTimeout + CandidatesTimeout }

// deleteCandidates deletes candidates, and waits for others. Whether these come in time is for
// the checks to judge.
func (r *Runner) deleteCandidates(ctx context.Context, member string, step *DeleteCandidates) error {
	of, err := r.selected(ctx, step.Of)
	if err != nil {
		return err
	}
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	before, err := r.candidatesFor(ctx, client, step.Lease)
	if err != nil {
		return err
	}
	before = slices.DeleteFunc(before, func(k candidacy) bool { return !slices.Contains(of, k.member) })
	if len(before) == 0 {
		return notThere(member, "no candidate of %s stands for %s", strings.Join(of, ", "), step.Lease)
	}
	for _, k := range before {
		if err := r.send(ctx, member, candidateCall("delete", k.name), http.StatusNotFound); err != nil {
			return err
		}
	}
	since, begun := r.History.Now(), r.Clock.Now()
	for {
		// A member that cannot answer may answer the next time.
		now, err := r.candidatesFor(ctx, client, step.Lease)
		now = slices.DeleteFunc(now, func(k candidacy) bool { return slices.Contains(before, k) })
		var missing []string
		for _, k := range before {
			if !slices.ContainsFunc(now, func(other candidacy) bool { return other.member == k.member }) {
				missing = append(missing, k.member)
			}
		}
		switch {
		case err == nil && len(missing) == 0:
			return nil
		case r.Clock.Since(begun) >= CandidatesTimeout:
			r.passOver(ctx, since, CandidatesTimeout, history.AwaitedState, member, "%s had no candidate for %s", strings.Join(missing, ", "), step.Lease)
			return nil
		}
		if err := r.wait(ctx, observe.RetryInterval); err != nil {
			return err
		}
	}
}

// candidacy is the candidate of a component of a member.
type candidacy struct {
	name, member string
	uid          types.UID
}

// candidatesFor are those of members that stand for a Lease.
func (r *Runner) candidatesFor(ctx context.Context, client *observe.Client, lease string) (out []candidacy, _ error) {
	var all coordinationv1beta1.LeaseCandidateList
	if err := read(ctx, client, candidatesPath, &all); err != nil {
		return nil, err
	}
	for _, k := range all.Items {
		if name, ok := memberOf(k.Name, r.cluster.Members()); ok && k.Spec.LeaseName == lease {
			out = append(out, candidacy{k.Name, name, k.UID})
		}
	}
	return out, nil
}
