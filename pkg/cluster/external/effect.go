package external

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// The exit status of a hook says that it has ended, and not that it has done what it was
// asked to. What it was asked to do has to show at the API server: after pause it leaves
// requests without an answer, after resume it answers, after reconnect it is ready. What
// cutOff does is looked at by the witness of the fault, since a member that is cut off may
// answer the harness still.

// bounds of looking at what hooks have done; tests shorten them.
type bounds struct {
	// effect is how long what a hook did may take to show, and silence for how long an API
	// server that is paused must leave a request without an answer.
	effect, silence time.Duration
}

// usualBounds are those of every run.
var usualBounds = bounds{effect: effectBound, silence: silenceBound}

// awaitSilence returns when a request to the member's API server stays without an answer.
func (m *member) awaitSilence(ctx context.Context, hook string) error {
	within := m.cluster.bounds
	ctx, cancel := context.WithTimeout(ctx, within.effect)
	defer cancel()
	for {
		asking, done := context.WithTimeout(ctx, within.silence)
		err := m.asker.alive(asking)
		done()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil
		}
		if m.soon(ctx) {
			continue
		}
		if !cluster.TimedOut(ctx) {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%s has ended, and the API server still answers %s later: it has not done what it was asked to", m.cluster.actor(hook), within.effect)
	}
}

// awaitShown returns when the member's API server shows by the question that a hook has
// taken effect, such as asker.alive. A server that refuses connections has gone, which no
// hook that takes something back does: that is told as what it is.
func (m *member) awaitShown(ctx context.Context, hook string, question func(context.Context) error) error {
	began := time.Now()
	within := m.cluster.bounds
	ctx, cancel := context.WithTimeout(ctx, within.effect)
	defer cancel()
	for {
		err := question(ctx)
		if err == nil {
			return nil
		}
		if m.soon(ctx) {
			continue
		}
		if !cluster.TimedOut(ctx) {
			return context.Cause(ctx)
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			return &cluster.Unready{Member: m.name, Component: cluster.APIServer, Waited: time.Since(began), Bound: within.effect,
				What: fmt.Sprintf("refuses connections %s after %s has ended", within.effect, m.cluster.actor(hook))}
		}
		return fmt.Errorf("%s has ended, and %s later the API server shows nothing of it: %w; either it has not done what it was asked to, or the API server does not recover", m.cluster.actor(hook), within.effect, err)
	}
}

// soon waits until it is worth asking again; it is false if the context ends before.
func (m *member) soon(ctx context.Context) bool {
	timer := time.NewTimer(readyPoll)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// alive is nil if the server answers, whatever it says.
func (a asker) alive(ctx context.Context) error {
	err := a.get(ctx, "/livez/ping", discard)
	var refused *refusal
	if errors.As(err, &refused) {
		return nil
	}
	return err
}
