package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/dynamic"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
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
	made, err := providers.All().New(ctx, topology, cluster.Options{Owner: "bench"})
	if err != nil {
		return f, err
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err = errors.Join(err, made.Stop(stopping))
	}()
	if err := made.Start(ctx); err != nil {
		return f, err
	}
	p := &plane{Cluster: made}
	if err := p.connect(); err != nil {
		return f, err
	}
	defer p.etcd.Close()
	if err := p.prepare(ctx, n); err != nil {
		return f, err
	}
	process, ok := p.Process(member, cluster.ControllerManager)
	if !ok {
		return f, errors.New("no controller manager runs")
	}
	if err := resetPeak(process.PID); err != nil {
		return f, err
	}
	if f.before, err = memory(process.PID, residentNow); err != nil {
		return f, err
	}
	watching, done := context.WithCancel(ctx)
	defer done()
	seen := p.watch(watching)
	if f.took, err = p.migrate(ctx); err != nil {
		return f, err
	}
	if f.peak, err = memory(process.PID, residentMost); err != nil {
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
