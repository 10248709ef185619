package run

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// spare refuses what may not be done to a cluster that somebody else runs.
func (p *plan) spare(o Options) error {
	if !p.topology.ExternallyManaged() {
		return nil
	}
	if o.Release != "" {
		return fmt.Errorf("%s is a cluster that somebody else runs, whose members run what they run: leave --release out", p.topology.File)
	}
	step, action, disrupts := p.scenario.Disrupts()
	if disrupts && !o.AllowDisruption {
		return fmt.Errorf("step %d (%s) of the scenario %s disrupts the control plane, and %s is one that somebody else runs: give leave with --allow-disruption, or play a scenario that only looks, such as fixtures/scenarios/discovery-quick.yaml",
			step, action, p.scenario.Metadata.Name, p.topology.File)
	}
	return nil
}

// worthwhile is an error where nothing could be judged, whatever was played.
func (p *plan) worthwhile(h history.Header) error {
	first := ""
	for _, r := range p.requirements {
		why, not := check.Inapplicable(r.ID, h)
		if !not {
			return nil
		}
		if first == "" {
			first = fmt.Sprintf("%s: %s", r.ID, why)
		}
	}
	return fmt.Errorf("the scenario %s is not played on %s, for nothing could be judged by it there (%s)", p.scenario.Metadata.Name, p.topology.File, first)
}

// publishTopology has the bundle get no more of a topology than anybody may know.
func (p *plan) publishTopology() error {
	if !p.topology.ExternallyManaged() {
		return nil
	}
	raw, err := yaml.Marshal(p.topology.Published())
	if err != nil {
		return fmt.Errorf("write the topology %s as it may be published: %w", p.topology.File, err)
	}
	p.topologyYAML = append([]byte("# What leads to the cluster, and the commands of its hooks, are not published.\n"), raw...)
	return nil
}
