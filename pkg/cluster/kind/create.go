//go:build linux

package kind

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/defaults"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kind "sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/exec"

	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
)

// The ports of a member's servers inside its node.
const (
	apiserverPort, etcdPort = 6443, 2379
)

// create makes the nodes with kind's library. That knows no context: when ours
// ends, the nodes are taken away under it.
func (c *kindCluster) create(ctx context.Context) error {
	config, options, err := c.configuration()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, createBound, fmt.Errorf("it took longer than %s", createBound))
	defer cancel()
	options = append(options,
		kind.CreateWithV1Alpha4Config(config),
		kind.CreateWithKubeconfigPath(filepath.Join(c.entry.Dir, "kind.kubeconfig")),
		// What failed is looked at before it goes, with the cluster's Stop.
		kind.CreateWithRetain(true),
	)
	ended := make(chan error, 1)
	go func() {
		ended <- inNetwork(c.id(), func() error { return c.kind.Create(c.id(), options...) })
	}()
	select {
	case err = <-ended:
	case <-ctx.Done():
		c.takeAwayUntil(context.WithoutCancel(ctx), ended)
		return fmt.Errorf("making the nodes was given up: %w", context.Cause(ctx))
	}
	if err == nil {
		return nil
	}
	var failed *exec.RunError
	if errors.As(err, &failed) {
		if said := lastLines(string(failed.Output)); said != "" {
			return fmt.Errorf("kind could not make the nodes: %w: %s", err, said)
		}
	}
	return fmt.Errorf("kind could not make the nodes: %w", err)
}

// takeAwayUntil takes away what is being made until that has ended: kind makes
// its nodes at the same time, and some may come only after the others went.
func (c *kindCluster) takeAwayUntil(ctx context.Context, ended <-chan error) {
	ticker := time.NewTicker(takeAwayRetry)
	defer ticker.Stop()
	for {
		// What cannot be removed now is removed by Stop, which tells of it.
		_, _ = removeFromEngine(ctx, c.id())
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
	}
}

// portNumber is a port in the type that kind has for it.
func portNumber(of int) int32 { return int32(of) } //nolint:gosec // G115: a port has 16 bits.

// configuration of kind's cluster.
func (c *kindCluster) configuration() (*v1alpha4.Cluster, []kind.CreateOption, error) {
	config := &v1alpha4.Cluster{Name: c.id()}
	config.Networking.APIServerAddress = port.Loopback
	config.Networking.APIServerPort = portNumber(c.balancer)
	if len(c.members) == 1 {
		// Without a load balancer it is the port of the only member, which has one
		// of ours anyway.
		config.Networking.APIServerPort = 0
	}
	// Static Pods are on the nodes' own network, and there are no others.
	config.Networking.DisableDefaultCNI = true
	config.Networking.KubeProxyMode = "none"
	for _, m := range c.members {
		config.Nodes = append(config.Nodes, v1alpha4.Node{
			Role:        v1alpha4.ControlPlaneRole,
			ExtraMounts: c.mounts(m),
			ExtraPortMappings: []v1alpha4.PortMapping{
				{ContainerPort: apiserverPort, HostPort: portNumber(m.apiserver), ListenAddress: port.Loopback},
				{ContainerPort: etcdPort, HostPort: portNumber(m.etcd), ListenAddress: port.Loopback},
			},
		})
	}
	options, err := c.distribution.shape(c, config)
	v1alpha4.SetDefaultsCluster(config)
	for i := range config.Nodes {
		if config.Nodes[i].Image == defaults.Image {
			return nil, nil, errors.New("no node image was chosen")
		}
	}
	return config, options, err
}

// mounts are what a node shares with this machine.
func (c *kindCluster) mounts(m *member) []v1alpha4.Mount {
	const services = "/etc/systemd/system"
	mounts := []v1alpha4.Mount{
		{HostPath: m.shared, ContainerPath: agent.Shared},
		{HostPath: c.logDir, ContainerPath: agent.Logs},
		{HostPath: c.agentFile(), ContainerPath: agentProgram, Readonly: true},
	}
	for _, file := range serviceFiles {
		mounts = append(mounts, v1alpha4.Mount{
			HostPath: filepath.Join(m.shared, file.name), ContainerPath: filepath.Join(services, file.path), Readonly: true,
		})
	}
	return mounts
}

// choosePorts gives every member ports of this machine. No server listens there
// until the nodes are made; other clusters and connections leave them alone.
func (c *kindCluster) choosePorts() error {
	c.ports.Next = c.topology.Spec.Settings.BasePort
	var held []*port.Slot
	defer func() {
		for _, one := range held {
			one.Release()
		}
	}()
	next := func() (int, error) {
		one, err := port.New(&c.ports)
		if err != nil {
			return 0, err
		}
		held = append(held, one)
		return strconv.Atoi(one.Port())
	}
	var err error
	for _, m := range c.members {
		if m.apiserver, err = next(); err != nil {
			return err
		}
		if m.etcd, err = next(); err != nil {
			return err
		}
		listener, err := c.ports.Listen()
		if err != nil {
			return err
		}
		m.openClientLink(listener)
	}
	if len(c.members) > 1 {
		c.balancer, err = next()
	}
	return err
}

// node is kind's handle of a member's node.
func (c *kindCluster) node(m *member) (nodes.Node, error) {
	all, err := c.kind.ListInternalNodes(c.id())
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if one.String() == m.host {
			return one, nil
		}
	}
	return nil, fmt.Errorf("the node %s is not there", m.host)
}

// run runs a command in a member's node.
func (c *kindCluster) run(ctx context.Context, m *member, command string, arguments ...string) error {
	node, err := c.node(m)
	if err != nil {
		return err
	}
	return explain(node.CommandContext(ctx, command, arguments...).Run())
}

// explain adds what a command said to its error.
func explain(err error) error {
	var failed *exec.RunError
	if errors.As(err, &failed) {
		if said := lastLines(string(failed.Output)); said != "" {
			return fmt.Errorf("%s failed: %w: %s", failed.Command[len(failed.Command)-1], failed.Inner, said)
		}
	}
	return err
}

// awaitBoot waits until the node's systemd takes orders. kind does not, where the kernel
// has cgroups of version 1.
func (c *kindCluster) awaitBoot(ctx context.Context, m *member) error {
	ctx, cancel := context.WithTimeoutCause(ctx, powerBound, errors.New("its systemd did not answer in time"))
	defer cancel()
	for {
		err := c.run(ctx, m, "systemctl", "show", "--property=Version")
		if err == nil {
			return nil
		}
		if pause(ctx, readyPoll) != nil {
			return fmt.Errorf("the node of %s is not up: %w: %w", m.name, context.Cause(ctx), err)
		}
	}
}

// awaitAgent waits until the agent in the member's node answers.
func (c *kindCluster) awaitAgent(ctx context.Context, m *member) error {
	for {
		ask, cancel := context.WithTimeout(ctx, time.Second)
		_, err := m.agent.LinkStats(ask, linkOfAgent)
		cancel()
		if err == nil {
			return nil
		}
		if pause(ctx, agentRetry) != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}
