package local

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

const referenceName = "reference"

// reference is the control plane of this repository: one binary that plays
// every component and every release. The harness knows it by its command line
// only.
type reference struct{ binary string }

func findReference(ctx context.Context) (distribution, error) {
	binary, err := findRefplane(ctx)
	if err != nil {
		return nil, err
	}
	return reference{binary}, nil
}

func (reference) components() []cluster.Component {
	return []cluster.Component{cluster.Etcd, cluster.APIServer, cluster.ControllerManager}
}

// readyPath is the same for all of them.
func (reference) readyPath(cluster.Component) string { return "/readyz" }

// configure: the reference is one binary, which plays all releases.
func (r reference) configure(topology *cluster.Topology) (distribution, error) {
	if len(topology.Spec.Binaries) > 0 {
		return nil, fmt.Errorf("spec.binaries cannot be set: the reference is one binary, which %s names", RefplaneVariable)
	}
	return r, nil
}

func (reference) serverID(member string) string { return "apiserver-" + member }

func (r reference) releases(ctx context.Context) ([]string, error) {
	var listed []struct {
		Name string `json:"name"`
	}
	if err := r.list(ctx, "releases", &listed); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(listed))
	for _, one := range listed {
		names = append(names, one.Name)
	}
	return names, nil
}

func (r reference) defects(ctx context.Context) ([]cluster.Defect, error) {
	var listed []cluster.Defect
	err := r.list(ctx, "defects", &listed)
	return listed, err
}

// list runs one of the binary's listing commands.
func (r reference) list(ctx context.Context, what string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, listBound)
	defer cancel()
	listing := exec.CommandContext(ctx, r.binary, what, "-o", "json")
	var complaint strings.Builder
	listing.Stderr = &complaint
	raw, err := listing.Output()
	if err != nil {
		return fmt.Errorf("`%s %s -o json` failed: %w: %s", r.binary, what, err, lastLine(complaint.String()))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("`%s %s -o json` printed no list: %w; is it a refplane of this version?", r.binary, what, err)
	}
	return nil
}

func (r reference) command(component cluster.Component, s *site, release string) (command, error) {
	build, ok := referenceBuilders[component]
	if !ok {
		return command{}, fmt.Errorf("the reference control plane has no %s", component)
	}
	return command{path: r.binary, args: build(s, release)}, nil
}

var referenceBuilders = map[cluster.Component]func(*site, string) []string{
	cluster.Etcd:              referenceEtcd,
	cluster.APIServer:         referenceAPIServer,
	cluster.ControllerManager: referenceControllerManager,
}

func referenceEtcd(s *site, _ string) []string {
	f := flags{"etcd"}
	f.add("name", s.member)
	f.add("data-dir", s.dataDir())
	f.add("listen-client-url", s.etcdClient.url())
	f.add("advertise-client-url", s.etcdClient.url())
	f.add("listen-peer-url", s.etcdPeer.url())
	f.add("advertise-peer-url", s.peerProxy.url())
	f.add("initial-cluster", s.initialCluster)
	f.add("cluster-token", s.cluster)
	f.add("ca-file", s.caFile)
	f.add("cert-file", s.etcdPair.certFile)
	f.add("key-file", s.etcdPair.keyFile)
	return f
}

func referenceAPIServer(s *site, release string) []string {
	f := flags{"apiserver"}
	f.add("release", release)
	f.add("server-id", s.serverID)
	f.add("hostname", s.member)
	f.add("bind-address", loopback)
	f.add("secure-port", s.apiserver.port())
	f.add("etcd-servers", s.etcdProxy.url())
	f.add("etcd-cafile", s.caFile)
	f.add("etcd-certfile", s.etcdClientPair.certFile)
	f.add("etcd-keyfile", s.etcdClientPair.keyFile)
	f.add("client-ca-file", s.caFile)
	f.add("tls-cert-file", s.apiserverPair.certFile)
	f.add("tls-private-key-file", s.apiserverPair.keyFile)
	f.duration("identity-lease-duration", s.settings.IdentityLeaseDuration)
	f.duration("identity-lease-renew-interval", s.settings.IdentityLeaseRenewInterval)
	f.repeat("defect", s.planted[cluster.APIServer])
	return f
}

func referenceControllerManager(s *site, release string) []string {
	f := flags{"controller-manager"}
	f.add("release", release)
	f.add("hostname", s.member)
	f.add("kubeconfig", s.controllerKubeconfig)
	f.add("bind-address", loopback)
	f.add("secure-port", s.controllerManager.port())
	f.add("tls-cert-file", s.controllerPair.certFile)
	f.add("tls-private-key-file", s.controllerPair.keyFile)
	f.duration("leader-elect-lease-duration", s.settings.LeaderElectLeaseDuration)
	f.duration("leader-elect-renew-deadline", s.settings.LeaderElectRenewDeadline)
	f.duration("leader-elect-retry-period", s.settings.LeaderElectRetryPeriod)
	f.repeat("defect", s.planted[cluster.ControllerManager])
	return f
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
