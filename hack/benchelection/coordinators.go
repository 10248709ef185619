package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// losses are times in seconds from the SIGKILL of the API server that coordinates.
type losses struct {
	// replaced: until another coordinator holds the coordinators' Lease.
	replaced []float64
	// elected: until a new Lease without an earlier holder has a leader. Its candidates
	// start at the kill.
	elected []float64
}

// coordinators measures how long there is no coordinator after a coordinator's crash.
func (p *plane) coordinators(ctx context.Context, times int) (losses, error) {
	var all losses
	for n := range times {
		bench.Progress("%s: coordinators, %d of %d", p.Title, n+1, times)
		if _, _, err := p.whole(ctx); err != nil {
			return all, err
		}
		if err := p.loseCoordinator(ctx, n, &all); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (p *plane) loseCoordinator(ctx context.Context, n int, all *losses) error {
	if _, err := p.seen.steady(ctx, coordinatorLease); err != nil {
		return err
	}
	if err := p.pause(ctx, p.random); err != nil {
		return err
	}
	active, err := p.seen.steady(ctx, coordinatorLease)
	if err != nil {
		return err
	}
	victim := p.memberOf(active.holder)
	if victim == "" {
		return fmt.Errorf("the coordinator %s is of no member", active.holder)
	}
	left := slices.DeleteFunc(p.members(), func(m string) bool { return m == victim })
	at := time.Now()
	if err := p.Kill(ctx, victim, cluster.APIServer); err != nil {
		return err
	}
	lease := fmt.Sprintf("bench-vacant-%d", n)
	c, first, err := p.muster(ctx, lease, restGroup, left)
	if err != nil {
		return err
	}
	defer c.crash()
	next, err := p.seen.follow(ctx, coordinatorLease, at, active.holder)
	switch {
	case isLate(err):
		all.replaced = append(all.replaced, never)
	case err != nil:
		return err
	default:
		all.replaced = append(all.replaced, between(at, next.began))
	}
	leader, err := p.seen.follow(ctx, lease, first.began, "")
	switch {
	case isLate(err):
		all.elected = append(all.elected, never)
	case err != nil:
		return err
	default:
		all.elected = append(all.elected, between(at, leader.began))
	}
	if err := c.disband(ctx, left[0]); err != nil {
		return err
	}
	if err := p.StartComponent(ctx, victim, cluster.APIServer); err != nil {
		return err
	}
	if _, _, err := p.whole(ctx); err != nil {
		return err
	}
	return p.tidy(ctx)
}
