package scenario

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fault"
)

// Needs are what a scenario takes beside members that run, in words and in one order: of the
// provider, and of the topology's settings.
func (s *Scenario) Needs() []string {
	var out []string
	need := func(what string, needed bool) {
		if needed && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	need("coordinated leader election", s.LeaderElection.Coordinated)
	need("extra elections (reference only)", s.LeaderElection.ExtraElections > 0)
	need("peer discovery", s.Discovery.Peers)
	need("aggregated servers", len(s.Discovery.Backends) > 0)
	for _, step := range s.Steps {
		need("feature switches", len(disabledBy(step.Action)) > 0)
		for _, name := range faultsOf(step.Action) {
			if f := s.Faults[name]; f != nil {
				need("faults of etcd keys", f.Type == fault.TypeKeys)
				need("faults of HTTP requests", f.Type == fault.TypeHTTP)
				need("admission policies", f.Type == fault.TypeAdmission)
				need("network faults", f.Type == fault.TypeNetwork)
			}
		}
		need(releasesNeeded, releaseOf(step.Action) != "")
		if one, ok := step.Action.(requiring); ok {
			need(one.requires(), true)
		}
	}
	slices.Sort(out)
	return out
}

const releasesNeeded = "several releases"
