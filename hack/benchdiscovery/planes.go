package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

// planesOf are the control planes of one member to measure, with everything at hand
// that they need.
func planesOf(ctx context.Context, o options) ([]bench.Plane, error) {
	var planes []bench.Plane
	for _, name := range strings.Fields(o.planes) {
		p, err := planeOf(ctx, name, o.release)
		if err != nil {
			return nil, err
		}
		planes = append(planes, p)
	}
	if len(planes) == 0 {
		return nil, fmt.Errorf("-planes names none")
	}
	return planes, bench.Check(ctx, planes)
}

func planeOf(ctx context.Context, name, kubernetes string) (bench.Plane, error) {
	switch name {
	case reference.Name:
		topology, err := cluster.LoadTopology("clusters/local-1.yaml")
		if err != nil {
			return bench.Plane{}, err
		}
		newest, err := bench.Newest(ctx, reference.Name)
		if err != nil {
			return bench.Plane{}, err
		}
		topology.SetRelease(newest)
		return bench.Plane{Title: "reference " + newest, Topology: topology}, nil
	case "kubernetes":
		topology, err := cluster.LoadTopology("clusters/local-3-kubernetes.yaml")
		if err != nil {
			return bench.Plane{}, err
		}
		topology.Metadata.Name = "local-1-kubernetes"
		topology.Spec.Members = topology.Spec.Members[:1]
		topology.SetRelease(kubernetes)
		return bench.Plane{Title: "kube-apiserver " + kubernetes, Topology: topology}, nil
	}
	return bench.Plane{}, fmt.Errorf("-planes: there is no %q; there are reference and kubernetes", name)
}
