package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// round is what was measured at one number of CRDs, a result for each plane.
type round struct {
	crds    int
	results []result
}

// result is all that was measured of one plane at one number of CRDs.
type result struct {
	// told are the group-versions and resources that discovery has.
	told  told
	colds map[way]cold
	loads map[answer]load
	// changes are the times until each sort of change was visible, in seconds.
	changes map[change][]float64
	clients []clientRun
	// resting and highest are the API server's resident memory in bytes: before
	// the measurements, and at its highest until after them.
	resting, highest int64
	// restingShare of a processor was taken by the API server before the
	// measurements.
	restingShare float64
	// others is the share of all processors that went to neither the control plane
	// nor this program while it measured.
	others float64
}

// measure brings the plane up with a number of CRDs and measures everything.
func measure(ctx context.Context, p bench.Plane, o options, crds int) (result, error) {
	bench.Progress("%s, %d CRDs: up", p.Title, crds)
	r, config, down, err := up(ctx, p)
	if err != nil {
		return result{}, err
	}
	defer down()
	var m result
	if err := populate(ctx, config, crds); err != nil {
		return m, err
	}
	pid, err := r.PID(r.Member, cluster.APIServer)
	if err != nil {
		return m, err
	}
	bench.Progress("%s, %d CRDs: wait for rest", p.Title, crds)
	if m.restingShare, err = bench.AtRest(ctx, 0, quietBound, pid); err != nil {
		return m, err
	}
	if m.resting, _, err = bench.Resident(pid); err != nil {
		return m, err
	}
	watch, err := watchOthers(r)
	if err != nil {
		return m, err
	}
	steps := []struct {
		what string
		do   func() error
	}{
		{"cold discovery", func() error { m.colds, m.told, err = discoverCold(ctx, config, crds); return err }},
		{"what clients need", func() error { m.clients, err = clientsNeed(ctx, config, o.program); return err }},
		{"answers", func() error { m.loads, err = loadAll(ctx, config, o.duration); return err }},
		{"changes", func() error { m.changes, err = timeChanges(ctx, config); return err }},
	}
	for _, step := range steps {
		bench.Progress("%s, %d CRDs: %s", p.Title, crds, step.what)
		if err := step.do(); err != nil {
			return m, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	if _, m.others, err = watch.Shares(); err != nil {
		return m, err
	}
	after, err := r.PID(r.Member, cluster.APIServer)
	if err != nil {
		return m, err
	}
	if after != pid {
		return m, fmt.Errorf("the API server was process %d at the beginning and %d at the end: it must be the same one", pid, after)
	}
	_, m.highest, err = bench.Resident(pid)
	return m, err
}

// up brings a plane up. The configuration reaches the API server directly, without
// limits of the client's own.
func up(ctx context.Context, p bench.Plane) (*bench.Running, *rest.Config, func(), error) {
	r, down, err := p.Up(ctx, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	config, err := r.ClientConfig(r.Member, false)
	if err != nil {
		down()
		return nil, nil, nil, err
	}
	return r, config, down, nil
}

// watchOthers begins to look at who takes the processors beside the control plane and
// this program.
func watchOthers(r *bench.Running) (bench.Processors, error) {
	var pids []int
	for _, component := range r.Members()[0].Components {
		if pid, err := r.PID(r.Member, component); err == nil {
			pids = append(pids, pid)
		}
	}
	return bench.WatchProcessors(pids...)
}
