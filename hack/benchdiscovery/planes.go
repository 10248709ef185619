package main

import (
	"context"
	"errors"
	"fmt"
	"os"
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
		r, err := p.prepare(ctx)
		if err != nil {
			return nil, err
		}
		r.remove(ctx, p.title)
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

// prepare makes a cluster of which nothing runs yet.
func (p plane) prepare(ctx context.Context) (running, error) {
	// What is left in a cluster's own folder would count as a cluster.
	logs, err := os.MkdirTemp("", "benchdiscovery-")
	if err != nil {
		return running{}, err
	}
	made, err := registry.New(ctx, p.topology, cluster.Options{Owner: "bench", LogDir: logs})
	if err != nil {
		return running{}, errors.Join(err, os.RemoveAll(logs))
	}
	return running{cluster: made, member: made.Members()[0].Name}, nil
}

// remove ends a cluster and removes what it left, its logs too.
func (r running) remove(ctx context.Context, title string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound)
	defer cancel()
	if err := errors.Join(r.cluster.Stop(ctx), os.RemoveAll(r.cluster.LogDir())); err != nil {
		progress("%s could not be removed: %v", title, err)
	}
}

// up brings a plane up. down removes it.
func (p plane) up(ctx context.Context) (r running, down func(), err error) {
	if r, err = p.prepare(ctx); err != nil {
		return running{}, nil, err
	}
	down = func() { r.remove(ctx, p.title) }
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
