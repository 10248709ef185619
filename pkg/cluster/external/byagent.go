package external

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	apiwait "k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/oneline"
)

// endByAgent ends a component, whose static Pod is taken away first, or the kubelet would
// start it again. What does not end within the grace is killed.
func (c *external) endByAgent(ctx context.Context, m *member, component cluster.Component, signal syscall.Signal, grace time.Duration) error {
	units := m.node.units
	units.Ending(component)
	if signal == syscall.SIGTERM {
		units.Stopping(component)
	}
	m.mark(func() {
		if component == cluster.APIServer {
			m.ending, m.killed = true, m.process
		}
		m.changed = true
	})
	if _, err := m.node.agent.End(ctx, component, signal, true); err != nil {
		return err
	}
	// A stopped process would sleep over the signal.
	if _, err := m.node.agent.End(ctx, component, syscall.SIGCONT, false); err != nil {
		return err
	}
	graceful, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	err := units.Await(graceful, func() bool { _, runs := units.Process(component); return !runs })
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if signal == syscall.SIGTERM {
		units.Forcing(component)
	}
	if _, err := m.node.agent.End(ctx, component, syscall.SIGKILL, true); err != nil {
		return err
	}
	return units.AwaitGone(ctx, component)
}

// startByAgent puts the static Pods of components back, in the order in which they start, and
// waits until each is ready.
func (c *external) startByAgent(ctx context.Context, m *member, components ...cluster.Component) error {
	for _, component := range components {
		m.node.units.Starting(component, c.Release(m.name))
		if err := m.node.agent.Restore(ctx, component); err != nil {
			return err
		}
		if err := m.awaitComponent(ctx, component); err != nil {
			return err
		}
		if component == cluster.APIServer {
			m.mu.Lock()
			before := m.killed
			m.mu.Unlock()
			if err := m.awaitOther(ctx, before); err != nil {
				return err
			}
			m.mark(func() { m.ending, m.ended, m.killed = false, false, cluster.Process{} })
		}
	}
	return nil
}

// stopAllByAgent ends all components, those that others ask last.
func (c *external) stopAllByAgent(ctx context.Context, m *member) error {
	order := slices.Clone(c.components)
	slices.Reverse(order)
	var problems []error
	for _, component := range order {
		problems = append(problems, c.endByAgent(ctx, m, component, syscall.SIGTERM, stopGrace))
	}
	return oneline.Join(problems...)
}

// holdByAgent has the kernel hold or let go the processes of a component, or of all.
func (c *external) holdByAgent(ctx context.Context, m *member, component cluster.Component, stopped bool) error {
	components := []cluster.Component{component}
	if component == cluster.Whole {
		components = c.components
	}
	signal := syscall.SIGCONT
	if stopped {
		signal = syscall.SIGSTOP
		m.mark(func() { m.changed = true })
	}
	seen := false
	for _, one := range components {
		process, runs := m.node.units.Process(one)
		if !runs {
			continue
		}
		seen = true
		if _, err := m.node.agent.End(ctx, one, signal, false); err != nil {
			return err
		}
		err := apiwait.PollUntilContextTimeout(ctx, lookFast, signalBound, true, func(ctx context.Context) (bool, error) {
			is, err := m.node.agent.Stopped(ctx, process)
			return is == stopped, err
		})
		if err != nil {
			return fmt.Errorf("the kernel does not show process %d of the %s as such: %w", process.PID, one, err)
		}
		m.node.units.Paused(one, process, stopped)
	}
	if !seen {
		return cluster.ErrNoProcess
	}
	return nil
}

// heldByKernel is whether the kernel holds a component, or all of the member.
func (c *external) heldByKernel(m *member, component cluster.Component) (bool, error) {
	components := []cluster.Component{component}
	if component == cluster.Whole {
		components = c.components
	}
	seen := false
	for _, one := range components {
		process, runs := m.node.units.Process(one)
		if !runs {
			continue
		}
		seen = true
		if held, err := m.node.agent.Stopped(c.life, process); !held || err != nil {
			return false, err
		}
	}
	if !seen {
		return false, cluster.ErrNoProcess
	}
	return true, nil
}

// leave has the agent take back whatever lasts of what it did, and waits until the member is
// ready again.
func (c *external) leave(ctx context.Context, m *member) error {
	if m.node == nil || !m.node.begun {
		return nil
	}
	m.node.stopRenewing()
	m.node.renewing.Wait()
	if err := m.node.agent.Leave(ctx); err != nil {
		return fmt.Errorf("%s at member %s has not confirmed that it took everything back: %w; it does so by itself when it hears nothing of the run", agentName, m.name, err)
	}
	m.mu.Lock()
	changed := m.changed
	m.mu.Unlock()
	if !changed {
		return nil
	}
	late := fmt.Errorf("it was not ready within %s", readyBound)
	ctx, cancel := context.WithTimeoutCause(ctx, readyBound, late)
	defer cancel()
	if err := m.awaitReady(ctx); err != nil {
		return fmt.Errorf("member %s was not left as it was found: %w", m.name, err)
	}
	return nil
}

// obeyed has an agent do what a hook stands for, with the same leave.
func (c *external) obeyed(hook string, do func() error) error {
	if err := c.may(hook); err != nil {
		return err
	}
	return do()
}

// What follows tells an agent's watch what a hook or a driver is about to do, so that what it
// sees is no surprise. Without an agent nothing is seen.

// expectEnd has the end of a component's processes, or of all where it is empty, be expected.
func (c *external) expectEnd(m *member, component cluster.Component) {
	if m.node == nil {
		return
	}
	for _, one := range c.components {
		if component == "" || component == one {
			m.node.units.Ending(one)
		}
	}
}

// expectRestart has every component's processes end, as often as an installer ends them, until
// expectRun; those that start meanwhile are at the release, if one is named.
func (c *external) expectRestart(m *member, release string) {
	if m.node == nil {
		return
	}
	for _, one := range c.components {
		m.node.units.Starting(one, cmp.Or(release, c.Release(m.name)))
		m.node.units.Ending(one)
	}
}

// expectRun has no end be expected any more.
func (c *external) expectRun(m *member) {
	if m.node == nil {
		return
	}
	for _, one := range c.components {
		m.node.units.Starting(one, c.Release(m.name))
	}
}

// notePaused has an agent's watch tell that what runs was paused or goes on.
func (m *member) notePaused(component cluster.Component, stopped bool) {
	if m.node == nil {
		return
	}
	if component == cluster.Whole {
		m.node.units.Frozen(stopped)
		return
	}
	if process, runs := m.node.units.Process(component); runs {
		m.node.units.Paused(component, process, stopped)
	}
}
