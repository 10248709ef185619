//go:build linux

package kind

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kind "sigs.k8s.io/kind/pkg/cluster"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	refplane "github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

const kubernetesName = "kubernetes"

// distribution is what runs on the nodes.
type distribution interface {
	// components in the order in which they start.
	components() []cluster.Component
	// programs says how the components' processes are recognized.
	programs() []agent.Component
	// keys says where a node has what its links need to understand what they carry.
	keys() agent.Keys
	// secrets are the files and folders of a node in which what sets it up leaves
	// credentials of its own making.
	secrets() []string
	// releases that can be run, oldest first.
	releases(ctx context.Context) ([]string, error)
	// defects that can be planted.
	defects(ctx context.Context) ([]cluster.Defect, error)
	// lacks are the features that a component is without at a release, whatever is switched off.
	lacks(component cluster.Component, release string) []cluster.Feature
	// serverID is the identity that the API server of the member will have.
	serverID(member, host string) string
	// readyPath is where the API server tells whether it is ready.
	readyPath() string

	// configure takes what the topology asks for, or says why that cannot be.
	configure(ctx context.Context, topology *cluster.Topology, defects []string) error
	// available says what is missing to run a release.
	available(ctx context.Context, release string) error
	// equip writes the files that a node is to find at its first boot.
	equip(c *kindCluster, m *member) error
	// shape completes the configuration of kind's cluster and tells how far kind
	// is to go.
	shape(c *kindCluster, config *v1alpha4.Cluster) ([]kind.CreateOption, error)
	// begin makes all members ready on nodes that have just been made.
	begin(ctx context.Context, c *kindCluster) error
	// awaitKubelet waits until a node's kubelet can be asked to stop and start components
	// that it has started since a time.
	awaitKubelet(ctx context.Context, c *kindCluster, m *member, since time.Time) error
	// supply gives a node what a release needs.
	supply(ctx context.Context, c *kindCluster, m *member, release string) error
	// pod is the static Pod of a component at a release, with what is switched off at the
	// member.
	pod(c *kindCluster, m *member, component cluster.Component, release string) ([]byte, error)
}

// distributionOf finds the distribution of the name.
func distributionOf(ctx context.Context, name string) (distribution, error) {
	switch name {
	case refplane.Name:
		return findReference(ctx)
	case kubernetesName:
		return &published{}, nil
	default:
		return nil, fmt.Errorf("the kind provider has no distribution %q; it has: %s, %s", name, refplane.Name, kubernetesName)
	}
}
