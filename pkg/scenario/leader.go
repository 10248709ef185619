package scenario

import (
	"context"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// leasesPath is where Leases of components are; leaderLease is the one whose holder
// @leader means, and coordinatorLease that of @coordinator.
const (
	leasesPath       = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
	leaderLease      = leasesPath + "/kube-controller-manager"
	leaderLeaseName  = "kube-system/kube-controller-manager"
	coordinatorLease = leasesPath + "/leader-election-controller"
)

// leadership is what a Lease says at a time; preferred is who is to take over.
type leadership struct{ holder, renewed, preferred string }

// leader is the member whose controller manager leads. Where leaders are given the leader activity probe
// it acts already, if that is to be seen at all: whoever has no more than the Lease has
// nothing yet that could be seen to stop.
func (r *Runner) leader(ctx context.Context) (string, error) {
	name, err := r.holder(ctx, leaderLease)
	if err != nil || !r.Scenario.LeaderElection.LeaderActivityProbe {
		return name, err
	}
	since := r.History.Now()
	seen, cancel := context.WithTimeout(ctx, ActsTimeout)
	defer cancel()
	for {
		actor, _ := memberOf(r.recorders.etcd.LastActor(leaderLeaseName), r.cluster.Members())
		if actor == name {
			return name, context.Cause(ctx)
		}
		if r.wait(seen, LeaderInterval) != nil {
			r.passOver(ctx, since, ActsTimeout, history.AwaitedLeader, name, "what leads by %s was not seen to act", leaderLeaseName)
			return name, context.Cause(ctx)
		}
		if name, err = r.holder(ctx, leaderLease); err != nil {
			return "", err
		}
	}
}

// holder is the member on whose host the holder of a Lease runs. Who has been named
// leads only when it renews: a coordinator, as KEP-4355 has it, names one that has
// not begun, and whoever has just died is still named.
func (r *Runner) holder(ctx context.Context, path string) (string, error) {
	ctx, cancel := r.within(ctx, LeaderTimeout, history.AwaitedLeader, "", "no holder of %s has renewed it", path)
	defer cancel()
	var first leadership
	for {
		now, err := r.leadership(ctx, path)
		switch {
		case err != nil && !r.blames(ctx, err) && ctx.Err() == nil:
			return "", err
		case err != nil: // it may answer the next time
		case now.holder == "" || now.holder != first.holder:
			first = now
		case now.renewed != first.renewed:
			if name, ok := memberOf(now.holder, r.cluster.Members()); ok {
				return name, nil
			}
			return "", notThere("", "the holder %q of %s is no member", now.holder, path)
		}
		timer := r.Clock.NewTimer(LeaderInterval)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return "", context.Cause(ctx)
		}
	}
}

// stays waits until the same controller manager has led for so long. It goes by what it
// sees: who leads by a coordinated Lease need not say since when.
func (r *Runner) stays(ctx context.Context, long time.Duration) error {
	if long == 0 {
		return nil
	}
	ctx, cancel := r.within(ctx, LedTimeout, history.AwaitedLeader, "", "no controller manager has led for %s", long)
	defer cancel()
	var holder string
	var since time.Time
	for {
		now, err := r.leadership(ctx, leaderLease)
		switch {
		case err != nil && !r.blames(ctx, err) && ctx.Err() == nil:
			return err
		case err != nil: // it may answer the next time
		case now.holder == "" || now.preferred != "" && now.preferred != now.holder:
			holder = "" // Nobody leads for long.
		case now.holder != holder:
			holder, since = now.holder, r.Clock.Now()
		case r.Clock.Since(since) >= long:
			return nil
		}
		if err := r.wait(ctx, LeaderInterval); err != nil {
			return err
		}
	}
}

// leadership reads a Lease from the first member that answers.
func (r *Runner) leadership(ctx context.Context, path string) (leadership, error) {
	var lease struct {
		Spec struct {
			HolderIdentity  string `json:"holderIdentity"`
			RenewTime       string `json:"renewTime"`
			PreferredHolder string `json:"preferredHolder"`
		} `json:"spec"`
	}
	err := r.ofAny(func(client *observe.Client) error { return read(ctx, client, path, &lease) })
	if err != nil {
		return leadership{}, fmt.Errorf("read %s: %w", path, err)
	}
	return leadership{lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.PreferredHolder}, nil
}
