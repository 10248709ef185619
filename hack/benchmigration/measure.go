package main

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/dynamic"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// member is the only one there is.
const member = "cp1"

// topologyOf is a control plane of one member.
func topologyOf(plane, release string, rate float64) (*cluster.Topology, error) {
	text := "apiVersion: evenkeel.dev/v1alpha1\nkind: Topology\nmetadata: {name: bench}\nspec:\n  provider: local\n  members: [{name: " + member + "}]\n"
	switch plane {
	case "reference":
		text += fmt.Sprintf("  distribution: reference\n  release: \"1.3\"\n  settings: {migrationRate: %v}\n", rate)
	case "kubernetes":
		text += fmt.Sprintf("  distribution: kubernetes\n  release: %s\n", release)
	default:
		return nil, fmt.Errorf("there is no plane %q; reference and kubernetes are there", plane)
	}
	return cluster.ParseTopology("the topology of the benchmark", []byte(text))
}

// figures are what was measured.
type figures struct {
	rewrites
	// took is the time from when the migration was asked for to its success.
	took time.Duration
	// before and peak are the memory of the controller manager in bytes, without
	// what it has on disk: when the migration was asked for, and the most since.
	before, peak int64
}

// plane is a control plane under measurement.
type plane struct {
	cluster.Cluster
	client dynamic.Interface
	etcd   *clientv3.Client
}

func measure(ctx context.Context, topology *cluster.Topology, n int) (f figures, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*(leastTimeout+time.Duration(n)*eachObject))
	defer cancel()
	r, down, err := bench.Plane{Title: topology.Spec.Distribution + " " + topology.Spec.Release, Topology: topology}.Up(ctx, nil)
	if err != nil {
		return f, err
	}
	defer down()
	p := &plane{Cluster: r}
	if err := p.connect(); err != nil {
		return f, err
	}
	defer p.etcd.Close()
	if err := p.prepare(ctx, n); err != nil {
		return f, err
	}
	pid, err := r.PID(member, cluster.ControllerManager)
	if err != nil {
		return f, err
	}
	if err := bench.ResetPeak(pid); err != nil {
		return f, err
	}
	if f.before, _, err = bench.Resident(pid); err != nil {
		return f, err
	}
	watching, done := context.WithCancel(ctx)
	defer done()
	seen := p.watch(watching)
	if f.took, err = p.migrate(ctx); err != nil {
		return f, err
	}
	if _, f.peak, err = bench.Resident(pid); err != nil {
		return f, err
	}
	if err := p.verify(ctx, n); err != nil {
		return f, err
	}
	f.rewrites, err = seen.all(ctx, n)
	return f, err
}

func (p *plane) connect() error {
	config, err := p.ClientConfig(member, false)
	if err != nil {
		return err
	}
	// Whoever fills the control plane is not what is measured.
	config.QPS, config.Burst = -1, 0
	if p.client, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	etcd, err := p.EtcdConfig(member)
	if err != nil {
		return err
	}
	p.etcd, err = clientv3.New(etcd)
	return err
}
