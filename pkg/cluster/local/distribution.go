package local

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/etcdproxy"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	refplane "github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

// distribution is what runs on the members. Everything that one control
// plane's command lines have of their own is in here, so that another
// distribution is another set of builders and nothing else.
type distribution interface {
	// components in the order in which they start.
	components() []cluster.Component
	// releases that can be run, oldest first.
	releases(ctx context.Context) ([]string, error)
	// defects that can be planted.
	defects(ctx context.Context) ([]cluster.Defect, error)
	// serverID is the identity that the member's API server will have.
	serverID(member string) string
	// readyPath is where the component tells whether it is ready; etcd has a
	// way of its own.
	readyPath(component cluster.Component) string
	// configure gives the distribution as the topology wants it, or says why
	// that cannot be.
	configure(topology *cluster.Topology) (distribution, error)
	// command starts one component of a site at a release, without the features that
	// are switched off at the site.
	command(component cluster.Component, s *site, release string) (command, error)
}

// command is a process to start.
type command struct {
	path string
	args []string
	// host is the host name that the process sees; empty means the machine's.
	host string
	// off are the features that it is without.
	off []cluster.Feature
}

// within names files below the folder as they are seen from there. Components
// write the paths that they are given to their logs, which go into bundles, and
// where on a user's disk a run was made is private.
func (c command) within(dir string) command {
	args := make([]string, 0, len(c.args))
	for _, arg := range c.args {
		args = append(args, strings.ReplaceAll(arg, dir+string(filepath.Separator), ""))
	}
	c.args = args
	return c
}

// site is all that a command line can need to know of one member.
type site struct {
	cluster  string
	member   string
	serverID string
	// dir is the member's own folder.
	dir string

	// The servers of the member's components.
	etcdClient, etcdPeer, apiserver, controllerManager *port.Slot
	// scheduler is nil where the distribution has none.
	scheduler *port.Slot
	// aggregated is nil where members run no aggregated server.
	aggregated *port.Slot
	readyPath  func(cluster.Component) string
	// The links: where the others reach what the slots serve.
	clientProxy, etcdProxy, peerProxy, componentsProxy *link.Proxy
	// keyProxy is what connections of the etcdProxy go through while single keys
	// are faulty.
	keyProxy *etcdproxy.Proxy

	caFile, frontProxyCAFile string
	// etcdPair serves clients and peers; apiserverPair and controllerPair
	// serve; etcdClientPair is the API server's towards etcd.
	etcdPair, apiserverPair, etcdClientPair, controllerPair pki.Pair
	// frontProxyPair is what the API server shows to its peers and to aggregated servers;
	// empty where there are none.
	frontProxyPair pki.Pair
	// controllerKubeconfig leads through the components link.
	controllerKubeconfig string
	// controllerClient and schedulerClient are what they are known by to the API
	// server.
	controllerClient, schedulerClient pki.Pair
	schedulerPair                     pki.Pair
	schedulerKubeconfig               string
	// aggregatedClient is what the aggregated server is known by to the API server.
	aggregatedPair, aggregatedClient pki.Pair
	aggregatedKubeconfig             string
	// serviceAccountPair signs the tokens of all members' API servers.
	serviceAccountPair pki.Pair
	// initialCluster is etcd's list of all peers.
	initialCluster string

	settings cluster.Settings
	// off are the features that components are without from their next start on.
	off switches
	// planted are the defects of each component.
	planted map[cluster.Component][]string
}

func (s *site) dataDir() string { return filepath.Join(s.dir, "etcd") }

func (s *site) proxies() []*link.Proxy {
	return []*link.Proxy{s.clientProxy, s.etcdProxy, s.peerProxy, s.componentsProxy}
}

// distributionOf finds the distribution of the name and what runs it.
func distributionOf(ctx context.Context, name string) (distribution, error) {
	switch name {
	case refplane.Name:
		return findReference(ctx)
	case kubernetesName:
		return published{}, nil
	default:
		return nil, fmt.Errorf("the local provider has no distribution %q; it has: %s, %s", name, refplane.Name, kubernetesName)
	}
}

// initialClusterOf is etcd's notation of all peers.
func initialClusterOf(sites []*site) string {
	peers := make([]string, 0, len(sites))
	for _, s := range sites {
		peers = append(peers, s.member+"="+s.peerProxy.URL())
	}
	return strings.Join(peers, ",")
}
