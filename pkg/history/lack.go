package history

// ProviderExternal is the Header.Provider of a cluster that somebody else runs.
const ProviderExternal = "external"

// Lack is something that a run did not have because somebody else runs the cluster.
type Lack struct {
	// What is one of the Lack… values.
	What string `json:"what"`
	// Reason says why, in words.
	Reason string `json:"reason"`
}

// What an external cluster may lack.
const (
	// LackEtcd: nobody may read what lies in its etcd.
	LackEtcd = "etcd"
	// LackRestarts: no step of the scenario that ends a process of an API server, so
	// that another one takes its place, could be played.
	LackRestarts = "restarts"
	// LackBackends: its API servers cannot reach aggregated servers of the harness.
	LackBackends = "backends"
	// LackProbes: nothing was sent to it that a server is to refuse.
	LackProbes = "probes"
)

// Lack is why the run did not have something; ok is false where it had it.
func (h *Header) Lack(what string) (reason string, ok bool) {
	for _, lack := range h.Lacks {
		if lack.What == what {
			return lack.Reason, true
		}
	}
	return "", false
}
