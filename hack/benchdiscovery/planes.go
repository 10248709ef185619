package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local"
	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

// plane is a control plane of one member that can be brought up.
type plane struct {
	// title heads its column.
	title    string
	topology *cluster.Topology
}

var registry = cluster.Registry{local.Provider{}}

// planesOf are the control planes to measure, with everything at hand that they
// need, so that nobody learns half way that something is missing.
func planesOf(ctx context.Context, o options) ([]plane, error) {
	var planes []plane
	for _, name := range strings.Fields(o.planes) {
		p, err := planeOf(ctx, name, o.release)
		if err != nil {
			return nil, err
		}
		made, err := registry.New(ctx, p.topology, cluster.Options{Owner: "bench"})
		if err != nil {
			return nil, err
		}
		if err := made.Stop(ctx); err != nil {
			return nil, err
		}
		planes = append(planes, p)
	}
	if len(planes) == 0 {
		return nil, fmt.Errorf("-planes names none")
	}
	return planes, nil
}

func planeOf(ctx context.Context, name, kubernetes string) (plane, error) {
	switch name {
	case reference.Name:
		topology, err := cluster.LoadTopology("clusters/local-1.yaml")
		if err != nil {
			return plane{}, err
		}
		releases, err := local.Provider{}.Releases(ctx, reference.Name)
		if err != nil || len(releases) == 0 {
			return plane{}, fmt.Errorf("list the releases of the reference: %w", err)
		}
		newest := releases[len(releases)-1]
		topology.SetRelease(newest)
		return plane{title: "reference " + newest, topology: topology}, nil
	case "kubernetes":
		topology, err := cluster.LoadTopology("clusters/local-3-kubernetes.yaml")
		if err != nil {
			return plane{}, err
		}
		topology.Metadata.Name = "local-1-kubernetes"
		topology.Spec.Members = topology.Spec.Members[:1]
		topology.SetRelease(kubernetes)
		return plane{title: "kube-apiserver " + kubernetes, topology: topology}, nil
	}
	return plane{}, fmt.Errorf("-planes: there is no %q; there are reference and kubernetes", name)
}

// running is a control plane that is up.
type running struct {
	cluster cluster.Cluster
	member  string
	// config reaches the API server directly, without limits of the client's own.
	config *rest.Config
}

// up brings a plane up. down removes it.
func (p plane) up(ctx context.Context) (r running, down func(), err error) {
	r.cluster, err = registry.New(ctx, p.topology, cluster.Options{Owner: "bench"})
	if err != nil {
		return running{}, nil, err
	}
	down = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound)
		defer cancel()
		if err := r.cluster.Stop(ctx); err != nil {
			progress("%s could not be removed: %v", p.title, err)
		}
	}
	r.member = r.cluster.Members()[0].Name
	if err = r.cluster.Start(ctx); err == nil {
		r.config, err = r.cluster.ClientConfig(r.member, false)
	}
	if err != nil {
		down()
		return running{}, nil, err
	}
	return r, down, nil
}

// server is the process of the API server.
func (r running) server() (int, error) {
	process, ok := r.cluster.Process(r.member, cluster.APIServer)
	if !ok {
		return 0, fmt.Errorf("the API server does not run")
	}
	return process.PID, nil
}
