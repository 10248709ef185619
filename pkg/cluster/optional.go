package cluster

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
)

// ReleasePreparer is a Cluster that has to have something at hand for each release,
// such as binaries or images.
type ReleasePreparer interface {
	// Prepare makes sure, before Start, that members can run each of the
	// releases, which are all that the cluster is going to be asked for. It
	// returns an error that says what is missing and how to get it, so that
	// a user does not learn of it half way through an upgrade.
	Prepare(ctx context.Context, releases []string) error
}

// Beginner is a Provider whose clusters were there before a run and stay after it, so that
// their members may run another release than the topology says they begin with.
type Beginner interface {
	// Begin takes such members to that release, before [Provider.New] of a run. It tells what it
	// does, a line for each member.
	Begin(ctx context.Context, topology *Topology, options Options, tell func(string)) error
}

// NodeUpgrader is a Cluster that has a way of its own to take a member from one
// release to another, such as the upgrade of an installer. Where a Cluster is
// none, members are stopped and started at the other release.
type NodeUpgrader interface {
	// Replace takes a running member to another release than its own, and
	// returns when all its components are ready at that.
	Replace(ctx context.Context, member, release string) error
}

// FeatureGated is a Cluster whose components are started with feature gates.
type FeatureGated interface {
	// Gates are those of a release, by program, in the notation of --feature-gates, as
	// they are while no feature is switched off at a member. There are none for a
	// release that the cluster cannot run.
	Gates(release string) map[string]string
}

// AdmissionPolicySupporter is a Cluster whose API servers may know ValidatingAdmissionPolicies.
type AdmissionPolicySupporter interface {
	// SupportsAdmissionPolicies is whether they do, as far as that is known before they run.
	SupportsAdmissionPolicies() bool
}

// HostAddressProvider is a Cluster whose members are not on this machine's loopback.
type HostAddressProvider interface {
	// HostAddress is an address of this machine by which members reach servers
	// of this process. It is known once the cluster was started.
	HostAddress(ctx context.Context) (string, error)
}

// LoadBalanced is a Cluster with a load balancer before its members.
type LoadBalanced interface {
	// BalancerConfig reaches the API servers through the balancer; ok is false
	// where there is none.
	BalancerConfig() (config *rest.Config, ok bool)
}

// AggregatedHost is a Cluster whose members may run an aggregated API server each.
type AggregatedHost interface {
	// Aggregated is the API that they host; ok is false where they run none.
	Aggregated() (api AggregatedAPI, ok bool)
}

// AggregatedAPI is a resource that aggregated servers of a control plane host and store, and
// where API servers reach one of them that is ready.
type AggregatedAPI struct {
	Group, Resource string
	Host            string
	Port            int
}

// CPUWaiter is a Cluster that sees for how long its processes wait for a CPU.
type CPUWaiter interface {
	// WaitedForCPU is how long each running process of a member has waited so far.
	WaitedForCPU(ctx context.Context, member string) ([]CPUWait, error)
}

// CPUWait is how long each thread of one process has been ready to run since it exists and
// had no CPU, by its number.
type CPUWait struct {
	Component Component             `json:"component"`
	Process   Process               `json:"process"`
	Threads   map[int]time.Duration `json:"threads"`
}
