package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster/oneline"
)

// freeze pauses all processes of a member. Their order does not matter: a
// machine that stands still has none either.
func (c *local) freeze(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	for _, u := range m.units {
		u.hold(true)
	}
	paused := 0
	for _, u := range m.running() {
		if err = context.Cause(ctx); err != nil {
			break
		}
		err = u.pause(ctx)
		if errors.Is(err, errDown) {
			err = nil // it has just ended by itself, and stands still as well
			continue
		}
		if err != nil {
			break
		}
		paused++
	}
	if err == nil && paused == 0 {
		err = errPowerless
	}
	if err == nil {
		return nil
	}
	// The context may be why, and must not keep anything paused.
	if undone := m.goOn(context.WithoutCancel(ctx)); undone != nil {
		err = fmt.Errorf("%w; and what was paused before cannot go on: %w", err, undone)
	}
	return fmt.Errorf("cannot pause member %s: %w", name, err)
}

// thaw lets all processes of a member go on.
func (c *local) thaw(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	running := len(m.running())
	if err := m.goOn(ctx); err != nil {
		return fmt.Errorf("cannot resume member %s: %w", name, err)
	}
	if running == 0 {
		return fmt.Errorf("cannot resume member %s: %w", name, errPowerless)
	}
	return nil
}

// goOn lets everything go on that can, and tells of what cannot.
func (m *member) goOn(ctx context.Context) error {
	for _, u := range m.units {
		u.hold(false)
	}
	var failed []error
	for _, u := range m.running() {
		// One that has ended meanwhile need not go on.
		if err := u.resume(ctx); err != nil && !errors.Is(err, errDown) {
			failed = append(failed, err)
		}
	}
	return oneline.Join(failed...)
}

// frozen is whether the kernel holds all processes of a member.
func (c *local) frozen(name string) (bool, error) {
	m, err := c.look(name)
	if err != nil {
		return false, err
	}
	running := m.running()
	if len(running) == 0 {
		return false, fmt.Errorf("cannot tell whether member %s is paused: %w", name, errPowerless)
	}
	for _, u := range running {
		if stopped, err := u.stopped(); err != nil || !stopped {
			return false, err
		}
	}
	return true, nil
}

// running are the units that have a process.
func (m *member) running() []*unit {
	var units []*unit
	for _, u := range m.units {
		if _, runs := u.process(); runs {
			units = append(units, u)
		}
	}
	return units
}
