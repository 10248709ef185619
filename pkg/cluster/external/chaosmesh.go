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
		m.mark(func() { m.ending, m.ended, m.killed = true, true, before })
		// What answers unharmed was not to end: its exit later would be a surprise.
		defer func() {
			if !hit && m.answers(before) {
				m.mark(func() { m.ending, m.ended, m.killed = false, false, cluster.Process{} })
			}
		}()
		if err := do(ctx); err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(ctx, c.bounds.effect)
		defer cancel()
		if m.await(waiting, func() bool { return !m.runs || m.process != before }) == nil {
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

// answers is whether a process is still the one that answers.
func (m *member) answers(process cluster.Process) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runs && m.process == process
}
