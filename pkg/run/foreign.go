package run

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// spare refuses what the harness must not do to an external cluster.
func (p *plan) spare(o Options) error {
	if !p.topology.ExternallyManaged() {
		return nil
	}
	if o.Release != "" {
		return fmt.Errorf("--release is not supported with the provider %s, which %s has: leave it out", p.topology.Spec.Provider, p.topology.File)
	}
	step, action, disrupts := p.scenario.Disrupts()
	if disrupts && !o.AllowDisruption {
		return fmt.Errorf("step %d (%s) of the scenario %s disrupts the control plane, and the cluster of %s is external: allow it with --allow-disruption, or play a scenario that does not disrupt, such as fixtures/scenarios/discovery-quick.yaml",
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
	return fmt.Errorf("the scenario %s is not played on %s, because no requirement could be judged there (%s)", p.scenario.Metadata.Name, p.topology.File, first)
}

// publishTopology leaves out of the bundle what must not be published of a topology.
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
