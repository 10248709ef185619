package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// Versions of the instances: those of a group are equal.
const usual, older = "1.2.0", "1.1.0"

// lives measures instances of the library, each time with a Lease of their own, several
// of these at a time.
func (p *plane) lives(ctx context.Context, o options) (figures, error) {
	var all figures
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.atOnce)
	for n := range o.n {
		group.Go(func() error {
			//nolint:gosec // G115: n counts from 0.
			f, err := p.life(ctx, n, rand.New(rand.NewPCG(o.seed, uint64(n)+1)))
			if err != nil {
				return fmt.Errorf("life by Lease %d: %w", n, err)
			}
			mu.Lock()
			defer mu.Unlock()
			all.add(f)
			bench.Progress("%s: instances of the library, %d of %d", p.Title, len(all.crashed), o.n)
			return nil
		})
	}
	err := group.Wait()
	return all, err
}

// crew is a few instances that stand for one Lease.
type crew struct {
	plane *plane
	lease string
	hands map[string]*instance
}

// join has one more instance stand, through the API server of a member.
func (c *crew) join(ctx context.Context, through, version string) (*instance, error) {
	name := fmt.Sprintf("%s-%d", c.lease, len(c.hands))
	i, err := c.plane.stand.begin(ctx, c.plane.configs[through], place{lease: c.lease, name: name, version: version, timing: c.plane.timing})
	if err == nil {
		c.hands[name] = i
	}
	return i, err
}

// muster has a number of equal instances stand one after the other, through members in
// turn, and returns when all candidates are seen, with the first of them.
func (p *plane) muster(ctx context.Context, lease string, count int, through []string) (*crew, *instance, error) {
	c := &crew{plane: p, lease: lease, hands: map[string]*instance{}}
	var first *instance
	for n := range count {
		i, err := c.join(ctx, through[n%len(through)], usual)
		if err == nil && p.coordinated {
			_, err = p.seen.stood(ctx, i.name)
		}
		if err == nil {
			err = sleep(ctx, apart)
		}
		if err != nil {
			c.crash()
			return nil, nil, err
		}
		if n == 0 {
			first = i
		}
	}
	return c, first, nil
}

// crash ends all instances.
func (c *crew) crash() {
	var ending sync.WaitGroup
	for _, i := range c.hands {
		ending.Go(i.crash)
	}
	ending.Wait()
}

// disband ends all instances, and deletes what they leave, through a member.
func (c *crew) disband(ctx context.Context, through string) error {
	c.crash()
	return c.plane.erase(ctx, through, c.lease)
}

// life is the life of one Lease: a group of equal instances gets its first leader, one
// of an older version comes and leads in its place, and crashes.
func (p *plane) life(ctx context.Context, n int, random *rand.Rand) (f figures, err error) {
	if err := sleep(ctx, time.Duration(random.Float64()*float64(spread))); err != nil {
		return f, err
	}
	members := p.members()
	lease := fmt.Sprintf("bench-%d", n)
	c, first, err := p.muster(ctx, lease, restGroup, members)
	if err != nil {
		return f, err
	}
	defer c.crash()
	leader, err := p.seen.follow(ctx, lease, first.began, "")
	switch {
	case isLate(err):
		f.started, f.first = []float64{never}, p.ifCoordinated(never)
		f.preempted, f.crashed, f.expired = p.ifCoordinated(never), []float64{never}, []float64{never}
		return f, c.disband(ctx, p.Member)
	case err != nil:
		return f, err
	}
	f.started = []float64{between(first.began, leader.began)}
	if p.coordinated {
		stood, err := p.seen.stood(ctx, first.name)
		if err != nil {
			return f, err
		}
		f.first = []float64{between(stood, leader.began)}
		if f.preempted, err = p.overtake(ctx, c, random); err != nil {
			return f, err
		}
	}
	fallen, err := p.fell(ctx, c, random)
	if err != nil {
		return f, err
	}
	f.add(fallen)
	return f, c.disband(ctx, p.Member)
}

// overtake has an instance of an older version join a crew whose leader is well.
func (p *plane) overtake(ctx context.Context, c *crew, random *rand.Rand) ([]float64, error) {
	if _, err := p.seen.steady(ctx, c.lease); err != nil {
		return nil, err
	}
	if err := p.pause(ctx, random); err != nil {
		return nil, err
	}
	before := time.Now()
	better, err := c.join(ctx, p.members()[random.IntN(len(p.members()))], older)
	if err != nil {
		return nil, err
	}
	took, err := p.taken(ctx, c.lease, better.name, before)
	return []float64{took}, err
}

// fell has the leader of a crew crash.
func (p *plane) fell(ctx context.Context, c *crew, random *rand.Rand) (figures, error) {
	if _, err := p.seen.steady(ctx, c.lease); err != nil {
		return figures{}, err
	}
	if err := p.pause(ctx, random); err != nil {
		return figures{}, err
	}
	leader, err := p.seen.steady(ctx, c.lease)
	if err != nil {
		return figures{}, err
	}
	fallen := c.hands[leader.holder]
	if fallen == nil {
		return figures{}, fmt.Errorf("%s is led by %s, who is none of the crew", c.lease, leader.holder)
	}
	at := time.Now()
	fallen.crash()
	return p.replaced(ctx, c.lease, fallen.name, at)
}
