package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/constants"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/kind"
)

const (
	// apiserverPort is the one that kind has kubeadm choose on each node.
	apiserverPort = "6443"
	// balancerContext leads to the load balancer that kind puts before several members.
	balancerContext = "balancer"
)

// controlPlaneNode is a node of a cluster that the program kind has made.
type controlPlaneNode struct {
	// host is the node's name and that of its container.
	host string
	// address is where this machine reaches the node.
	address string
}

// kindCluster is a cluster that the program kind has made, and Evenkeel has not.
type kindCluster struct {
	name  string
	nodes []controlPlaneNode
	// gateway is where the nodes reach this machine.
	gateway string
	// kubeconfig is kind's own, which leads to the load balancer, or to the only member.
	kubeconfig []byte
}

// findKind asks Docker for the cluster of that name.
func findKind(name string) (kindCluster, error) {
	provider := kindcluster.NewProvider(kindcluster.ProviderWithDocker())
	all, err := provider.ListInternalNodes(name)
	if err != nil {
		return kindCluster{}, err
	}
	members, err := nodeutils.SelectNodesByRole(all, constants.ControlPlaneNodeRoleValue)
	if err != nil {
		return kindCluster{}, err
	}
	if len(members) == 0 {
		return kindCluster{}, fmt.Errorf("no cluster %q of kind is up: name one of `kind get clusters` with --kind", name)
	}
	found := kindCluster{name: name}
	for _, node := range members {
		address, _, err := node.IP()
		if err != nil {
			return kindCluster{}, err
		}
		found.nodes = append(found.nodes, controlPlaneNode{host: node.String(), address: address})
	}
	slices.SortFunc(found.nodes, func(a, b controlPlaneNode) int { return strings.Compare(a.host, b.host) })
	kubeconfig, err := provider.KubeConfig(name, false)
	if err != nil {
		return kindCluster{}, err
	}
	found.kubeconfig = []byte(kubeconfig)
	found.gateway, err = gateway(found.nodes[0].host)
	return found, err
}

func gateway(node string) (string, error) {
	out, err := exec.Command("docker", "inspect", "--format", "{{range .NetworkSettings.Networks}}{{.Gateway}}{{end}}", node).Output()
	if err != nil {
		return "", fmt.Errorf("docker tells no gateway of %s: %w", node, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// topology of the cluster, as its owner would write it: the agent does what it can, and a
// hook the rest. kubeconfig is the file that contexts writes.
func (k kindCluster) topology(kubeconfig, command string, asked request) (*cluster.Topology, error) {
	access := &cluster.External{Address: k.gateway, Releases: asked.releases, Hooks: map[string]cluster.Hook{}}
	asked.give(access)
	hooks := ownerships[kind.Name].hooks
	if access.Agent == cluster.RungDisrupt {
		hooks = []string{cluster.HookUpgrade, cluster.HookRollback, cluster.HookPowerOff, cluster.HookPowerOn}
	}
	for _, hook := range hooks {
		access.Hooks[hook] = cluster.Hook{Command: []string{command, "kind"}}
	}
	if len(k.nodes) > 1 {
		access.Balancer = &cluster.Kubeconfig{File: kubeconfig, Context: balancerContext}
	}
	out := newTopology(k.name, "kubernetes", asked.begins, access)
	for i, node := range k.nodes {
		name := member(i)
		reached := &cluster.ExternalMember{Kubeconfig: cluster.Kubeconfig{File: kubeconfig, Context: name}, Host: node.host}
		if access.Agent != "" {
			reached.Address = node.address
		}
		out.Spec.Members = append(out.Spec.Members, cluster.MemberSpec{Name: name, External: reached})
	}
	return out, out.Validate()
}

func member(place int) string { return fmt.Sprintf("cp%d", place+1) }

// contexts writes a kubeconfig with a context for each member, and one for the load balancer.
func (k kindCluster) contexts(file string) error {
	made, err := clientcmd.Load(k.kubeconfig)
	if err != nil {
		return err
	}
	current := made.Contexts[made.CurrentContext]
	if current == nil || made.Clusters[current.Cluster] == nil {
		return errors.New("the kubeconfig of kind has no current context")
	}
	out := api.NewConfig()
	out.AuthInfos = made.AuthInfos
	add := func(name string, reached *api.Cluster) {
		out.Clusters[name] = reached
		out.Contexts[name] = &api.Context{Cluster: name, AuthInfo: current.AuthInfo}
	}
	add(balancerContext, made.Clusters[current.Cluster])
	for i, node := range k.nodes {
		direct := made.Clusters[current.Cluster].DeepCopy()
		direct.Server = "https://" + net.JoinHostPort(node.address, apiserverPort)
		add(member(i), direct)
	}
	out.CurrentContext = balancerContext
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return clientcmd.WriteToFile(*out, file)
}
