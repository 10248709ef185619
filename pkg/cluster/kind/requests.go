//go:build linux

package kind

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// SetKeyFault implements cluster.EtcdKeyFaultInjector: the agent in the member's node has
// the link.
func (c *kindCluster) SetKeyFault(name string, fault cluster.KeyFault) error {
	if err := fault.Validate(); err != nil {
		return fmt.Errorf("cannot set a fault of keys at member %s: %w", name, err)
	}
	m, err := c.look(name)
	if err != nil {
		return err
	}
	if err := m.agent.SetKeyFault(c.life, fault); err != nil {
		return fmt.Errorf("cannot set a fault of keys at member %s: %w", name, err)
	}
	return nil
}

// KeyFaultStats implements cluster.EtcdKeyFaultInjector.
func (c *kindCluster) KeyFaultStats(name string) (cluster.KeyFaultStats, error) {
	m, err := c.look(name)
	if err != nil {
		return cluster.KeyFaultStats{}, err
	}
	return m.agent.KeyFaultStats(c.life)
}

// FaultHTTP implements cluster.HTTPFaultInjector. A fault ends with the power of the
// node.
func (c *kindCluster) FaultHTTP(name string, component cluster.Component, fault cluster.HTTPFault, observe func(cluster.HTTPExchange)) (heal func(), err error) {
	if err := fault.Validate(); err != nil {
		return nil, fmt.Errorf("cannot make the link of the %s of member %s faulty: %w", component, name, err)
	}
	m, err := c.look(name)
	if err != nil {
		return nil, err
	}
	if component != cluster.ControllerManager && component != cluster.Scheduler {
		return nil, fmt.Errorf("the %s of member %s has no link to its API server that understands HTTP: %w", component, name, cluster.ErrUnsupported)
	}
	heal, err = m.agent.FaultHTTP(c.life, component, fault, observe)
	if err != nil {
		return nil, fmt.Errorf("cannot make the link of the %s of member %s faulty: %w", component, name, err)
	}
	return heal, nil
}
