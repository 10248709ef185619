package main

import (
	"context"
	"fmt"
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
func (p plane) measure(ctx context.Context, o options, crds int) (result, error) {
	progress("%s, %d CRDs: up", p.title, crds)
	r, down, err := p.up(ctx)
	if err != nil {
		return result{}, err
	}
	defer down()
	var m result
	if err := populate(ctx, r.config, crds); err != nil {
		return m, err
	}
	pid, err := r.server()
	if err != nil {
		return m, err
	}
	progress("%s, %d CRDs: wait for rest", p.title, crds)
	if m.restingShare, err = atRest(ctx, pid); err != nil {
		return m, err
	}
	if m.resting, _, err = resident(pid); err != nil {
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
		{"cold discovery", func() error { m.colds, m.told, err = discoverCold(ctx, r.config, crds); return err }},
		{"what clients need", func() error { m.clients, err = clientsNeed(ctx, r.config, o.program); return err }},
		{"answers", func() error { m.loads, err = loadAll(ctx, r.config, o.duration); return err }},
		{"changes", func() error { m.changes, err = timeChanges(ctx, r.config); return err }},
	}
	for _, step := range steps {
		progress("%s, %d CRDs: %s", p.title, crds, step.what)
		if err := step.do(); err != nil {
			return m, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	if m.others, err = watch.share(); err != nil {
		return m, err
	}
	after, err := r.server()
	if err != nil || after != pid {
		return m, fmt.Errorf("the API server was not the same process from beginning to end (%v)", err)
	}
	_, m.highest, err = resident(pid)
	return m, err
}
