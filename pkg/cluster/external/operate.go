package external

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/oneline"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/interrupt"
)

// Replace implements cluster.NodeUpgrader by the hook upgrade or rollback.
func (c *external) Replace(ctx context.Context, name, release string) error {
	return c.change(name, "replace the release of", func(m *member) error {
		if !slices.Contains(c.releases, release) {
			return fmt.Errorf("there is no release %q; there are: %s", release, strings.Join(c.releases, ", "))
		}
		hook := c.way(c.Release(name), release)
		if err := c.renew(ctx, m, task{hook: hook, release: release}); err != nil {
			return err
		}
		if runs := c.Release(name); runs != release {
			return fmt.Errorf("%s has ended, and the API server says that it runs %s, not %s", c.actor(hook), runs, release)
		}
		return nil
	})
}

// renew runs a hook after which another process must answer, and be ready.
func (c *external) renew(ctx context.Context, m *member, do task) error {
	if err := c.may(do.hook); err != nil {
		return err
	}
	m.mu.Lock()
	before := m.process
	m.ending = true
	m.mu.Unlock()
	c.expectRestart(m, do.release)
	if err := c.call(ctx, m, do); err != nil {
		return err
	}
	if err := m.awaitOther(ctx, before); err != nil {
		return err
	}
	c.expectRun(m)
	m.mark(func() { m.ending, m.ended, m.off = false, false, false })
	return nil
}

// end runs a hook after which the API server must not answer any more.
func (c *external) end(ctx context.Context, m *member, do task, note func()) error {
	if err := c.may(do.hook); err != nil {
		return err
	}
	m.mu.Lock()
	runs := m.runs
	if runs {
		m.ending = true
		note() // also a hook that fails may have done it
	}
	m.mu.Unlock()
	if !runs {
		return errors.New("its API server does not run")
	}
	c.expectEnd(m, do.component)
	if err := c.call(ctx, m, do); err != nil {
		return err
	}
	if err := m.awaitGone(ctx); err != nil {
		return err
	}
	if m.node != nil && do.hook == cluster.HookPowerOff {
		m.node.units.PowerLost()
	}
	return nil
}

// StopMember implements cluster.Cluster by the hook stop, or by the agent.
func (c *external) StopMember(ctx context.Context, name string) error {
	return c.change(name, "stop", func(m *member) error {
		if c.byAgent(cluster.HookStop) {
			return c.obeyed(cluster.HookStop, func() error { return c.stopAllByAgent(ctx, m) })
		}
		return c.end(ctx, m, task{hook: cluster.HookStop}, func() { m.ended = true })
	})
}

// StartMembers implements cluster.Cluster by the hook start of each, all of them at once.
// Another release is for Replace.
func (c *external) StartMembers(ctx context.Context, releases map[string]string) error {
	errs := make([]error, 0, len(releases))
	var mu sync.Mutex
	var starting sync.WaitGroup
	for name, release := range releases {
		starting.Go(func() {
			err := c.change(name, "start", func(m *member) error {
				if runs := c.Release(name); release != runs {
					return fmt.Errorf("it cannot be started at release %s, for it has %s: %w", release, runs, cluster.ErrUnsupported)
				}
				if c.byAgent(cluster.HookStart) {
					return c.obeyed(cluster.HookStart, func() error { return c.startByAgent(ctx, m, c.components...) })
				}
				return c.renew(ctx, m, task{hook: cluster.HookStart})
			})
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	starting.Wait()
	return oneline.Join(errs...)
}

// StopComponent implements cluster.Cluster by the hook stop.
func (c *external) StopComponent(ctx context.Context, name string, component cluster.Component) error {
	return c.change(name, "stop the "+string(component)+" of", func(m *member) error {
		if err := c.visible(component); err != nil {
			return err
		}
		if c.byAgent(cluster.HookStop) {
			return c.obeyed(cluster.HookStop, func() error { return c.endByAgent(ctx, m, component, syscall.SIGTERM, stopGrace) })
		}
		if why := c.Lacks(cluster.MeansStopComponent); why != "" {
			return fmt.Errorf("%s: %w", why, cluster.ErrUnsupported)
		}
		return c.end(ctx, m, task{hook: cluster.HookStop, component: component}, func() { m.ended = true })
	})
}

// StartComponent implements cluster.Cluster by the hook start. What was killed and
// comes back by itself needs none.
func (c *external) StartComponent(ctx context.Context, name string, component cluster.Component) error {
	return c.change(name, "start the "+string(component)+" of", func(m *member) error {
		if err := c.visible(component); err != nil {
			return err
		}
		if c.byAgent(cluster.HookStart) {
			return c.obeyed(cluster.HookStart, func() error { return c.startByAgent(ctx, m, component) })
		}
		m.mu.Lock()
		before, back := m.killed, m.killed != (cluster.Process{}) && m.runs && m.process != m.killed
		if before == (cluster.Process{}) {
			before = m.process
		}
		m.mu.Unlock()
		if !back && c.Lacks(cluster.HookStart) == "" {
			if err := c.call(ctx, m, task{hook: cluster.HookStart, component: component}); err != nil {
				return err
			}
		}
		if err := m.awaitOther(ctx, before); err != nil {
			return err
		}
		m.mark(func() { m.ending, m.ended, m.killed = false, false, cluster.Process{} })
		c.expectRun(m)
		return nil
	})
}

// Kill implements cluster.Cluster by the hook kill.
func (c *external) Kill(ctx context.Context, name string, component cluster.Component) error {
	return c.change(name, "kill the "+string(component)+" of", func(m *member) error {
		if err := c.visible(component); err != nil {
			return err
		}
		if c.byAgent(cluster.HookKill) {
			return c.obeyed(cluster.HookKill, func() error { return c.endByAgent(ctx, m, component, syscall.SIGKILL, killGrace) })
		}
		if err := c.may(cluster.HookKill); err != nil {
			return err
		}
		c.expectEnd(m, component)
		m.mark(func() { m.ending, m.ended, m.killed = true, true, m.process })
		return c.call(ctx, m, task{hook: cluster.HookKill, component: component})
	})
}

// visible is an error for a component of which nothing is seen.
func (c *external) visible(component cluster.Component) error {
	if slices.Contains(c.components, component) {
		return nil
	}
	return fmt.Errorf("only of an API server it shows that it was hit: %w", cluster.ErrUnsupported)
}

// Pause implements cluster.Cluster by the hook pause.
func (c *external) Pause(ctx context.Context, name string, component cluster.Component) error {
	return c.change(name, "pause", func(m *member) error {
		if component != cluster.Whole {
			if err := c.visible(component); err != nil {
				return err
			}
		}
		if err := c.may(cluster.HookPause); err != nil {
			return err
		}
		if c.byAgent(cluster.HookPause) {
			if err := c.holdByAgent(ctx, m, component, true); err != nil {
				return errors.Join(err, c.undoPause(ctx, m, component))
			}
			return nil
		}
		m.mark(func() { m.paused[component] = true })
		if err := c.call(ctx, m, task{hook: cluster.HookPause, component: scope(component)}); err != nil {
			return errors.Join(err, c.undoPause(ctx, m, component))
		}
		if err := m.awaitSilence(ctx, cluster.HookPause); err != nil {
			return errors.Join(err, c.undoPause(ctx, m, component))
		}
		m.notePaused(component, true)
		m.mark(func() { m.tell(cluster.Change{What: history.ProcessPaused, Release: m.release}) })
		return nil
	})
}

// Resume implements cluster.Cluster by the hook resume.
func (c *external) Resume(ctx context.Context, name string, component cluster.Component) error {
	return c.change(name, "resume", func(m *member) error {
		if err := c.resume(ctx, m, component); err != nil {
			return err
		}
		m.notePaused(component, false)
		m.mark(func() { m.tell(cluster.Change{What: history.ProcessResumed, Release: m.release}) })
		return nil
	})
}

// undoPause takes back what a pause that failed may have done, also where the run is being
// given up.
func (c *external) undoPause(ctx context.Context, m *member, component cluster.Component) error {
	ctx, cancel := interrupt.Shelter(ctx)
	defer cancel()
	return c.resume(ctx, m, component)
}

func (c *external) resume(ctx context.Context, m *member, component cluster.Component) error {
	if c.byAgent(cluster.HookResume) {
		return c.holdByAgent(ctx, m, component, false)
	}
	if err := c.call(ctx, m, task{hook: cluster.HookResume, component: scope(component)}); err != nil {
		return err
	}
	if err := m.awaitShown(ctx, cluster.HookResume, m.asker.alive); err != nil {
		return err
	}
	m.mark(func() { delete(m.paused, component) })
	return nil
}

// PowerOff implements cluster.Cluster by the hook powerOff.
func (c *external) PowerOff(ctx context.Context, name string) error {
	return c.change(name, "take the power away from", func(m *member) error {
		return c.end(ctx, m, task{hook: cluster.HookPowerOff}, func() { m.off = true })
	})
}

// PowerOn implements cluster.Cluster by the hook powerOn.
func (c *external) PowerOn(ctx context.Context, name string) error {
	return c.change(name, "give the power back to", func(m *member) error {
		return c.renew(ctx, m, task{hook: cluster.HookPowerOn})
	})
}
