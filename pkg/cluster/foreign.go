package cluster

// Means are what it takes to play a step, and what an external cluster
// may not give: one of the values below, or the name of a hook.
type Means string

const (
	// MeansEtcd is that every member's etcd may be read.
	MeansEtcd Means = "etcd"
	// MeansAddress is an address by which API servers reach this machine.
	MeansAddress Means = "address"
	// MeansPolicies is that policies may be made in it that deny writes.
	MeansPolicies Means = "policies"
	// MeansProcesses is that the processes of all components are seen.
	MeansProcesses Means = "processes"
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
