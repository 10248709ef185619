package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// electedKeys are where API servers keep the Leases of the namespace kube-system.
const electedKeys = keysPrefix + "leases/kube-system/"

// whenProblem says what is wrong with the trigger of a step.
func (s *Step) whenProblem(known *names) error {
	if s.When == nil {
		if slices.Contains(selectorsOf(s.Action), selectTriggered) {
			return fmt.Errorf("is missing, and %s is the member that meets it", selectTriggered)
		}
		return nil
	}
	err := s.When.validate()
	if s.When.Migrated != nil {
		err = errors.Join(err, known.need("migration", s.When.Migrated.Migration))
	}
	return err
}

// checkTrigger refuses a trigger that the cluster does not show.
func (r *Runner) checkTrigger(when *Trigger) error {
	if when == nil {
		return nil
	}
	if when.Member != nil {
		_, err := r.selectable([]string{when.Member.Name})
		return err
	}
	if why := r.lacks(cluster.MeansEtcd); why != "" {
		return fmt.Errorf("it is seen in etcd, and %s", why)
	}
	return nil
}

// addTriggers has the triggers of all steps evaluated on what is recorded from now on.
func (r *Runner) addTriggers() {
	r.armed = map[int]*armed{}
	for i := range r.Scenario.Steps {
		if state := r.triggerState(r.Scenario.Steps[i].When); state != nil {
			r.armed[i+1] = r.triggers.add(state)
		}
	}
	if len(r.armed) > 0 {
		r.History = hearing{r.History, &r.triggers}
	}
}

// triggerState is what follows the history for a trigger; nil for one that is asked for.
func (r *Runner) triggerState(when *Trigger) triggerState {
	switch {
	case when == nil || when.Migrated != nil:
		return nil
	case when.Write != nil:
		return &writes{WriteTrigger: when.Write, before: map[string]*history.Stored{}}
	case when.Elected != "":
		return &elections{key: electedKeys + when.Elected}
	case when.Exists != "":
		return &existence{key: when.Exists, there: map[string]bool{}}
	}
	members, err := r.selectable([]string{when.Member.Name})
	if err != nil {
		return nil // checkTrigger refuses it
	}
	return &phases{member: members[0], component: when.Member.component(), wanted: when.Member.Phase}
}

// armNext has the trigger of the step after the index count from now on.
func (r *Runner) armNext(index int) {
	if one := r.armed[index+1]; one != nil {
		r.triggers.arm(one)
	}
}

// trigger waits until the trigger of a step is met. met is false where it was not, which is
// recorded, and the step is to be left out.
func (r *Runner) trigger(ctx context.Context, index int, step *Step) (met bool, err error) {
	r.at.why, r.at.triggered = "", ""
	defer r.armNext(index)
	if step.When == nil {
		return true, nil
	}
	since := r.History.Now()
	bounded, cancel := context.WithTimeoutCause(ctx, step.When.bound(), errNotTriggered)
	defer cancel()
	if step.When.Migrated != nil {
		err = r.awaitMigrated(bounded, step.When)
	} else {
		err = r.awaitTriggered(bounded, index)
	}
	switch {
	case err == nil:
		r.at.why = "when: " + step.When.sentence()
		return true, nil
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case !errors.Is(err, errNotTriggered):
		return false, fmt.Errorf("step %d (%s): when: %w", index, step.Name(), err)
	}
	late := &unreached{since: since, NotReached: history.NotReached{
		Awaited: history.AwaitedState, Bound: int64(step.When.bound()), Judged: step.When.Optional,
		Message: step.When.sentence() + " was not seen",
	}}
	r.tell(index, step.Name(), late)
	r.report(index, step.Name(), "", "", history.PhaseSkipped, fmt.Sprintf("%s within %s", late.Message, step.When.bound()))
	r.passedOver = true
	return false, nil
}

// awaitTriggered waits for what follows from the history.
func (r *Runner) awaitTriggered(ctx context.Context, index int) error {
	one := r.armed[index]
	select {
	case <-one.met:
		r.at.triggered, _ = r.memberFor(one.who)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// memberFor finds a member by its name, its host, or the identity of a component on its host.
func (r *Runner) memberFor(who string) (string, bool) {
	if slices.Contains(r.members(), who) {
		return who, true
	}
	return memberOf(who, r.cluster.Members())
}

// awaitMigrated waits for a share of a migration.
func (r *Runner) awaitMigrated(ctx context.Context, when *Trigger) error {
	m := r.migrated[when.Migrated.Migration]
	if m == nil {
		return fmt.Errorf("nothing was migrated under the name %s", when.Migrated.Migration)
	}
	part, err := share(when.Migrated.Share)
	if err != nil {
		return err
	}
	for {
		there, ended := r.shared(ctx, m, part)
		if there {
			return nil
		}
		if ended {
			return errNotTriggered
		}
		if err := r.wait(ctx, MigrationLook); err != nil {
			return err
		}
	}
}

// errNotTriggered: the state that a trigger waits for did not come about.
var errNotTriggered = errors.New("the state was not seen")
