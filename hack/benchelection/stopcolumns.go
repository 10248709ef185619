package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

// stopColumns are the control planes whose leaders are stopped, by default. A name is a
// release of Kubernetes or "reference", with +release where leaders release their Lease on exit
// (KEP-5366), and +coordinated where a coordinator elects.
var stopColumns = []string{
	ours, ours + releasing, "v1.36.3", "v1.36.3" + releasing, "v1.37.1", "v1.37.1" + releasing,
}

// What follows the release in the name of a column.
const (
	releasing  = "+release"
	coordinate = "+coordinated"
)

// stopColumn reads the name of a column. The Lease is kept on exit where the name does not say
// that it is released.
func stopColumn(ctx context.Context, name string) (column, error) {
	plays, options, _ := strings.Cut(name, "+")
	var released, coordinated bool
	for option := range strings.SplitSeq(options, "+") {
		switch "+" + option {
		case releasing:
			released = true
		case coordinate:
			coordinated = true
		case "+":
		default:
			return column{}, fmt.Errorf("-planes: %s says %q, and there are %s and %s", name, "+"+option, releasing, coordinate)
		}
	}
	file, title, release := "clusters/local-3-kubernetes.yaml", "Kubernetes", plays
	if plays == ours {
		newest, err := bench.Newest(ctx, reference.Name)
		if err != nil {
			return column{}, err
		}
		file, title, release = "clusters/local-3.yaml", "reference", newest
	}
	topology, err := cluster.LoadTopology(file)
	if err != nil {
		return column{}, err
	}
	topology.SetRelease(release)
	topology.Spec.Settings.CoordinatedLeaderElection = true
	topology.Spec.Settings.LeaderElectReleaseOnExit = cluster.SwitchOff
	c := column{name: name, coordinated: coordinated, timing: timingOf(topology.Spec.Settings)}
	c.Title, c.Topology = title+" "+release, topology
	if released {
		topology.Spec.Settings.LeaderElectReleaseOnExit = cluster.SwitchOn
	}
	if !coordinated {
		c.Off = []cluster.Feature{cluster.FeatureCoordination}
	}
	return c, c.timing.check(file)
}

// stopColumnsOf are the named columns, with everything at hand that they need.
func stopColumnsOf(ctx context.Context, named []string) ([]column, error) {
	var columns []column
	var planes []bench.Plane
	for _, name := range named {
		c, err := stopColumn(ctx, name)
		if err != nil {
			return nil, err
		}
		columns, planes = append(columns, c), append(planes, c.Plane)
	}
	return columns, bench.Check(ctx, planes)
}

// releases is whether leaders of a column release their Lease on exit.
func (c column) releases() bool {
	return slices.Contains(strings.Split(c.name, "+"), strings.TrimPrefix(releasing, "+"))
}
