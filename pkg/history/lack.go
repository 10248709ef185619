package history

import "time"

// BeginningSettles is for how long after the recorders have begun nothing counts as met of a
// control plane that was there before: what is judged then may rest on what came right before,
// such as the answers to an election's pings. It is twice the 15 s that Leases of leaders last.
const BeginningSettles = 30 * time.Second

// Lack is something that a run did not have because the cluster is external.
type Lack struct {
	// What is one of the Lack… values.
	What string `json:"what"`
	// Reason says why, in words.
	Reason string `json:"reason"`
}

// What an external cluster may lack.
const (
	// LackBeginning: the cluster was there before the run, and its recorders have not told of what
	// was so as they began. Runs of now lack LackEarlier in its place.
	LackBeginning = "beginning"
	// LackEarlier: the cluster was there before the run. What was so as the recorders began is told
	// by events that are Given; what came before that is not known.
	LackEarlier = "earlier"
	// LackEtcd: the harness has no access to the etcd of the cluster.
	LackEtcd = "etcd"
	// LackRestarts: no step of the scenario could be played that ends the process of an
	// API server and lets another one take its place.
	LackRestarts = "restarts"
	// LackBackends: its API servers cannot reach aggregated servers of the harness.
	LackBackends = "backends"
	// LackProbes: nothing was sent to it that a server is to refuse.
	LackProbes = "probes"
	// LackTraffic: no objects of the harness were written to it while it was judged.
	LackTraffic = "traffic"
	// LackEmulation: its components cannot be started so that they emulate an older version.
	LackEmulation = "emulation"
	// LackFeatures: features of its components cannot be switched off.
	LackFeatures = "features"
	// LackPeers: its API servers are not known to tell of what their peers host.
	LackPeers = "peers"
	// LackBalancer: no load balancer before its API servers was asked.
	LackBalancer = "balancer"
	// LackProcesses: the harness does not see the processes of the components.
	LackProcesses = "processes"
	// LackMachines: the harness does not see the machines that the members run on, so that
	// nothing tells whether these were starved.
	LackMachines = "machines"
)

// Setting is what a setting of the topology has, as its file does; empty where it is not set, or not
// known.
func (h *Header) Setting(name string) string {
	if h.Topology == nil {
		return ""
	}
	return h.Topology.Settings[name]
}

// Lack is why the run did not have something; ok is false where it had it.
func (h *Header) Lack(what string) (reason string, ok bool) {
	for _, lack := range h.Lacks {
		if lack.What == what {
			return lack.Reason, true
		}
	}
	return "", false
}
