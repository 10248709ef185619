package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Options of playing a campaign.
type Options struct {
	// Dir is the folder of the campaign.
	Dir    string
	Player Player
	Clock  clock.WithTicker
	// View is told how the campaign goes.
	View View
	// Parallel is how many runs are played at a time, or Auto; with 0 a resumed campaign plays
	// as many as before, and a new one plays one.
	Parallel int
	// CPUs of the machine, for Auto; with 0 those that this process may use.
	CPUs int
	// Idle tells how much time the CPUs had nothing to do, for Auto; nil where nothing tells.
	Idle Idle
	// Turns gives the turns of a topology's cluster; nil, or what is nil, where no other
	// campaign uses it. Runs on a cluster with turns are played one at a time.
	Turns func(topology string) (Turn, error)
	// Topology is the file of the topology, where it is another one than the plan names, as in
	// a Pod. Its content has to be the same.
	Topology string
	// Shard to play. A resumed campaign keeps its own.
	Shard Shard
}

// topology is the file that runs are given.
func (o Options) topology(p *Plan) string { return cmp.Or(o.Topology, p.Target.Topology) }

// campaign is one that is being played.
type campaign struct {
	Options
	*folder
	journal *Journal
	pace    *pace
	turn    Turn
	// mu guards state and outcomes of the folder.
	mu sync.Mutex
}

// Begin writes the plan into a new folder and plays it. It returns the report, which is also
// in the folder; nil for a shard, of which `collect` makes a report together with the others.
func Begin(ctx context.Context, plan *Plan, o Options) (*Report, error) {
	raw, err := plan.YAML()
	if err != nil {
		return nil, err
	}
	if err := plan.validate(); err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(o.Dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("the folder %s is not empty: go on with `evenkeel conformance resume %s`, or name another one with --out", o.Dir, o.Dir)
	}
	if err := os.MkdirAll(filepath.Join(o.Dir, RunsDir), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the campaign: %w", err)
	}
	if err := writeWhole(filepath.Join(o.Dir, PlanFile), raw); err != nil {
		return nil, fmt.Errorf("write the plan: %w", err)
	}
	return open(ctx, o)
}

// Resume goes on with a campaign that was interrupted, and plays what is missing.
func Resume(ctx context.Context, o Options) (*Report, error) {
	if !exists(filepath.Join(o.Dir, PlanFile)) {
		return nil, fmt.Errorf("%s has no %s: name the folder of a campaign, which `evenkeel conformance run --out` made", o.Dir, PlanFile)
	}
	return open(ctx, o)
}

func open(ctx context.Context, o Options) (report *Report, err error) {
	f, err := openPlan(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.plan.current(), f.plan.sameTopology(o.topology(f.plan))); err != nil {
		return nil, err
	}
	c := &campaign{Options: o, folder: f}
	journal, entries, err := openJournal(o.Dir)
	if err != nil {
		return nil, err
	}
	c.journal = journal
	defer func() { err = errors.Join(err, journal.Close()) }()
	if len(entries) == 0 {
		begun := Begun{Plan: c.planDigest, Shard: o.Shard.String(), Parallel: orOne(o.Parallel)}
		if err := journal.Append(Entry{Begun: &begun}); err != nil {
			return nil, err
		}
		entries = []Entry{{Begun: &begun}}
	}
	if err := c.follow(entries); err != nil {
		return nil, err
	}
	if o.Shard.Of > 0 && o.Shard != c.shard {
		return nil, fmt.Errorf("the campaign in %s plays the shard %q, and not %s", o.Dir, c.shard, o.Shard)
	}
	if o.Turns != nil {
		if c.turn, err = o.Turns(o.topology(f.plan)); err != nil {
			return nil, err
		}
	}
	parallel := orOne(cmp.Or(o.Parallel, c.state.begun.Parallel))
	if c.turn != nil {
		parallel = 1
	}
	c.pace = newPace(parallel, cmp.Or(o.CPUs, runtime.GOMAXPROCS(0)))
	return c.play(ctx)
}

// orOne is a number of runs at a time where none was named.
func orOne(parallel int) int {
	if parallel == Auto {
		return Auto
	}
	return max(parallel, 1)
}

// play settles what an earlier process has left, plays what is missing and reports.
func (c *campaign) play(ctx context.Context) (*Report, error) {
	if err := c.settle(ctx); err != nil {
		return nil, err
	}
	c.View.Begin(c.progress())
	watching, over := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { c.watch(watching) })
	err := c.playLines(ctx)
	over()
	watch.Wait()
	c.View.End()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		done, of := c.progress().count()
		return nil, fmt.Errorf("interrupted after %d of %d runs: `evenkeel conformance resume %s` goes on", done, of, c.dir)
	}
	if c.shard.Of > 0 {
		return nil, nil
	}
	return c.report()
}

// playLines plays all lines that are missing, so many at a time.
func (c *campaign) playLines(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, line := range c.plan.Lines {
		if !c.shard.has(line.Number) || c.lineOver(line) {
			continue
		}
		age, err := c.pace.begin(ctx)
		if err != nil {
			break // interrupted, or one of the others has failed
		}
		group.Go(func() error { return c.playLine(ctx, line, age) })
	}
	return group.Wait()
}

// playLine plays a line until it is conclusive or was tried often enough. Its first try may be
// played already; each other one waits for its turn, so that fewer are played at a time after
// one was starved.
func (c *campaign) playLine(ctx context.Context, line Line, age int) error {
	for {
		err := c.playTry(ctx, line, age)
		c.pace.end()
		if err != nil || ctx.Err() != nil || c.lineOver(line) {
			return err
		}
		if age, err = c.pace.begin(ctx); err != nil {
			return nil // interrupted
		}
	}
}

func (c *campaign) playTry(ctx context.Context, line Line, age int) error {
	if ctx.Err() != nil {
		return nil
	}
	if c.turn != nil {
		held, give, err := c.turn.Take(ctx)
		switch {
		case ctx.Err() != nil:
			return nil // interrupted while it waited
		case err != nil:
			return err
		}
		// A run that loses its turn ends, and is played again.
		defer give()
		ctx = held
	}
	s := c.next(line)
	if err := c.journal.Append(Entry{Started: &s}); err != nil {
		return err
	}
	c.View.Started(line, s.Try)
	began := c.Clock.Now()
	dir := filepath.Join(c.dir, s.Bundle)
	order := Order{Args: arguments(c.plan, c.topology(c.plan), line, dir), Dir: dir, Line: line, CPUs: cluster.CPUsEach(c.pace.now(), c.pace.cpus)}
	played, err := c.Player.Play(ctx, order, func(p Process) error {
		with := s
		with.Process = &p
		return c.journal.Append(Entry{Started: &with})
	})
	if err != nil {
		return err
	}
	e, o, err := c.finish(ctx, s, &played, c.Clock.Since(began))
	if err != nil || e == nil {
		return err
	}
	// A run that left no verdict may have been starved so much that it came to none.
	if limit, changed := c.pace.learn(age, e.Failed != "" || o != nil && o.starved); changed {
		c.View.Paced(limit)
	}
	return nil
}

// finish enters what came of a run, and returns it; nothing if it has to be played again.
func (c *campaign) finish(ctx context.Context, s Started, played *Played, took time.Duration) (*Ended, *outcome, error) {
	// A run that has ended is judged also while the campaign is being interrupted.
	e, o, over := c.conclude(ctx, s, played)
	if !over {
		c.View.GivenUp(c.plan.Lines[s.Line-1])
		return nil, nil, c.discard(s)
	}
	e.Seconds = int(took.Round(time.Second).Seconds())
	if err := c.journal.Append(Entry{Ended: &e}); err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	c.state.ended[s.Line] = append(c.state.ended[s.Line], e)
	if o != nil {
		c.outcomes[e.Bundle] = o
	}
	c.mu.Unlock()
	line := c.plan.Lines[s.Line-1]
	c.View.Ended(line, e, o.told(e), !c.lineOver(line))
	return &e, o, nil
}

// discard removes what is left of a run that will be played again.
func (c *campaign) discard(s Started) error {
	dir := filepath.Join(c.dir, s.Bundle)
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+LogSuffix)); err != nil {
		return fmt.Errorf("remove what an interrupted run has left: %w", err)
	}
	return nil
}

// next names the next try of a line, and a folder that no run has used.
func (c *campaign) next(line Line) Started {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Started{Line: line.Number, Try: len(c.state.ended[line.Number]) + 1}
	s.Bundle = fmt.Sprintf("%s/%05d-%s-%d", RunsDir, line.Number, line.Scenario, s.Try)
	for c.state.folders[s.Bundle] {
		s.Bundle += "-again"
	}
	c.state.folders[s.Bundle] = true
	return s
}

// lineOver is whether nothing is left to be played of a line.
func (c *campaign) lineOver(line Line) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return over(c.plan, line, c.tries(line))
}

// report makes the report and writes it into the folder.
func (c *campaign) report() (*Report, error) {
	rep, err := c.compute()
	if err != nil {
		return nil, err
	}
	return rep, c.write(rep)
}

// writeWhole writes a file so that after a crash it is there as a whole or not at all.
func writeWhole(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
