package main

import (
	"context"
	"fmt"
	"math"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/dynamic"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// member is the only member of each control plane.
const member = "cp1"

// The planes that can be measured, by their names in -planes.
const referencePlane, kubernetesPlane = "reference", "kubernetes"

// planesOf returns the control planes to measure, with one member each.
func planesOf(o options) ([]bench.Plane, error) {
	var all []bench.Plane
	for _, name := range o.planes {
		text := "apiVersion: evenkeel.dev/v1alpha1\nkind: Topology\nmetadata: {name: bench}\nspec:\n  provider: local\n  members: [{name: " + member + "}]\n"
		switch name {
		case referencePlane:
			text += "  distribution: reference\n  release: \"1.3\"\n"
		case kubernetesPlane:
			text += fmt.Sprintf("  distribution: kubernetes\n  release: %s\n", o.release)
		default:
			return nil, fmt.Errorf("there is no plane %q; %s and %s are there", name, referencePlane, kubernetesPlane)
		}
		text += fmt.Sprintf("  settings: {migrationRate: %v, withoutWatchCache: %v}\n", o.rate, o.withoutWatchCache)
		topology, err := cluster.ParseTopology("the topology of the benchmark", []byte(text))
		if err != nil {
			return nil, err
		}
		all = append(all, bench.Plane{Title: name + " " + topology.Spec.Release, Topology: topology})
	}
	return all, nil
}

// figures are the results of one measurement.
type figures struct {
	rewrites
	// took is the time from the creation of the migration to its success. It is infinite
	// if the migration did not succeed in time.
	took float64
	// stored is how many objects etcd holds in the new version at the end.
	stored int
	// before and peak are the resident memory of the controller manager in bytes: at the
	// creation of the migration, and the highest value since.
	before, peak int64
	// resting is the share of one processor that the API server and the controller manager
	// took before the migration.
	resting float64
	// busy is the share of all processors' time that was in use during the migration.
	busy float64
}

// plane is a control plane under measurement.
type plane struct {
	cluster.Cluster
	client dynamic.Interface
	etcd   *clientv3.Client
}

func measure(ctx context.Context, what bench.Plane, n int, within time.Duration) (f figures, err error) {
	ctx, cancel := context.WithTimeout(ctx, within+quietBound+2*(leastTimeout+time.Duration(n)*eachObject))
	defer cancel()
	r, down, err := what.Up(ctx, nil)
	if err != nil {
		return f, err
	}
	defer down()
	p := &plane{Cluster: r}
	if err := p.connect(); err != nil {
		return f, err
	}
	defer p.etcd.Close()
	bench.Progress("%s: %d objects are written", what.Title, n)
	if err := p.prepare(ctx, n); err != nil {
		return f, err
	}
	pid, err := r.PID(member, cluster.ControllerManager)
	if err != nil {
		return f, err
	}
	server, err := r.PID(member, cluster.APIServer)
	if err != nil {
		return f, err
	}
	bench.Progress("%s: is given time to read them all", what.Title)
	if f.resting, err = bench.AtRest(ctx, quietFor, quietBound, server, pid); err != nil {
		return f, err
	}
	if err := bench.ResetPeak(pid); err != nil {
		return f, err
	}
	if f.before, _, err = bench.Resident(pid); err != nil {
		return f, err
	}
	processors, err := bench.WatchProcessors()
	if err != nil {
		return f, err
	}
	watching, done := context.WithCancel(ctx)
	defer done()
	seen := p.watch(watching)
	go seen.tell(watching, what.Title, n)
	if f.took, err = p.migrate(ctx, within); err != nil {
		return f, err
	}
	if f.busy, _, err = processors.Shares(); err != nil {
		return f, err
	}
	if _, f.peak, err = bench.Resident(pid); err != nil {
		return f, err
	}
	if math.IsInf(f.took, 0) {
		f.rewrites = seen.read()
		f.stored, err = p.count(ctx, n)
		return f, err
	}
	if f.stored, err = p.count(ctx, n); err != nil {
		return f, err
	}
	if f.stored != n {
		return f, fmt.Errorf("the migration has succeeded, and of %d objects %d are stored as %s", n, f.stored, newest)
	}
	f.rewrites, err = seen.all(ctx, n)
	return f, err
}

func (p *plane) connect() error {
	config, err := p.ClientConfig(member, false)
	if err != nil {
		return err
	}
	// The benchmark measures the migrator, so its own client has no rate limit.
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
