package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	refplane "github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

// reference is the control plane of this repository as local processes.
type reference struct {
	binary        refplane.Binary
	uncoordinated refplane.Uncoordinated
	settings      cluster.Settings
}

func findReference(ctx context.Context) (distribution, error) {
	path, err := refplane.Find(ctx)
	if err != nil {
		return nil, err
	}
	binary := refplane.Binary{Path: path}
	uncoordinated, err := binary.Uncoordinated(ctx)
	return reference{binary: binary, uncoordinated: uncoordinated}, err
}

func (r reference) components() []cluster.Component { return refplane.ComponentsOf(r.settings) }

// readyPath is the same for all of them.
func (reference) readyPath(cluster.Component) string { return refplane.ReadyPath }

// configure: the reference is one binary, which plays all releases.
func (r reference) configure(topology *cluster.Topology) (distribution, error) {
	if len(topology.Spec.Binaries) > 0 {
		return nil, fmt.Errorf("spec.binaries cannot be set: the reference is one binary, which %s names", refplane.Variable)
	}
	if topology.Spec.Settings.WorkloadMigrator {
		return nil, errors.New("spec.settings.workloadMigrator cannot be set: the reference runs no workloads, its controller manager migrates by itself")
	}
	r.settings = topology.Spec.Settings
	return r, nil
}

func (reference) serverID(member string) string { return refplane.ServerID(member) }

func (r reference) releases(ctx context.Context) ([]string, error) { return r.binary.Releases(ctx) }

func (r reference) defects(ctx context.Context) ([]cluster.Defect, error) {
	return r.binary.Defects(ctx)
}

func (r reference) command(component cluster.Component, s *site, release string) (command, error) {
	off := cluster.FeaturesOf(component, s.off.get())
	site := &refplane.Site{
		Cluster: s.cluster, Member: s.member, ServerID: s.serverID, Host: s.member, BindAddress: port.Loopback,
		DataDir: s.dataDir(), InitialCluster: s.initialCluster,
		EtcdClientURL: s.etcdClient.URL(), EtcdPeerListenURL: s.etcdPeer.URL(), EtcdPeerURL: s.peerProxy.URL(),
		EtcdServers:   s.etcdProxy.URL(),
		APIServerPort: s.apiserver.Port(), ControllerManagerPort: s.controllerManager.Port(),
		CAFile: s.caFile, EtcdCAFile: s.caFile, FrontProxyCAFile: s.frontProxyCAFile, Kubeconfig: s.controllerKubeconfig,
		Etcd: files(s.etcdPair), EtcdClient: files(s.etcdClientPair),
		APIServer: files(s.apiserverPair), ControllerManager: files(s.controllerPair), FrontProxy: files(s.frontProxyPair),
		Settings: s.settings, Planted: s.planted, Off: off,
	}
	if s.aggregated != nil {
		site.AggregatedServerPort, site.AggregatedServer, site.AggregatedKubeconfig = s.aggregated.Port(), files(s.aggregatedPair), s.aggregatedKubeconfig
	}
	args, err := refplane.Args(component, site, release)
	return command{path: r.binary.Path, args: args, off: cluster.Union(off, r.uncoordinated.Lacks(component, release))}, err
}

func files(pair pki.Pair) refplane.Files {
	return refplane.Files{Cert: pair.CertFile, Key: pair.KeyFile}
}
