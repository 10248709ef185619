package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/interrupt"
)

// playAll plays the steps in order. One that the control plane keeps from its end is
// recorded as failed with what was not reached, and the next one is played; an error is
// what has spoiled the run.
func (r *Runner) playAll(ctx context.Context) error {
	for i := range r.Scenario.Steps {
		index := i + 1
		if r.leaveOut(index) {
			r.armNext(index)
			continue
		}
		action := r.Scenario.Steps[i].Name()
		if why := cmp.Or(r.ended, r.lacking(r.Scenario.Steps[i].Action)); why != "" {
			r.report(index, action, "", "", history.PhaseSkipped, why)
			r.armNext(index)
			continue
		}
		began, before := r.Clock.Now(), r.injected()
		err := r.play(ctx, index, &r.Scenario.Steps[i])
		if err == nil {
			continue
		}
		if err = r.goOn(ctx, index, action, err); err != nil {
			return err
		}
		if err := r.takeBack(ctx, index, action, before); err != nil {
			return err
		}
		r.vain += r.Clock.Since(began)
		if err := r.weigh(ctx, index, action); err != nil {
			return err
		}
	}
	return nil
}

// goOn records what a step has waited for in vain. The error is given back where it
// tells of anything but the control plane, or the run was interrupted.
func (r *Runner) goOn(ctx context.Context, index int, action string, err error) error {
	if err == nil {
		return nil
	}
	found, spoilt := r.partedCauses(err)
	if ctx.Err() == nil {
		for _, one := range found {
			r.tell(index, action, one)
		}
	}
	if ctx.Err() != nil || len(spoilt) > 0 || len(found) == 0 {
		return err
	}
	return nil
}

// tell records that something was not reached.
func (r *Runner) tell(index int, action string, one *unreached) {
	what := one.NotReached
	what.Step, what.Action, what.Message = index, action, oneLine(r.plain(one.Message))
	r.History.Record(history.Event{Kind: history.KindNotReached, Member: one.member, From: one.since, NotReached: &what})
	if what.Awaited == history.AwaitedReady && what.Component == history.ComponentAPIServer {
		r.recorders.giveUp(one.member)
	}
	if !what.Judged {
		r.unreached = append(r.unreached, what.Sentence(one.member))
	}
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "; ") }

// passOver records that something was not reached in time which requirements of their
// own judge, so that the step goes on.
func (r *Runner) passOver(ctx context.Context, since int64, bound time.Duration, awaited, member, format string, args ...any) {
	if ctx.Err() != nil {
		return
	}
	r.tell(r.at.index, r.at.action, &unreached{member: member, since: since, NotReached: history.NotReached{
		Awaited: awaited, Bound: int64(bound), Judged: true, Message: fmt.Sprintf(format, args...) + " within " + bound.String(),
	}})
}

// injected is how many faults of inject steps there are, by file.
func (r *Runner) injected() map[string]int {
	counts := map[string]int{}
	for file, active := range r.active {
		counts[file] = len(active)
	}
	return counts
}

// takeBack heals what a step has injected that did not come to its end: the steps after
// it are to be played without that.
func (r *Runner) takeBack(ctx context.Context, index int, action string, before map[string]int) error {
	var errs []error
	for _, file := range slices.Sorted(maps.Keys(r.active)) {
		active := r.active[file]
		kept := min(before[file], len(active))
		r.active[file] = active[:kept]
		errs = append(errs, r.healLeft(ctx, active[kept:]))
	}
	return r.goOn(ctx, index, action, errors.Join(errs...))
}

// healLeft heals faults after what they were for has failed, and records that. Where the
// run is being given up, nothing is recorded or waited for.
func (r *Runner) healLeft(ctx context.Context, faults []*fault.Active) error {
	if ctx.Err() != nil && !cluster.TimedOut(ctx) {
		orderly, leave := interrupt.Shelter(ctx)
		defer leave()
		undo, cancel := context.WithTimeout(orderly, r.undoTimeout())
		defer cancel()
		var errs []error
		for _, one := range faults {
			errs = append(errs, one.Undo(undo))
		}
		return errors.Join(errs...)
	}
	orderly, leave := interrupt.Shelter(ctx)
	defer leave()
	heal, cancel := r.within(orderly, r.bound("heal"), history.AwaitedEnd, "", "healing was not over")
	defer cancel()
	return healAll(heal, faults)
}

// weigh ends the run early where playing on is in vain: no member serves, or the steps
// have waited for too long. Both are findings about the control plane.
func (r *Runner) weigh(ctx context.Context, index int, action string) error {
	since := r.History.Now()
	if r.recorders.silent() {
		bounded, cancel := r.within(ctx, ServiceTimeout, history.AwaitedService, "", "no member served")
		defer cancel()
		for r.recorders.silent() {
			if r.wait(bounded, SettleLook) == nil {
				continue
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			none := &unreached{since: since, NotReached: history.NotReached{Awaited: history.AwaitedService, Bound: int64(ServiceTimeout),
				Message: fmt.Sprintf("no member has served for %s", ServiceTimeout)}}
			r.tell(index, action, none)
			r.ended = none.Message
			return nil
		}
	}
	if r.vain > VainTimeout {
		late := &unreached{NotReached: history.NotReached{Awaited: history.AwaitedEnd, Bound: int64(VainTimeout),
			Message: fmt.Sprintf("the steps that failed have taken %s, and may take %s altogether", r.vain.Round(time.Second), VainTimeout)}}
		r.tell(index, action, late)
		r.ended = late.Message
	}
	return nil
}

// lacking is what a step needs and an earlier one has not made, because of the control
// plane; empty if nothing is missing. Where nothing has failed before, what is missing
// is a mistake of the scenario, of which the step itself complains.
func (r *Runner) lacking(a Action) string {
	if one, ok := a.(needing); ok && (len(r.unreached) > 0 || r.passedOver) {
		return one.lacking(r)
	}
	return ""
}

// lacking says that an earlier step has not made something; empty if it has.
func lacking(what, name string, there bool) string {
	if name == "" || there {
		return ""
	}
	return fmt.Sprintf("an earlier step did not come to make the %s %s", what, name)
}

// End is the end event of a history whose run ended with the error.
func (r *Runner) End(err error) history.End {
	if err != nil {
		return history.End{Message: oneLine(err.Error()), NotReached: r.unreached}
	}
	return history.End{Complete: true, Message: r.ended, NotReached: r.unreached}
}
