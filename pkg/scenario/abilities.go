package scenario

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// anywhere is what a step needs that can be played on every cluster. A step has to say so:
// one that says nothing must not be played on a cluster that Evenkeel did not make.
var anywhere = cluster.Ability{Common: true, Lack: func(cluster.Cluster) string { return "" }}

// ownControlPlane is a control plane whose objects a step may change, since it goes with the run.
var ownControlPlane = ofOwn("it changes objects that are not the harness's own, which it does not do to an external cluster")

func ofOwn(lack string) cluster.Ability {
	return cluster.Ability{Name: "a control plane that Evenkeel made", Common: true, Lack: func(c cluster.Cluster) string {
		if _, external := c.(cluster.ExternallyManaged); external {
			return lack
		}
		return ""
	}}
}

// needsOf are the abilities that a step needs of a cluster, without those of its faults.
func needsOf(a Action) []cluster.Ability {
	known, ok := typeOf(a)
	if !ok {
		return nil
	}
	entry := known.entry
	return entry.Abilities(ValuesOf(a))
}

// lackOf says why a step cannot be played on a cluster; empty if it can.
func (s *Scenario) lackOf(c cluster.Cluster, a Action) string {
	if why := cluster.Lacking(c, needsOf(a)...); why != "" {
		return why
	}
	_, external := c.(cluster.ExternallyManaged)
	if _, does := a.(accompanied); does && external {
		return "" // it is played without what cannot be injected
	}
	for _, name := range faultsOf(a) {
		if why := s.lackOfFault(c, name); why != "" {
			return why
		}
	}
	return ""
}

// accompanied is an action that does the same without its faults, which are only there meanwhile.
type accompanied interface{ accompanied() }

// lackOfFault says why a fault cannot be injected on a cluster; empty if it can.
func (s *Scenario) lackOfFault(c cluster.Cluster, name string) string {
	f := s.Faults[name]
	if f == nil {
		return "" // which is another error
	}
	if why := cluster.Lacking(c, f.Needs()...); why != "" {
		return fmt.Sprintf("the fault %s cannot be injected: %s", name, why)
	}
	return ""
}
