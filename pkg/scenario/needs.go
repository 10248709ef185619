package scenario

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Needs are what a scenario takes beside members that run, in words and in one order: abilities
// of the provider, and settings of the topology.
func (s *Scenario) Needs() []string {
	var out []string
	need := func(what string, needed bool) {
		if needed && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	need("coordinated leader election", s.LeaderElection.Coordinated)
	need("extra elections (reference only)", s.LeaderElection.ExtraElections > 0)
	need("release of the Lease on exit", s.LeaderElection.ReleaseOnExit == cluster.SwitchOn)
	need("peer discovery", s.Discovery.Peers)
	need(cluster.ReachesHere.Name, len(s.Discovery.Backends) > 0)
	for _, one := range s.abilities() {
		need(one.Name, !one.Common)
	}
	slices.Sort(out)
	return out
}

// abilities are those that the steps and their faults need of a cluster.
func (s *Scenario) abilities() []cluster.Ability {
	var out []cluster.Ability
	for _, step := range s.Steps {
		out = append(out, needsOf(step.Action)...)
		for _, name := range faultsOf(step.Action) {
			if f := s.Faults[name]; f != nil {
				out = append(out, f.Needs()...)
			}
		}
	}
	return out
}

// Takes is whether a step or one of its faults needs the ability of a cluster.
func (s *Scenario) Takes(ability cluster.Ability) bool {
	return slices.ContainsFunc(s.abilities(), func(one cluster.Ability) bool { return one.Name == ability.Name })
}
