package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Hold waits until the control plane has settled, and then lets time pass without a change
// by the harness.
type Hold struct {
	Name string        `yaml:"name"`
	For  time.Duration `yaml:"for"`
	// LeaderStableFor has the step begin only once the same controller manager has led for
	// so long and does not have to give way. Otherwise the leader could change before the
	// next step injects a fault at it.
	LeaderStableFor time.Duration `yaml:"leaderStableFor,omitempty"`
}

var _ = register("hold", func() Action { return &Hold{} }, registry.Fields{
	"name":            registry.Names(namesHold),
	"for":             registry.Between(shortestOutage, longestHold, time.Second, 5*time.Second, 20*time.Second),
	"leaderStableFor": registry.Between(time.Second, LedTimeout-time.Second, 5*time.Second, 30*time.Second),
}, anywhere)

func (s *Hold) validate() error {
	err := missing("name", s.Name)
	if s.For <= 0 {
		err = errors.Join(err, errors.New("for must be a positive duration"))
	}
	if s.LeaderStableFor < 0 || s.LeaderStableFor >= LedTimeout {
		err = errors.Join(err, fmt.Errorf("leaderStableFor must be a duration shorter than %s", LedTimeout))
	}
	return err
}
func (s *Hold) name(n *names) error                         { return n.make("hold", s.Name) }
func (s *Hold) harmless() bool                              { return true }
func (s *Hold) cost() time.Duration                         { return s.For }
func (s *Hold) play(context.Context, *Runner, target) error { return nil }
func (s *Hold) playWhole(ctx context.Context, r *Runner, index int) error {
	return r.hold(ctx, index, s)
}

// hold lets time pass and looks at everything at its end.
func (r *Runner) hold(ctx context.Context, index int, hold *Hold) error {
	const action = "hold"
	bound := r.bound(action)
	if hold.LeaderStableFor > 0 {
		bound += LedTimeout
	}
	unsettled := r.stepWithin(ctx, bound, index, action, "", "", func(ctx context.Context) error {
		if err := r.stays(ctx, hold.LeaderStableFor); err != nil {
			return err
		}
		if err := r.settle(ctx); err != nil {
			return err
		}
		return r.recordHold(ctx, hold, history.PhaseBegin)
	})
	// One that has not settled is in no state that could be held and judged as such. It is
	// looked at all the same, for what it does then.
	if unsettled != nil && !r.blames(ctx, unsettled) {
		return unsettled
	}
	err := r.wait(ctx, hold.For)
	if err == nil {
		looking, cancel := r.within(ctx, bound, history.AwaitedEnd, "", "looking at all members was not over")
		defer cancel()
		err = r.recorders.look(looking, r)
		r.recorders.compare(looking, r)
	}
	if err == nil && unsettled == nil {
		err = r.recordHold(ctx, hold, history.PhaseEnd)
	}
	if err != nil {
		err = fmt.Errorf("step %d (%s): %w", index, action, err)
	}
	return errors.Join(unsettled, err)
}

func (r *Runner) recordHold(ctx context.Context, hold *Hold, phase history.Phase) error {
	revision, err := r.catchUp(ctx)
	if err != nil {
		return err
	}
	r.History.Record(history.Event{Kind: history.KindHold, Hold: &history.Hold{
		Name: hold.Name, Phase: phase, Releases: r.releases(), Revision: revision,
	}})
	return nil
}
