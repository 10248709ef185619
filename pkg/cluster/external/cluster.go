package external

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Members implements cluster.Cluster. Without an agent nothing is seen of other components
// than API servers, so none is named.
func (c *external) Members() []cluster.Member {
	members := make([]cluster.Member, 0, len(c.members))
	for _, m := range c.members {
		members = append(members, cluster.Member{Name: m.name, Host: m.host, ServerID: m.serverID, Components: slices.Clone(c.components)})
	}
	return members
}

// Releases implements cluster.Cluster.
func (c *external) Releases() []string { return slices.Clone(c.releases) }

// Release implements cluster.Cluster; it is empty for a member that there is not.
func (c *external) Release(name string) string {
	m, ok := c.byName[name]
	if !ok {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.release
}

// LogDir implements cluster.Cluster. A member's log is that of its hooks.
func (c *external) LogDir() string { return c.logDir }

// Start implements cluster.Cluster: it starts nothing, but begins to watch, and waits
// until every API server answers that it is ready.
func (c *external) Start(ctx context.Context) error {
	for _, m := range c.members {
		c.watching.Go(func() { m.watch(c.life) })
	}
	for _, m := range c.members {
		bounded, cancel := context.WithTimeoutCause(ctx, readyBound, fmt.Errorf("it was not ready within %s", readyBound))
		err := m.await(bounded, func() bool { return m.runs })
		if err == nil {
			err = m.awaitReady(bounded)
		}
		if err == nil {
			err = c.follow(bounded, m)
		}
		cancel()
		if err != nil {
			return fmt.Errorf("the API server of %s: %w", m.name, err)
		}
	}
	return nil
}

// scope is what a hook is told of a component: nothing where it is all of the member.
func scope(component cluster.Component) cluster.Component {
	if component == cluster.Whole {
		return ""
	}
	return component
}

// take gives a member, whose turn it is until done is called.
func (c *external) take(name string) (m *member, done func(), err error) {
	m, ok := c.byName[name]
	if !ok {
		var names []string
		for _, one := range c.members {
			names = append(names, one.name)
		}
		return nil, nil, fmt.Errorf("the cluster has no member %q; it has: %s", name, strings.Join(names, ", "))
	}
	m.turn.Lock()
	return m, m.turn.Unlock, nil
}

// change runs what changes a member, with its name in front of the error.
func (c *external) change(name, verb string, do func(*member) error) error {
	m, done, err := c.take(name)
	if err != nil {
		return err
	}
	defer done()
	if err := do(m); err != nil {
		return fmt.Errorf("cannot %s member %s: %w", verb, name, err)
	}
	return nil
}

// ClientConfig implements cluster.Cluster. There are no links that could be faulty.
func (c *external) ClientConfig(name string, faulty bool) (*rest.Config, error) {
	m, ok := c.byName[name]
	if !ok {
		return nil, fmt.Errorf("the cluster has no member %q", name)
	}
	if faulty {
		return nil, fmt.Errorf("there is no link to %s that could be shaped: %w", name, cluster.ErrUnsupported)
	}
	return rest.CopyConfig(m.config), nil
}

// BalancerConfig implements cluster.LoadBalanced.
func (c *external) BalancerConfig() (config *rest.Config, ok bool) {
	return c.balancer, c.balancer != nil
}

// HostAddress implements cluster.HostAddressProvider.
func (c *external) HostAddress(context.Context) (string, error) {
	if why := c.Lacks(cluster.MeansAddress); why != "" {
		return "", fmt.Errorf("%s: %w", why, cluster.ErrUnsupported)
	}
	return c.spec.Address, nil
}

// SupportsAdmissionPolicies implements cluster.AdmissionPolicySupporter: that they do not, they say when they are
// asked to.
func (*external) SupportsAdmissionPolicies() bool { return true }

// Process implements cluster.Cluster, as far as the API servers' own word goes.
func (c *external) Process(name string, component cluster.Component) (cluster.Process, bool) {
	m, ok := c.byName[name]
	if !ok {
		return cluster.Process{}, false
	}
	if m.node != nil {
		return m.node.units.Process(component)
	}
	if component != cluster.APIServer {
		return cluster.Process{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process, m.runs
}

// Paused implements cluster.Cluster by the word of the hook: what it is worth has to
// show at the API.
func (c *external) Paused(name string, component cluster.Component) (bool, error) {
	m, ok := c.byName[name]
	if !ok {
		return false, fmt.Errorf("the cluster has no member %q", name)
	}
	if m.node != nil && c.byAgent(cluster.HookPause) {
		return c.heldByKernel(m, component)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paused[component] || m.paused[cluster.Whole], nil
}

// SetLink implements cluster.Cluster: only all that connects a member with others can
// be cut, and healed.
func (c *external) SetLink(ctx context.Context, name string, which cluster.Link, shape cluster.Shape) error {
	if shape != (cluster.Shape{}) && (which != cluster.LinkNode || shape != (cluster.Shape{Cut: true})) {
		return fmt.Errorf("the link %s of member %s cannot be shaped: only whole members can be cut off, by a hook: %w", which, name, cluster.ErrUnsupported)
	}
	return c.change(name, "shape the links of", func(m *member) error {
		m.mu.Lock()
		cut := m.cut
		m.mu.Unlock()
		if cut == shape.Cut || which != cluster.LinkNode {
			return nil
		}
		if !shape.Cut {
			return c.reconnect(ctx, m)
		}
		if err := c.may(cluster.HookCutOff); err != nil {
			return err
		}
		// Also a hook that fails may have done it.
		m.mark(func() { m.cut = true })
		if c.byAgent(cluster.HookCutOff) {
			m.mark(func() { m.changed = true })
			return m.node.agent.SetLink(ctx, which, shape)
		}
		return c.call(ctx, m, task{hook: cluster.HookCutOff})
	})
}

// reconnect takes a cut back, until the member is ready: one that is still cut off has no
// majority of etcd.
func (c *external) reconnect(ctx context.Context, m *member) error {
	if c.byAgent(cluster.HookReconnect) {
		if err := m.node.agent.SetLink(ctx, cluster.LinkNode, cluster.Shape{}); err != nil {
			return err
		}
	} else if err := c.call(ctx, m, task{hook: cluster.HookReconnect}); err != nil {
		return err
	}
	if err := m.awaitShown(ctx, cluster.HookReconnect, m.asker.ready); err != nil {
		return err
	}
	m.mark(func() { m.cut = false })
	return nil
}

// mark notes what was done to the member.
func (m *member) mark(do func()) {
	m.mu.Lock()
	do()
	m.mu.Unlock()
	m.wake()
}

// LinkStats implements cluster.Cluster: only an agent counts, what a node that is cut off
// withholds.
func (c *external) LinkStats(name string, which cluster.Link) (cluster.LinkStats, error) {
	if m, ok := c.byName[name]; ok && which == cluster.LinkNode && c.byAgent(cluster.HookCutOff) {
		return m.node.agent.LinkStats(c.life, which)
	}
	return cluster.LinkStats{}, fmt.Errorf("what the link %s of member %s carries is not known: %w", which, name, cluster.ErrUnsupported)
}
