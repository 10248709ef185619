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

// leadership is the state of a Lease at a time; preferred is its preferredHolder.
type leadership struct{ holder, renewed, preferred string }

// leader returns the member whose controller manager leads. If the scenario has the leader
// activity probe, leader waits until this controller manager acts: a holder of the Lease that
// does not act yet has no activity that could be seen to stop.
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

// holder returns the member on whose host the holder of a Lease runs. A holder leads only
// once it renews the Lease: by KEP-4355 a coordinator names a holder before that has begun
// to lead, and the Lease still names a holder that has just crashed.
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

// stays waits until the same controller manager has led for so long. It measures that
// itself: the holder of a coordinated Lease need not write since when it leads.
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
			holder = "" // The Lease has no holder, or its holder has to give way.
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
