package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// restage stops a component at all members, deletes the Lease by which it elects and
// all candidates for that, and starts it at one member after the other. It gives how
// long it took until the first one led.
func (p *plane) restage(ctx context.Context, component cluster.Component, lease string) (figures, error) {
	members := p.members()
	p.random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	if err := each(members, func(m string) error { return p.StopComponent(ctx, m, component) }); err != nil {
		return figures{}, err
	}
	if err := p.erase(ctx, p.Member, lease); err != nil {
		return figures{}, err
	}
	var f figures
	for i, member := range members {
		before := time.Now()
		if err := p.StartComponent(ctx, member, component); err != nil {
			return figures{}, err
		}
		if i == 0 {
			var err error
			if f, err = p.first(ctx, member, component, lease, before); err != nil {
				return figures{}, err
			}
		}
		if err := p.seen.until(ctx, fmt.Sprintf("the %s of %s stood", component, member), wholeBound, func() bool {
			return p.stands(member, component, lease)
		}); err != nil {
			return figures{}, err
		}
		if err := sleep(ctx, apart); err != nil {
			return figures{}, err
		}
	}
	return f, nil
}

// first waits until the first instance of a component leads, and tells how long that
// took.
func (p *plane) first(ctx context.Context, member string, component cluster.Component, lease string, before time.Time) (figures, error) {
	leader, err := p.seen.follow(ctx, lease, before, "")
	if isLate(err) {
		return figures{started: []float64{never}, first: p.ifCoordinated(never)}, nil
	}
	if err != nil {
		return figures{}, err
	}
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	f := figures{started: []float64{between(p.seen.started[member+"/"+string(component)], leader.began)}}
	if p.coordinated {
		candidate, known := p.seen.candidates[leader.holder]
		if !known {
			return figures{}, fmt.Errorf("%s leads by %s, and was never seen to be a candidate", leader.holder, lease)
		}
		f.first = []float64{between(candidate.seen, leader.began)}
	}
	return f, nil
}

// ifCoordinated is a figure that there is only where a coordinator elects.
func (p *plane) ifCoordinated(v float64) []float64 {
	if !p.coordinated {
		return nil
	}
	return []float64{v}
}

// outdated is older than all that there is.
const outdated = "1.0.0"

// preempt starts a candidate of an older version than all controller managers, waits until it
// leads, and stops it.
func (p *plane) preempt(ctx context.Context, n int) (figures, error) {
	if _, _, err := p.whole(ctx); err != nil {
		return figures{}, err
	}
	if err := p.pause(ctx, p.random); err != nil {
		return figures{}, err
	}
	through := p.members()[p.random.IntN(len(p.members()))]
	name := fmt.Sprintf("bench-older-%d", n)
	before := time.Now()
	older, err := p.stand.begin(ctx, p.configs[through], place{lease: managerLease, name: name, version: outdated, timing: p.timing})
	if err != nil {
		return figures{}, err
	}
	took, err := p.taken(ctx, managerLease, name, before)
	older.leave()
	if err != nil {
		return figures{}, err
	}
	if err := p.dismiss(ctx, p.Member, name); err != nil {
		return figures{}, err
	}
	if _, _, err := p.whole(ctx); err != nil {
		return figures{}, err
	}
	return figures{preempted: []float64{took}}, p.tidy(ctx)
}

// taken is how long it takes from when a candidate is seen until it leads.
func (p *plane) taken(ctx context.Context, lease, name string, before time.Time) (float64, error) {
	stood, err := p.seen.stood(ctx, name)
	if err != nil {
		return 0, err
	}
	var began time.Time
	err = p.seen.until(ctx, name+" led by "+lease, electionBound, func() bool {
		r := p.seen.tales[lease].now()
		if r == nil || r.holder != name || !r.began.After(before) {
			return false
		}
		began = r.began
		return true
	})
	if isLate(err) {
		return never, nil
	}
	return between(stood, began), err
}

// crash kills the leading controller manager, and starts it again when there is another
// leader.
func (p *plane) crash(ctx context.Context) (figures, error) {
	member, leader, err := p.atRandom(ctx)
	if err != nil {
		return figures{}, err
	}
	at := time.Now()
	if err := p.Kill(ctx, member, cluster.ControllerManager); err != nil {
		return figures{}, err
	}
	f, err := p.replaced(ctx, managerLease, leader.holder, at)
	if err != nil {
		return figures{}, err
	}
	if err := p.evidence(ctx, &f, leader.holder, at); err != nil {
		return figures{}, err
	}
	if err := p.StartComponent(ctx, member, cluster.ControllerManager); err != nil {
		return figures{}, err
	}
	if _, _, err := p.whole(ctx); err != nil {
		return figures{}, err
	}
	return f, p.tidy(ctx)
}

// replaced waits until an instance other than the crashed one leads.
func (p *plane) replaced(ctx context.Context, lease, crashed string, at time.Time) (figures, error) {
	next, err := p.seen.follow(ctx, lease, at, crashed)
	if isLate(err) {
		return figures{crashed: []float64{never}, expired: []float64{never}}, nil
	}
	if err != nil {
		return figures{}, err
	}
	old, known := p.seen.last(lease, crashed)
	if !known {
		return figures{}, fmt.Errorf("%s was never seen to hold %s", crashed, lease)
	}
	return figures{crashed: []float64{between(at, next.began)}, expired: []float64{between(old.expires, next.began)}}, nil
}

// evidence adds when another instance acted, where the crashed leader had left evidence of
// acting.
func (p *plane) evidence(ctx context.Context, f *figures, crashed string, at time.Time) error {
	p.seen.mu.Lock()
	leaves := slices.ContainsFunc(p.seen.actions, func(a action) bool { return a.lease == managerLease && a.holder == crashed })
	p.seen.mu.Unlock()
	if !leaves {
		return nil
	}
	var acted time.Time
	err := p.seen.until(ctx, "another instance acted", electionBound, func() (ok bool) {
		acted, ok = p.seen.acted(managerLease, at, crashed)
		return ok
	})
	switch {
	case isLate(err):
		f.acted = []float64{never}
	case err != nil:
		return err
	default:
		f.acted = []float64{between(at, acted)}
	}
	return nil
}

// managers measures the controller managers themselves.
func (p *plane) managers(ctx context.Context, times int) (figures, error) {
	var all figures
	for n := range times {
		bench.Progress("%s: controller managers, %d of %d", p.Title, n+1, times)
		for _, do := range []func() (figures, error){
			func() (figures, error) { return p.restage(ctx, cluster.ControllerManager, managerLease) },
			func() (figures, error) {
				if !p.coordinated {
					return figures{}, nil
				}
				return p.preempt(ctx, n)
			},
			func() (figures, error) { return p.crash(ctx) },
		} {
			f, err := do()
			if err != nil {
				return all, err
			}
			all.add(f)
		}
	}
	return all, nil
}
