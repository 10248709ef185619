package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// stopAll has the leading controller managers of each column stop in order, and writes what
// came of it after each column, beside what was measured of others before.
func stopAll(ctx context.Context, o options) error {
	columns, err := stopColumnsOf(ctx, strings.Fields(o.planes))
	if err != nil {
		return err
	}
	file := strings.TrimSuffix(o.report, filepath.Ext(o.report)) + ".yaml"
	for _, c := range columns {
		row, err := measureStops(ctx, c, o)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if o.report == "" {
			_, _ = fmt.Fprint(os.Stdout, (&stopRecord{[]stopRow{row}}).markdown())
			continue
		}
		// Another part of the measurement may have written meanwhile.
		record, err := loadStops(file)
		if err != nil {
			return err
		}
		record.replace(row)
		if err := record.save(file); err != nil {
			return err
		}
		if err := bench.WriteFile(o.report, record.markdown()); err != nil {
			return err
		}
	}
	return nil
}

func measureStops(ctx context.Context, c column, o options) (stopRow, error) {
	row := stopRow{
		Name: c.name, Title: c.Title, Releases: c.releases(), Coordinated: c.coordinated,
		Lease: c.timing.lease, Deadline: c.timing.deadline, Retry: c.timing.retry,
		Date: time.Now().UTC().Format(time.DateOnly), Machine: bench.Machine(),
	}
	bench.Progress("%s: up", c.name)
	p, down, err := up(ctx, c, o.seed)
	if err != nil {
		return row, err
	}
	defer down()
	probing, err := p.probe(ctx)
	if err != nil {
		return row, err
	}
	defer probing()
	if _, _, err := p.whole(ctx); err != nil {
		return row, err
	}
	processors, err := bench.WatchProcessors()
	if err != nil {
		return row, err
	}
	for n := range o.stops {
		one, err := p.stopLeader(ctx)
		if err != nil {
			return row, fmt.Errorf("stop %d: %w", n+1, err)
		}
		row.Stops = append(row.Stops, one)
		bench.Progress("%s: %d of %d: %.2f s without a leader, %.2f s beside the next one, acted %.2f s too long", c.name, n+1, o.stops, one.Leaderless, one.Beside, one.Overlap)
	}
	row.Busy, _, err = processors.Shares()
	row.Busy = rounded(row.Busy)
	return row, err
}

// stopLeader sends the leading controller manager SIGTERM, waits until another one acts as the
// leader, and starts the former one again.
func (p *plane) stopLeader(ctx context.Context) (stop, error) {
	member, leader, err := p.atRandom(ctx)
	if err != nil {
		return stop{}, err
	}
	if err := p.actsNow(ctx, member); err != nil {
		return stop{}, err
	}
	at := time.Now()
	if err := p.StopComponent(ctx, member, cluster.ControllerManager); err != nil {
		return stop{}, err
	}
	one, err := p.succeeded(ctx, member, leader.holder, at)
	if err != nil {
		return stop{}, err
	}
	if err := p.StartComponent(ctx, member, cluster.ControllerManager); err != nil {
		return stop{}, err
	}
	return one, p.tidy(ctx)
}

// actsNow waits until a member's controller manager acts, so that its last action is seen.
func (p *plane) actsNow(ctx context.Context, member string) error {
	after := time.Now()
	return p.seen.until(ctx, "the leader on "+member+" acted", wholeBound, func() bool {
		for _, a := range p.seen.actions {
			if a.lease == managerLease && a.at.After(after) && p.actor(a) == member {
				return true
			}
		}
		return false
	})
}

// succeeded waits until another instance leads and acts, and tells how that went.
func (p *plane) succeeded(ctx context.Context, member, former string, at time.Time) (stop, error) {
	next, err := p.seen.follow(ctx, managerLease, at, former)
	if err != nil && !isLate(err) {
		return stop{}, err
	}
	late := isLate(err)
	if !late {
		err = p.seen.until(ctx, "another instance acted", electionBound, func() bool { return p.firstAct(member, at) != nil })
		if err != nil && !isLate(err) {
			return stop{}, err
		}
	}
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	ended := p.seen.ended[member+"/"+string(cluster.ControllerManager)]
	if !ended.After(at) {
		return stop{}, fmt.Errorf("the controller manager of %s did not end", member)
	}
	one := stop{Exit: rounded(between(at, ended)), Leaderless: never, Idle: never}
	if late {
		return one, nil
	}
	led := ended
	if left := p.seen.tales[managerLease].left(former); left.After(at) && left.Before(ended) {
		led = left
	}
	one.Leaderless = rounded(max(between(led, next.began), 0))
	one.Beside = rounded(max(between(next.began, ended), 0))
	one.acts(p.lastAct(member), p.firstAct(member, at))
	return one, nil
}

// acts tells for how long both or none acted. There is an action of the former leader, since
// the stop waited for one.
func (s *stop) acts(last, first *action) {
	switch {
	case first == nil:
	case last.revision > first.revision:
		s.Idle, s.Overlap = 0, rounded(max(between(first.at, last.at), 0))
	default:
		s.Idle = rounded(max(between(last.at, first.at), 0))
	}
}

// actor is the member whose controller manager acted; empty if it is none's.
func (p *plane) actor(a action) string { return p.memberOf(a.holder + "_") }

// firstAct is the first action of another member after a moment, and lastAct the last one of
// a member; nil if there is none. The caller holds the observer's lock.
func (p *plane) firstAct(not string, after time.Time) *action {
	for i, a := range p.seen.actions {
		if a.lease == managerLease && a.at.After(after) && p.actor(a) != not {
			return &p.seen.actions[i]
		}
	}
	return nil
}

func (p *plane) lastAct(member string) *action {
	for i := len(p.seen.actions) - 1; i >= 0; i-- {
		if a := &p.seen.actions[i]; a.lease == managerLease && p.actor(*a) == member {
			return a
		}
	}
	return nil
}
