//go:build linux

package kind

import (
	"context"
	"errors"
	"fmt"
)

// PowerOff implements cluster.Cluster: the container is killed, and everything
// in it with it. Its file systems stay as they were at that moment.
func (c *kindCluster) PowerOff(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	for _, component := range c.upwards() {
		m.units.ending(component)
	}
	if _, err := docker(ctx, "kill", m.host); err != nil {
		return fmt.Errorf("cannot take the power from member %s: %w", name, err)
	}
	m.units.powerLost()
	return nil
}

// PowerOn implements cluster.Cluster. The kubelet starts the static Pods that
// it had.
func (c *kindCluster) PowerOn(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	for _, component := range c.upwards() {
		m.units.starting(component, c.Release(name))
	}
	if err := pinAddress(ctx, c.id(), m.host, m.address); err != nil {
		return fmt.Errorf("cannot give member %s its address again: %w", name, err)
	}
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
	for _, component := range c.upwards() {
		if err := c.awaitReady(ctx, m, component); err != nil {
			return err
		}
	}
	return nil
}
