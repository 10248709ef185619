package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Means are what it takes to play a step, and what an external cluster
// may not give: one of the values below, or the name of a hook.
type Means string

const (
	// MeansEtcd is that every member's etcd may be read.
	MeansEtcd Means = "etcd"
	// MeansAddress is an address by which API servers reach this machine.
	MeansAddress Means = "address"
	// MeansPeerDiscovery is that API servers tell of what their peers host.
	MeansPeerDiscovery Means = "peerDiscovery"
	// MeansPolicies is that policies may be made in it that deny writes.
	MeansPolicies Means = "policies"
	// MeansProcesses is that the processes of all components are seen.
	MeansProcesses Means = "processes"
	// MeansTraffic is that objects of the harness may be written to it.
	MeansTraffic Means = "traffic"
	// MeansControlPlane is that objects of the control plane may be changed as well.
	MeansControlPlane Means = "controlPlane"
	// MeansStopComponent is that one component of a member can be stopped alone.
	MeansStopComponent Means = "stopComponent"
)

// ExternallyManaged is a Cluster that is managed externally, so that it was there before the run
// and stays after it. It sees no processes: that an API server is another one than
// before it knows from what that says of itself. Of other components it knows nothing.
type ExternallyManaged interface {
	// Lacks says in half a sentence why the cluster does not give the means; it is empty
	// where it does.
	Lacks(means Means) string
}

// TrafficLimited is an ExternallyManaged cluster that says how much may be written to it.
type TrafficLimited interface {
	// TrafficLeave is what its users allow; the zero value where they allow nothing.
	TrafficLeave() TrafficLeave
}

// Bequeathing is an ExternallyManaged cluster that can remove what a run has made in it when the
// harness has fallen silent.
type Bequeathing interface {
	// Bequeaths is whether it does.
	Bequeaths() bool
	// Bequeath has the owner of what the run makes go then, which is a ClusterRole that gives the
	// right to delete itself. The namespace is the run's own, and is there. Without an error the
	// owner goes whenever the harness falls silent from then on.
	Bequeath(ctx context.Context, namespace string, owner metav1.OwnerReference) error
}

// ChaosMeshed is a Cluster that may leave faults to Chaos Mesh, which runs in it. What Chaos Mesh
// reports is no proof that a fault had an effect.
type ChaosMeshed interface {
	// ChaosMesh is the namespace of Chaos Mesh; ok is false where faults are not left to it.
	ChaosMesh() (namespace string, ok bool)
	// Strike has do end the member's API server, as Chaos Mesh does, in the place of Kill. Hit is
	// whether its process has gone or another one has taken its place; it is false where the same
	// process answers after a bound, and nothing has to be started then.
	Strike(ctx context.Context, member string, component Component, do func(context.Context) error) (hit bool, err error)
}

// LeavesFaults is whether faults are left to Chaos Mesh.
func LeavesFaults(c Cluster) bool {
	meshed, ok := c.(ChaosMeshed)
	if !ok {
		return false
	}
	_, ok = meshed.ChaosMesh()
	return ok
}
