package external

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/chaosmesh"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

var _ cluster.ChaosMeshed = (*external)(nil)

// ChaosMesh implements cluster.ChaosMeshed.
func (c *external) ChaosMesh() (namespace string, ok bool) {
	if c.spec.Faults == nil || c.spec.Faults.Engine != cluster.EngineChaosMesh {
		return "", false
	}
	return cmp.Or(c.spec.Faults.Namespace, chaosmesh.Namespace), true
}

// meetChaosMesh refuses a cluster that does not serve the kinds of Chaos Mesh, to which the
// topology leaves faults.
func (c *external) meetChaosMesh(ctx context.Context) error {
	if _, ok := c.ChaosMesh(); !ok {
		return nil
	}
	for _, m := range c.members {
		err := m.asker.get(ctx, chaosmesh.APIPath, discard)
		var refused *refusal
		if errors.As(err, &refused) && refused.code == http.StatusNotFound {
			return fmt.Errorf("member %s does not serve %s: install Chaos Mesh, or leave spec.external.faults out", m.name, chaosmesh.APIPath)
		}
		if err != nil {
			return fmt.Errorf("ask member %s for Chaos Mesh: %w", m.name, err)
		}
	}
	return nil
}

// Strike implements cluster.ChaosMeshed.
func (c *external) Strike(ctx context.Context, name string, component cluster.Component, do func(context.Context) error) (hit bool, err error) {
	err = c.change(name, "have Chaos Mesh kill the "+string(component)+" of", func(m *member) error {
		if component != cluster.APIServer {
			return fmt.Errorf("only of an API server it shows that Chaos Mesh hit it: %w", cluster.ErrUnsupported)
		}
		if !c.allowed {
			return errNoLeave
		}
		before, runs := c.Process(name, component)
		if !runs {
			return errors.New("its API server does not run")
		}
		m.toBeStruck()
		// What answers unharmed was not to end: its exit later would be a surprise.
		defer func() {
			if !hit {
				m.spared()
			}
		}()
		if err := m.until(ctx, before, do); err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(ctx, c.bounds.effect)
		defer cancel()
		if m.awaitStruck(waiting, before) == nil {
			hit = true
			return nil
		}
		if !cluster.TimedOut(waiting) || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	})
	return hit, err
}

// until does something that ends at the latest when the process before is struck. Chaos Mesh that
// could not note a strike, because that took the API server away to which it spoke, strikes again:
// the next process.
func (m *member) until(ctx context.Context, before cluster.Process, do func(context.Context) error) error {
	doing, enough := context.WithCancel(ctx)
	defer enough()
	go func() {
		if m.awaitStruck(doing, before) == nil {
			enough()
		}
	}()
	if err := do(doing); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // the caller looks whether it is struck
}

// awaitStruck waits until the API server is another process than the one before, or none.
func (m *member) awaitStruck(ctx context.Context, before cluster.Process) error {
	if m.node == nil {
		return m.await(ctx, func() bool { return !m.runs || m.process != before })
	}
	units := m.node.units
	return units.Await(ctx, func() bool {
		now, runs := units.Process(cluster.APIServer)
		return !runs || now != before
	})
}

// toBeStruck has the end of the API server's process be expected.
func (m *member) toBeStruck() {
	m.mark(func() { m.ending, m.ended, m.killed = true, true, m.process })
	if m.node != nil {
		m.node.units.Replacing(cluster.APIServer)
	}
}

// spared takes toBeStruck back where the same process answers.
func (m *member) spared() {
	m.mu.Lock()
	same := m.runs && m.process == m.killed
	m.mu.Unlock()
	if !same {
		return
	}
	m.mark(func() { m.ending, m.ended, m.killed = false, false, cluster.Process{} })
	if m.node != nil {
		m.node.units.Starting(cluster.APIServer, m.cluster.Release(m.name))
	}
}
