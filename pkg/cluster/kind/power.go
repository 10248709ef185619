//go:build linux

package kind

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// errPowerless is wrapped by what needs something to run on a member.
var errPowerless = errors.New("nothing of it runs")

// PowerOff implements cluster.Cluster: the container is killed, and everything
// in it with it. Its file systems stay as they were at that moment.
func (c *kindCluster) PowerOff(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	if m.units.None() {
		return fmt.Errorf("cannot take the power of member %s away: %w", name, errPowerless)
	}
	for _, component := range c.upwards() {
		m.units.Ending(component)
	}
	if _, err := docker(ctx, "kill", m.host); err != nil {
		for _, component := range c.upwards() {
			m.units.Starting(component, c.Release(name)) // no end was asked for, after all
		}
		return fmt.Errorf("cannot take the power of member %s away: %w", name, err)
	}
	m.setPower(false)
	m.setFrozen(false)
	m.outside.Set(cluster.Shape{}) // the node's rules are gone too
	m.units.PowerLost()
	return nil
}

// PowerOn implements cluster.Cluster. The kubelet starts the static Pods that
// it had; those that had been taken away on purpose are put again.
func (c *kindCluster) PowerOn(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	on, err := docker(ctx, "inspect", "--format", "{{.State.Running}}", m.host)
	if err != nil {
		return fmt.Errorf("cannot give member %s power: %w", name, err)
	}
	if on == "true" {
		return fmt.Errorf("cannot give member %s power: it has it; take it away first", name)
	}
	release := c.Release(name)
	for _, component := range c.upwards() {
		m.units.Starting(component, release)
	}
	if err := pinAddress(ctx, c.id(), m.host, m.address); err != nil {
		return fmt.Errorf("cannot give member %s its address again: %w", name, err)
	}
	began := time.Now()
	if _, err := docker(ctx, "start", m.host); err != nil {
		return fmt.Errorf("cannot give member %s power: %w", name, err)
	}
	address, err := addressOf(ctx, c.id(), m.host)
	if err != nil {
		return err
	}
	if address != m.address {
		return fmt.Errorf("member %s came back with the address %s, and etcd knows it by %s", name, address, m.address)
	}
	bounded, cancel := context.WithTimeoutCause(ctx, powerBound, errors.New("its node came up without its agent"))
	defer cancel()
	if err := c.awaitAgent(bounded, m); err != nil {
		return fmt.Errorf("member %s: %w", name, err)
	}
	m.setPower(true)
	for _, component := range c.upwards() {
		if m.isAway(component) {
			if err := c.put(ctx, m, component, release); err != nil {
				return err
			}
		}
	}
	for _, component := range c.upwards() {
		if err := c.awaitReady(ctx, m, component); err != nil {
			return err
		}
	}
	return c.distribution.awaitKubelet(ctx, c, m, began)
}

func (m *member) setPower(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.off = !on
}
