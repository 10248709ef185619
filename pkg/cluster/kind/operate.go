//go:build linux

package kind

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/oneline"
)

// upwards are a member's components in the order in which they start, and
// downwards the other way round.
func (c *kindCluster) upwards() []cluster.Component { return c.distribution.components() }

func (c *kindCluster) downwards() []cluster.Component {
	order := slices.Clone(c.upwards())
	slices.Reverse(order)
	return order
}

// StopMember implements cluster.Cluster.
func (c *kindCluster) StopMember(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	if m.isFrozen() {
		// Nothing in there could end otherwise.
		if err := c.unpause(ctx, m); err != nil {
			return fmt.Errorf("stopping member %s: %w", name, err)
		}
	}
	return c.stopAll(ctx, m)
}

func (c *kindCluster) stopAll(ctx context.Context, m *member) error {
	var problems []error
	for _, component := range c.downwards() {
		problems = append(problems, m.end(ctx, component, syscall.SIGTERM, stopGrace))
	}
	if err := oneline.Join(problems...); err != nil {
		return fmt.Errorf("stopping member %s: %w", m.name, err)
	}
	return nil
}

// StartMembers implements cluster.Cluster.
func (c *kindCluster) StartMembers(ctx context.Context, releases map[string]string) error {
	var members []*member
	// In one order, or two callers could each wait for what the other one has.
	for _, name := range slices.Sorted(maps.Keys(releases)) {
		if err := c.knows(name, releases[name]); err != nil {
			return err
		}
		m, both, done, err := c.take(ctx, name)
		if err != nil {
			return err
		}
		defer done()
		ctx, members = both, append(members, m)
	}
	for _, m := range members {
		for _, component := range c.upwards() {
			if m.serves(component) {
				return fmt.Errorf("cannot start member %s: its %s runs already; stop the member first", m.name, component)
			}
		}
	}
	return c.startAll(ctx, members, releases)
}

// startAll gives members what their releases need, and starts them.
func (c *kindCluster) startAll(ctx context.Context, members []*member, releases map[string]string) error {
	err := together(ctx, members, func(ctx context.Context, m *member) error { return c.supply(ctx, m, releases[m.name]) })
	if err != nil {
		return err
	}
	for _, m := range members {
		m.mu.Lock()
		m.release = releases[m.name]
		m.mu.Unlock()
	}
	return c.bringAll(ctx, members)
}

// bringAll starts all components of members. Those of one kind start together: no etcd
// is ready before a majority of them is, and API servers that wait for one etcd more
// begin at one time. A kubelet may take a quarter of a minute longer than others to
// start what it has just seen end. Where a component does not become ready, the member's
// other components are started all the same and not waited for; the error tells of the
// first one.
func (c *kindCluster) bringAll(ctx context.Context, members []*member) error {
	var mu sync.Mutex
	unready := map[string]error{}
	of := func(m *member) error { mu.Lock(); defer mu.Unlock(); return unready[m.name] }
	for _, component := range c.upwards() {
		err := together(ctx, members, func(ctx context.Context, m *member) error {
			err := c.put(ctx, m, component, c.Release(m.name))
			if err != nil || of(m) != nil {
				return err
			}
			err = c.awaitReady(ctx, m, component)
			if late := (*cluster.Unready)(nil); errors.As(err, &late) {
				mu.Lock()
				defer mu.Unlock()
				unready[m.name] = err
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	var all []error
	for _, m := range members {
		all = append(all, of(m))
	}
	return oneline.Join(all...)
}

// together does something for members at once.
func together(ctx context.Context, members []*member, do func(context.Context, *member) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, m := range members {
		group.Go(func() error { return do(ctx, m) })
	}
	return group.Wait()
}

func (c *kindCluster) knows(name, release string) error {
	if !cluster.HasRelease(c.releaseNames, release) {
		return fmt.Errorf("cannot start member %s: there is no release %q; there are: %s", name, release, strings.Join(c.releaseNames, ", "))
	}
	return nil
}

// bring puts the static Pod of a component at the release and waits until it is
// ready.
func (c *kindCluster) bring(ctx context.Context, m *member, component cluster.Component, release string) error {
	if err := c.put(ctx, m, component, release); err != nil {
		return err
	}
	return c.awaitReady(ctx, m, component)
}

func (c *kindCluster) put(ctx context.Context, m *member, component cluster.Component, release string) error {
	off := cluster.Union(m.lacks(component), c.distribution.lacks(component, release))
	manifest, err := c.distribution.pod(c, m, component, release)
	if err != nil {
		return fmt.Errorf("cannot write the static Pod of the %s of %s: %w", component, m.name, err)
	}
	if err := m.agent.Clear(ctx, component); err != nil {
		return fmt.Errorf("cannot put the static Pod of the %s of %s: %w", component, m.name, err)
	}
	if m.isAway(component) {
		// The end of what the kubelet started once more belongs to the last Pod.
		if err := m.units.AwaitGone(ctx, component); err != nil {
			return fmt.Errorf("cannot put the static Pod of the %s of %s while the last one runs: %w", component, m.name, err)
		}
	}
	m.units.Starting(component, release)
	m.units.Without(component, off)
	if err := m.agent.PutPod(ctx, component, manifest); err != nil {
		return fmt.Errorf("cannot put the static Pod of the %s of %s: %w", component, m.name, err)
	}
	m.setAway(component, false)
	return nil
}

// serves is whether a process of the component runs that is meant to. One whose static
// Pod was taken away is not: the kubelet may have started it once more, and ends it.
func (m *member) serves(component cluster.Component) bool {
	_, runs := m.units.Process(component)
	return runs && !m.isAway(component)
}

// StartComponent implements cluster.Cluster.
func (c *kindCluster) StartComponent(ctx context.Context, name string, component cluster.Component) error {
	m, ctx, done, err := c.takeUnit(ctx, name, component)
	if err != nil {
		return err
	}
	defer done()
	if m.serves(component) {
		return fmt.Errorf("cannot start the %s of member %s: it runs already; stop it first", component, name)
	}
	return c.bring(ctx, m, component, c.Release(name))
}

// StopComponent implements cluster.Cluster.
func (c *kindCluster) StopComponent(ctx context.Context, name string, component cluster.Component) error {
	m, ctx, done, err := c.takeUnit(ctx, name, component)
	if err != nil {
		return err
	}
	defer done()
	return m.end(ctx, component, syscall.SIGTERM, stopGrace)
}

// Kill implements cluster.Cluster. The static Pod is taken away, or the kubelet
// would start the component again.
func (c *kindCluster) Kill(ctx context.Context, name string, component cluster.Component) error {
	m, ctx, done, err := c.takeUnit(ctx, name, component)
	if err != nil {
		return err
	}
	defer done()
	if _, runs := m.units.Process(component); !runs {
		return fmt.Errorf("cannot kill the %s of member %s: %w", component, name, cluster.ErrNoProcess)
	}
	return m.end(ctx, component, syscall.SIGKILL, killBound)
}

// takeUnit is take for an operation on a component that the member must have.
func (c *kindCluster) takeUnit(ctx context.Context, name string, component cluster.Component) (*member, context.Context, func(), error) {
	m, ctx, done, err := c.take(ctx, name)
	switch {
	case err != nil:
	case !m.units.Has(component):
		done()
		err = fmt.Errorf("member %s has no %s: %w", name, component, cluster.ErrUnsupported)
	case m.isFrozen():
		done()
		err = fmt.Errorf("nothing can be done to the %s of member %s while the whole member is paused: resume it first", component, name)
	}
	return m, ctx, done, err
}

// end takes a component's static Pod away, signals its processes and waits for
// the end. If the grace passes, it is killed. It is no error if nothing runs.
func (m *member) end(ctx context.Context, component cluster.Component, signal syscall.Signal, grace time.Duration) error {
	m.units.Ending(component)
	if signal == syscall.SIGTERM {
		m.units.Stopping(component)
	}
	m.setAway(component, true)
	if component == cluster.Etcd {
		m.etcdClients.leave()
	}
	if _, err := m.agent.End(ctx, component, signal, true); err != nil {
		return fmt.Errorf("cannot end the %s of member %s: %w", component, m.name, err)
	}
	// A stopped process would sleep over the signal.
	if _, err := m.agent.End(ctx, component, syscall.SIGCONT, false); err != nil {
		return err
	}
	graceful, cancel := context.WithTimeout(ctx, grace)
	err := m.units.Await(graceful, func() bool { _, runs := m.units.Process(component); return !runs })
	cancel()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stopping the %s of member %s was given up: %w", component, m.name, context.Cause(ctx))
	}
	if signal == syscall.SIGTERM {
		m.units.Forcing(component)
	}
	if _, err := m.agent.End(ctx, component, syscall.SIGKILL, true); err != nil {
		return err
	}
	if err := m.units.AwaitGone(ctx, component); err != nil {
		return fmt.Errorf("the %s of member %s cannot be ended: %w", component, m.name, err)
	}
	return nil
}

// Pause implements cluster.Cluster.
func (c *kindCluster) Pause(ctx context.Context, name string, component cluster.Component) error {
	if component == cluster.Whole {
		return c.freeze(ctx, name)
	}
	return c.signal(ctx, name, component, syscall.SIGSTOP, "pause", true)
}

// Resume implements cluster.Cluster.
func (c *kindCluster) Resume(ctx context.Context, name string, component cluster.Component) error {
	if component == cluster.Whole {
		return c.thaw(ctx, name)
	}
	return c.signal(ctx, name, component, syscall.SIGCONT, "resume", false)
}

func (c *kindCluster) signal(ctx context.Context, name string, component cluster.Component, signal syscall.Signal, verb string, stopped bool) error {
	m, ctx, done, err := c.takeUnit(ctx, name, component)
	if err != nil {
		return err
	}
	defer done()
	process, runs := m.units.Process(component)
	if !runs {
		return fmt.Errorf("cannot %s the %s of member %s: %w", verb, component, name, cluster.ErrNoProcess)
	}
	if _, err := m.agent.End(ctx, component, signal, false); err != nil {
		return fmt.Errorf("cannot %s the %s of member %s: %w", verb, component, name, err)
	}
	err = wait.PollUntilContextTimeout(ctx, processPoll, signalBound, true, func(ctx context.Context) (bool, error) {
		is, err := m.agent.Stopped(ctx, process)
		return is == stopped, err
	})
	if err != nil {
		return fmt.Errorf("cannot %s the %s of member %s: the kernel does not show process %d as such: %w", verb, component, name, process.PID, err)
	}
	m.units.Paused(component, process, stopped)
	return nil
}

// Process implements cluster.Cluster.
func (c *kindCluster) Process(name string, component cluster.Component) (cluster.Process, bool) {
	m, err := c.look(name)
	if err != nil {
		return cluster.Process{}, false
	}
	return m.units.Process(component)
}

// Paused implements cluster.Cluster.
func (c *kindCluster) Paused(name string, component cluster.Component) (bool, error) {
	m, err := c.look(name)
	if err != nil {
		return false, err
	}
	if component == cluster.Whole {
		return c.frozen(m)
	}
	process, runs := m.units.Process(component)
	if runs && m.isFrozen() {
		return c.frozen(m) // its agent stands still as well
	}
	if !runs {
		return false, fmt.Errorf("cannot tell whether the %s of member %s is paused: %w", component, name, cluster.ErrNoProcess)
	}
	return m.agent.Stopped(c.life, process)
}

// pause lets time pass, or returns an error when the context ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
