package main

import (
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// result is all that was measured of a control plane.
type result struct {
	// managers are the controller managers themselves, instances those of the library
	// that they use.
	managers, instances figures
	losses              losses
	writes              writes
	// busy is the share of all processors' time that was taken while it was measured.
	busy float64
}

// measure brings a control plane up and measures everything.
func measure(ctx context.Context, c column, o options) (r result, err error) {
	bench.Progress("%s: up", c.Title)
	p, down, err := up(ctx, c, o.seed)
	if err != nil {
		return r, err
	}
	defer down()
	bench.Progress("%s: one component after the other", c.Title)
	if err := p.stage(ctx); err != nil {
		return r, err
	}
	if _, _, err := p.whole(ctx); err != nil {
		return r, err
	}
	processors, err := bench.WatchProcessors()
	if err != nil {
		return r, err
	}
	steps := []struct {
		what string
		do   func() error
	}{
		{"writes at rest", func() error { r.writes, err = p.atRest(ctx, o.rest); return err }},
		{"controller managers", func() error { r.managers, err = p.managers(ctx, o.real); return err }},
		{"instances of the library", func() error { r.instances, err = p.lives(ctx, o); return err }},
		{"coordinators", func() error {
			if !c.coordinated {
				return nil
			}
			r.losses, err = p.coordinators(ctx, o.real)
			return err
		}},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return r, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	r.busy, _, err = processors.Shares()
	return r, err
}
