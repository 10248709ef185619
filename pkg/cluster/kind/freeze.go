//go:build linux

package kind

import (
	"context"
	"fmt"
)

// freeze pauses all of a member: the container engine freezes whatever is in its
// node, the kubelet and our agent too.
func (c *kindCluster) freeze(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	if m.units.None() {
		return fmt.Errorf("cannot pause member %s: %w", name, errPowerless)
	}
	// From here on the agent is not asked, whatever comes of it.
	m.setFrozen(true)
	// It takes an instant. Given up on, it might come about all the same.
	if _, err := docker(context.WithoutCancel(ctx), "pause", m.host); err != nil {
		m.setFrozen(false)
		return fmt.Errorf("cannot pause member %s: %w", name, err)
	}
	m.units.Frozen(true)
	return nil
}

// thaw lets all of a member go on.
func (c *kindCluster) thaw(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	if m.units.None() {
		return fmt.Errorf("cannot resume member %s: %w", name, errPowerless)
	}
	if err := c.unpause(ctx, m); err != nil {
		return fmt.Errorf("cannot resume member %s: %w", name, err)
	}
	return nil
}

// unpause has the container engine let a node go on; it is no error if that does
// already.
func (c *kindCluster) unpause(ctx context.Context, m *member) error {
	held, err := c.held(ctx, m)
	if err != nil {
		return err
	}
	if held {
		if _, err := docker(ctx, "unpause", m.host); err != nil {
			return err
		}
	}
	m.setFrozen(false)
	m.units.Frozen(false)
	return nil
}

// frozen is whether the container engine holds all of a member.
func (c *kindCluster) frozen(m *member) (bool, error) {
	if m.units.None() {
		return false, fmt.Errorf("cannot tell whether member %s is paused: %w", m.name, errPowerless)
	}
	held, err := c.held(c.life, m)
	if err != nil {
		return false, fmt.Errorf("cannot tell whether member %s is paused: %w", m.name, err)
	}
	return held, nil
}

// held asks the container engine whether it holds a node.
func (c *kindCluster) held(ctx context.Context, m *member) (bool, error) {
	said, err := docker(ctx, "inspect", "--format", "{{.State.Paused}}", m.host)
	return said == "true", err
}

func (m *member) setFrozen(frozen bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.frozen = frozen
}

// isFrozen is whether the node was paused as a whole, so that no process in it
// answers.
func (m *member) isFrozen() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.frozen
}
