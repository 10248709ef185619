package e2eframework

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/e2e-framework/support"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// ControlPlaneRole is the role of every node: a topology has no others.
const ControlPlaneRole = "control-plane"

// AddNode implements support.E2EClusterProviderWithLifeCycle. It always fails
// with cluster.ErrUnsupported: what a run is judged by, and etcd's majority,
// rest on the members that the topology names.
func (c *Cluster) AddNode(_ context.Context, node *support.Node, _ ...string) error {
	return c.fixed("add", node)
}

// RemoveNode implements support.E2EClusterProviderWithLifeCycle. It always fails
// with cluster.ErrUnsupported, as AddNode does; StopNode takes a member away for
// a time.
func (c *Cluster) RemoveNode(_ context.Context, node *support.Node, _ ...string) error {
	return c.fixed("remove", node)
}

func (c *Cluster) fixed(verb string, node *support.Node) error {
	up, err := c.running()
	if err != nil {
		return err
	}
	name := ""
	if node != nil {
		name = node.Name
	}
	return fmt.Errorf("cannot %s node %q: the topology fixes the members of cluster %s; create one of another topology, or use StopNode and StartNode: %w",
		verb, name, up.name, cluster.ErrUnsupported)
}

// StartNode implements support.E2EClusterProviderWithLifeCycle: it starts all
// components of a member and returns when they are ready. The member runs the
// release that it ran last, or the one that the only argument names, which is
// how a member is upgraded. It is an error if the member runs.
func (c *Cluster) StartNode(ctx context.Context, node *support.Node, args ...string) error {
	up, err := c.operate(node)
	if err != nil {
		return err
	}
	release := up.Release(node.Name)
	switch len(args) {
	case 0:
	case 1:
		release = args[0]
	default:
		return fmt.Errorf("StartNode takes one release but was given %q", args)
	}
	return up.StartMembers(ctx, map[string]string{node.Name: release})
}

// StopNode implements support.E2EClusterProviderWithLifeCycle: it ends all
// components of a member as a service manager would, and returns when they have
// ended. Its data stays. It is no error if the member has stopped already.
func (c *Cluster) StopNode(ctx context.Context, node *support.Node, args ...string) error {
	if err := none("StopNode", args); err != nil {
		return err
	}
	up, err := c.operate(node)
	if err != nil {
		return err
	}
	return up.StopMember(ctx, node.Name)
}

// ListNode implements support.E2EClusterProviderWithLifeCycle: the members in
// the order of the topology. A state is one of the Node… values; the IP address
// is where the API server is reached, and missing where only a name is known.
func (c *Cluster) ListNode(_ context.Context, args ...string) ([]support.Node, error) {
	if err := none("ListNode", args); err != nil {
		return nil, err
	}
	up, err := c.running()
	if err != nil {
		return nil, err
	}
	var nodes []support.Node
	for _, member := range up.Members() {
		seen, err := up.look(member)
		if err != nil {
			return nil, fmt.Errorf("cannot tell the state of node %s: %w", member.Name, err)
		}
		config, err := up.ClientConfig(member.Name, false)
		if err != nil {
			return nil, fmt.Errorf("cannot tell the address of node %s: %w", member.Name, err)
		}
		nodes = append(nodes, support.Node{
			Name: member.Name, Role: ControlPlaneRole, Cluster: up.name, State: stateOf(seen), IP: addressOf(config),
		})
	}
	return nodes, nil
}

// operate checks that the node is a member of this cluster.
func (c *Cluster) operate(node *support.Node) (*running, error) {
	up, err := c.running()
	if err != nil {
		return nil, err
	}
	if node == nil {
		return nil, fmt.Errorf("no node was named; the cluster %s has: %s", up.name, up.names())
	}
	if node.Cluster != "" && node.Cluster != up.name {
		return nil, fmt.Errorf("node %s belongs to the cluster %s, and this is the cluster %s", node.Name, node.Cluster, up.name)
	}
	_, err = up.member(node.Name)
	return up, err
}

func (r *running) member(name string) (cluster.Member, error) {
	for _, member := range r.Members() {
		if member.Name == name {
			return member, nil
		}
	}
	return cluster.Member{}, fmt.Errorf("the cluster %s has no node %q; it has: %s", r.name, name, r.names())
}

func (r *running) names() string {
	var names []string
	for _, member := range r.Members() {
		names = append(names, member.Name)
	}
	return strings.Join(names, ", ")
}

// look finds out what each component of a member does.
func (r *running) look(member cluster.Member) ([]activity, error) {
	var seen []activity
	for _, component := range member.Components {
		if _, runs := r.Process(member.Name, component); !runs {
			seen = append(seen, down)
			continue
		}
		paused, err := r.Paused(member.Name, component)
		_, still := r.Process(member.Name, component)
		switch {
		case !still: // it ended between the two questions
			seen = append(seen, down)
		case err != nil && !errors.Is(err, cluster.ErrUnsupported):
			return nil, err
		case paused:
			seen = append(seen, frozen)
		default:
			seen = append(seen, active)
		}
	}
	return seen, nil
}

// addressOf is nil for a host that is not an IP address.
func addressOf(config *rest.Config) net.IP {
	if parsed, err := url.Parse(config.Host); err == nil && parsed.Hostname() != "" {
		return net.ParseIP(parsed.Hostname())
	}
	return nil
}
