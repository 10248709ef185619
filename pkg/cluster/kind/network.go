//go:build linux

package kind

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
)

const (
	// clusterLabel is on everything of ours at the container engine that can
	// have a label; nodes have kind's own, nodeLabel. The value is the cluster's
	// ID, which is also what kind calls the cluster.
	clusterLabel = "dev.evenkeel.cluster"
	nodeLabel    = "io.x-k8s.kind.cluster"
	// ownerLabel names the process that answers for a cluster, so that a
	// clean-up knows whose cluster it is without any other record.
	ownerLabel = "dev.evenkeel.owner"
	// networkVariable is how kind's library is told of a network.
	networkVariable = "KIND_EXPERIMENTAL_DOCKER_NETWORK"
)

// makeNetwork makes a network for one cluster. Addresses can be pinned only
// where the range was asked for, so the range that the engine chooses is asked
// for in a second go.
func makeNetwork(ctx context.Context, name, owner string) error {
	create := func(more ...string) error {
		_, err := docker(ctx, append(append([]string{"network", "create", "--driver", "bridge",
			"--label", clusterLabel + "=" + name, "--label", ownerLabel + "=" + owner}, more...), name)...)
		return err
	}
	if err := create(); err != nil {
		return err
	}
	chosen, err := docker(ctx, "network", "inspect", "--format",
		"{{with index .IPAM.Config 0}}{{.Subnet}} {{.Gateway}}{{end}}", name)
	if err != nil {
		return err
	}
	subnet, gateway, _ := strings.Cut(chosen, " ")
	if _, err := docker(ctx, "network", "rm", name); err != nil {
		return err
	}
	if err := create("--subnet", subnet, "--gateway", gateway); err != nil {
		return fmt.Errorf("the network's range %s was taken by another network meanwhile, try again: %w", subnet, err)
	}
	return nil
}

// environment is the process's, which kind's library reads.
var environment sync.Mutex

// inNetwork calls a function of kind's library with the network set.
func inNetwork(name string, do func() error) error {
	environment.Lock()
	defer environment.Unlock()
	before, was := os.LookupEnv(networkVariable)
	if err := os.Setenv(networkVariable, name); err != nil {
		return err
	}
	defer func() {
		if was {
			_ = os.Setenv(networkVariable, before)
		} else {
			_ = os.Unsetenv(networkVariable)
		}
	}()
	return do()
}

// addressOf is the node's address in the cluster's network.
func addressOf(ctx context.Context, network, node string) (string, error) {
	format := fmt.Sprintf("{{with index .NetworkSettings.Networks %q}}{{.IPAddress}}{{end}}", network)
	address, err := docker(ctx, "inspect", "--format", format, node)
	if err == nil && address == "" {
		err = fmt.Errorf("the node %s has no address in its network", node)
	}
	return address, err
}

// pinAddress makes a node that is off come back with the address that it had:
// etcd's peers know each other by it. The engine would give the next free one.
func pinAddress(ctx context.Context, network, node, address string) error {
	if _, err := docker(ctx, "network", "disconnect", "--force", network, node); err != nil && !strings.Contains(err.Error(), "is not connected") {
		return err
	}
	_, err := docker(ctx, "network", "connect", "--ip", address, network, node)
	return err
}

// HostAddress implements cluster.HostAddressProvider: the gateway of the cluster's network is
// this machine.
func (c *kindCluster) HostAddress(ctx context.Context) (string, error) {
	address, err := docker(ctx, "network", "inspect", "--format", "{{(index .IPAM.Config 0).Gateway}}", c.id())
	if err == nil && address == "" {
		err = fmt.Errorf("the network of cluster %s has no gateway", c.id())
	}
	return address, err
}
