package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// unreached is the error of a step that has waited for the control plane in vain. It is
// also the cause of a context that bounds such a wait, so that whatever the end of the
// context interrupts gives it as its reason.
type unreached struct {
	history.NotReached
	member string
	// since is when the wait began, in the time of the history; 0 if there was none.
	since int64
}

func (u *unreached) Error() string { return u.Message }

// within bounds a wait for the control plane, at a member if that is a single one. The
// text says what does not come about if the bound passes.
func (r *Runner) within(ctx context.Context, bound time.Duration, awaited, member, format string, args ...any) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, bound, &unreached{
		NotReached: history.NotReached{Awaited: awaited, Bound: int64(bound), Message: fmt.Sprintf(format, args...) + " within " + bound.String()},
		member:     member, since: r.History.Now(),
	})
}

// notThere is the error of a step that found the control plane in another state than it
// must be in.
func notThere(member, format string, args ...any) error {
	return &unreached{NotReached: history.NotReached{Awaited: history.AwaitedState, Message: fmt.Sprintf(format, args...)}, member: member}
}

// refused is the error of a request that an API server did not do.
func refused(call observe.Call, member string, answer observe.Answer) error {
	what := fmt.Sprintf("%s %s %s", call.Verb, call.Resource, call.Name)
	return unanswered(&observe.Refusal{What: what, Member: member, Answer: answer})
}

func unanswered(refusal *observe.Refusal) *unreached {
	return &unreached{
		NotReached: history.NotReached{Awaited: history.AwaitedAnswer, Component: history.ComponentAPIServer, Code: refusal.Answer.Code, Message: refusal.Error()},
		member:     refusal.Member,
	}
}

// partedCauses tells what an error says of the control plane from what it says of anything
// else, which has spoiled the run. Of causes that are wrapped, the innermost count.
func (r *Runner) partedCauses(err error) (found []*unreached, spoilt []error) {
	var walk func(err error)
	walk = func(err error) {
		switch one := err.(type) { //nolint:errorlint // It unwraps each cause by itself, since one error can have several.
		case nil:
			return
		case *unreached:
			found = append(found, one)
			return
		case *cluster.Unready:
			found = append(found, r.unready(one))
			return
		case *observe.Refusal:
			found = append(found, unanswered(one))
			return
		case apierrors.APIStatus:
			found = append(found, &unreached{NotReached: history.NotReached{Awaited: history.AwaitedAnswer,
				Component: history.ComponentAPIServer, Code: int(one.Status().Code), Message: err.Error()}})
			return
		case interface{ Unwrap() []error }:
			for _, each := range one.Unwrap() {
				walk(each)
			}
			return
		}
		if inner := errors.Unwrap(err); inner != nil {
			walk(inner)
			return
		}
		if lost := r.lives.lost(); errors.Is(err, cluster.ErrNoProcess) && lost != nil {
			found = append(found, lost)
			return
		}
		if !errors.Is(err, context.DeadlineExceeded) { // what was waited for, its cause says
			spoilt = append(spoilt, err)
		}
	}
	walk(err)
	return distinct(found), spoilt
}

// distinct leaves out what is said twice, and that a step took too long where what it
// has waited for is known.
func distinct(found []*unreached) (out []*unreached) {
	said := map[string]bool{}
	for _, one := range found {
		key := strings.Join([]string{one.Awaited, one.member, one.Component, one.Message}, "\x00")
		if said[key] || one.Awaited == history.AwaitedEnd && anyOther(found) {
			continue
		}
		said[key] = true
		out = append(out, one)
	}
	return out
}

func anyOther(found []*unreached) bool {
	for _, one := range found {
		if one.Awaited != history.AwaitedEnd {
			return true
		}
	}
	return false
}

func (r *Runner) unready(u *cluster.Unready) *unreached {
	return &unreached{
		NotReached: history.NotReached{Awaited: history.AwaitedReady, Component: string(u.Component), Bound: int64(u.Bound), Code: u.Code, Failing: u.Failing, Message: u.Error()},
		member:     u.Member, since: max(0, r.History.Now()-int64(u.Waited)),
	}
}

// blames is whether an error tells of the control plane and of nothing else, while the
// run itself goes on.
func (r *Runner) blames(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	found, spoilt := r.partedCauses(err)
	return len(found) > 0 && len(spoilt) == 0
}
