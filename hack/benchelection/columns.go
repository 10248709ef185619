package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

// column is a control plane that elects in one way.
type column struct {
	bench.Plane
	// name is what -planes calls it.
	name string
	// coordinated is whether a coordinator elects; else the first to claim a Lease leads.
	coordinated bool
	// timing is that of all Leases.
	timing timing
	// stand makes an instance of the library that the controller managers use.
	stand stander
}

// The columns by name.
const (
	ours        = "reference"
	oursPlain   = "reference-plain"
	theirs      = "kubernetes"
	theirsPlain = "kubernetes-plain"
)

// names are all columns, in the order of the report.
var names = []string{ours, oursPlain, theirs, theirsPlain}

// columnsOf are the control planes to measure, with everything at hand that they need.
func columnsOf(ctx context.Context, o options) ([]column, error) {
	var columns []column
	var planes []bench.Plane
	for _, name := range strings.Fields(o.planes) {
		c, err := columnOf(ctx, name, o.release)
		if err != nil {
			return nil, err
		}
		columns, planes = append(columns, c), append(planes, c.Plane)
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("-planes names none")
	}
	for _, c := range columns {
		if c.timing != columns[0].timing {
			return nil, fmt.Errorf("the Leases last as long as %+v in %s and as %+v in %s: such control planes cannot be compared",
				columns[0].timing, columns[0].name, c.timing, c.name)
		}
	}
	return columns, bench.Check(ctx, planes)
}

func columnOf(ctx context.Context, name, kubernetes string) (column, error) {
	c := column{name: name, coordinated: name == ours || name == theirs}
	file, title, release := "clusters/local-3.yaml", "reference", ""
	switch name {
	case ours, oursPlain:
		newest, err := bench.Newest(ctx, reference.Name)
		if err != nil {
			return column{}, err
		}
		release = newest
	case theirs, theirsPlain:
		file, title, release = "clusters/local-3-kubernetes.yaml", "Kubernetes", kubernetes
	default:
		return column{}, fmt.Errorf("-planes: there is no %q; there are %s", name, strings.Join(names, ", "))
	}
	topology, err := cluster.LoadTopology(file)
	if err != nil {
		return column{}, err
	}
	topology.SetRelease(release)
	topology.Spec.Settings.CoordinatedLeaderElection = true
	c.Title, c.Topology = title+" "+release+", coordinated", topology
	if !c.coordinated {
		c.Title, c.Off = title+" "+release+", plain Leases", []cluster.Feature{cluster.FeatureCoordination}
	}
	c.timing = timingOf(topology.Spec.Settings)
	switch {
	case name == ours:
		c.stand = standWithReference
	case c.coordinated:
		c.stand = standWithCoordinator
	default:
		c.stand = standPlainly
	}
	return c, c.timing.check(file)
}
