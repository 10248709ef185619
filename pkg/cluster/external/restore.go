package external

import (
	"context"
	"fmt"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/oneline"
	"github.com/evenkeel/evenkeel/pkg/interrupt"
)

// Stop implements cluster.Cluster: the cluster stays, and what hooks have done to it
// and others can take back is taken back, at all members at the same time. It goes on after
// ctx has ended, but not after a second signal; what it could not take back it names.
func (c *external) Stop(ctx context.Context) error {
	c.stopping.Lock()
	defer c.stopping.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped = true
	ctx, cancel := interrupt.Shelter(ctx)
	defer cancel()
	problems := make([]error, len(c.members))
	var restoring sync.WaitGroup
	for i, m := range c.members {
		restoring.Go(func() { problems[i] = c.restore(ctx, m) })
	}
	restoring.Wait()
	c.endLife()
	c.watching.Wait()
	return oneline.Join(problems...)
}

// undo is what takes back something that hooks have done to a member.
type undo struct {
	task
	do func(context.Context) error
}

// restore takes back what lasts of what hooks have done to a member.
func (c *external) restore(ctx context.Context, m *member) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	problems := []error{c.leave(ctx, m)}
	for _, one := range c.outstanding(m) {
		if err := one.do(ctx); err != nil {
			problems = append(problems, fmt.Errorf("member %s was not left as it was found: %w; %s", m.name, err, c.byHand(m, one.task)))
		}
	}
	return oneline.Join(problems...)
}

// outstanding is what has to be taken back at a member.
func (c *external) outstanding(m *member) (todo []undo) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cut && !c.byAgent(cluster.HookReconnect) {
		todo = append(todo, undo{task{hook: cluster.HookReconnect}, func(ctx context.Context) error { return c.reconnect(ctx, m) }})
	}
	for component := range m.paused {
		todo = append(todo, undo{task{hook: cluster.HookResume, component: scope(component)}, func(ctx context.Context) error { return c.resume(ctx, m, component) }})
	}
	// What was to be ended may run all the same, so that any process that is ready will do.
	start := func(hook string) undo {
		return undo{task{hook: hook}, func(ctx context.Context) error {
			if err := c.call(ctx, m, task{hook: hook}); err != nil {
				return err
			}
			late := fmt.Errorf("it was not ready within %s", readyBound)
			ctx, cancel := context.WithTimeoutCause(ctx, readyBound, late)
			defer cancel()
			return m.awaitReady(ctx)
		}}
	}
	switch {
	case m.off:
		todo = append(todo, start(cluster.HookPowerOn))
	case m.ended && !c.byAgent(cluster.HookStart) && c.Lacks(cluster.HookStart) == "":
		todo = append(todo, start(cluster.HookStart))
	}
	return todo
}
