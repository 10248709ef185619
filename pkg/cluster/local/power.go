package local

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// errPowerless is wrapped by PowerOff where there is nothing to take away.
var errPowerless = errors.New("nothing of it runs")

// PowerOff implements cluster.Cluster: all processes are killed at once. Behind
// the member's links no server listens then, so that they reset every client.
func (c *local) PowerOff(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	running := 0
	for _, u := range m.units {
		if _, ok := u.process(); ok {
			running++
		}
	}
	if running == 0 {
		return fmt.Errorf("cannot take the power of member %s away: %w", name, errPowerless)
	}
	var group errgroup.Group
	for _, u := range m.units {
		group.Go(func() error { return u.cut(ctx) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("taking the power of member %s away: %w", name, err)
	}
	return nil
}

// PowerOn implements cluster.Cluster.
func (c *local) PowerOn(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	return c.bringAll(ctx, []*member{m}, map[string]string{name: c.Release(name)})
}
