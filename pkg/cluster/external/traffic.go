package external

import "github.com/evenkeel/evenkeel/pkg/cluster"

var _ cluster.TrafficLimited = (*external)(nil)

// TrafficLeave implements cluster.TrafficLimited.
func (c *external) TrafficLeave() cluster.TrafficLeave {
	if c.spec.Traffic == nil {
		return cluster.TrafficLeave{}
	}
	return *c.spec.Traffic
}

// lacksTraffic says in half a sentence why nothing is written to the cluster.
func (c *external) lacksTraffic(means cluster.Means) string {
	switch {
	case c.spec.Traffic == nil:
		return "the topology gives no leave to write objects of Evenkeel's own (spec.external.traffic)"
	case !c.allowed:
		return "nothing is written to an external cluster without --allow-disruption"
	case means == cluster.MeansControlPlane && !c.spec.Traffic.ControlPlane:
		return "the topology gives no leave to change objects of the control plane (spec.external.traffic.controlPlane)"
	}
	return ""
}
