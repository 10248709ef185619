package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// Files are a certificate and its key.
type Files struct{ Cert, Key string }

// Site is all that the command lines need to know of one member. Paths and
// addresses are as the components see them.
type Site struct {
	Cluster, Member, ServerID string
	// Host is the name that the controllers' identities begin with.
	Host string
	// BindAddress of the API server and the controller manager.
	BindAddress string

	// DataDir of etcd.
	DataDir string
	// What etcd listens on, and where its peers find it.
	EtcdClientURL, EtcdPeerListenURL, EtcdPeerURL string
	// InitialCluster is etcd's notation of all peers, see InitialCluster.
	InitialCluster string
	// EtcdServers is where the API server finds its etcd.
	EtcdServers string

	APIServerPort, ControllerManagerPort, AggregatedServerPort string

	// CAFile has who signs clients and API servers, EtcdCAFile who signs etcd and
	// its clients, and FrontProxyCAFile who signs proxies that may act for users: another
	// authority, as kubeadm has it, so that no certificate of a client is taken for one.
	CAFile, EtcdCAFile, FrontProxyCAFile string
	// Etcd serves clients and peers; EtcdClient is the API server's towards etcd.
	Etcd, EtcdClient, APIServer, ControllerManager Files
	// FrontProxy is what the API server shows to its peers and to aggregated servers, and
	// PeerAdvertiseIP where peers reach it if that is not the BindAddress. Both are of use
	// only where the Settings switch peer discovery or aggregated servers on.
	FrontProxy      Files
	PeerAdvertiseIP string
	// AggregatedServer is the certificate of the aggregated server, and AggregatedKubeconfig
	// leads it to the API server. Both are of use only where the Settings switch it on.
	AggregatedServer     Files
	AggregatedKubeconfig string
	// Kubeconfig of the controller manager.
	Kubeconfig string

	Settings cluster.Settings
	// Off are the features that the component is without.
	Off []cluster.Feature
	// Planted are the defects of each component.
	Planted map[cluster.Component][]string
}

// Args are the arguments that start a component of the site at a release.
func Args(component cluster.Component, s *Site, release string) ([]string, error) {
	switch component {
	case cluster.Etcd:
		return etcd(s), nil
	case cluster.APIServer:
		args := apiserver(s, release)
		for _, feature := range s.Off {
			flag, ok := switches[feature]
			if !ok {
				return nil, fmt.Errorf("the reference control plane has no switch for %q", feature)
			}
			args = append(args, flag)
		}
		return args, nil
	case cluster.ControllerManager:
		return controllerManager(s, release), nil
	case cluster.AggregatedServer:
		return aggregatedServer(s, release), nil
	case cluster.Scheduler, cluster.Whole:
	}
	return nil, fmt.Errorf("the reference control plane has no %s", component)
}

// switches are the flags by which features are switched off. A switch has its
// value in the same word.
var switches = map[cluster.Feature]string{
	cluster.FeatureStorageVersions:     "--storage-version-api=false",
	cluster.FeatureCoordination:        "--coordinated-leader-election=false",
	cluster.FeatureAggregatedDiscovery: "--aggregated-discovery=false",
}

func etcd(s *Site) []string {
	f := flags{"etcd"}
	f.add("name", s.Member)
	f.add("data-dir", s.DataDir)
	f.add("listen-client-url", s.EtcdClientURL)
	f.add("advertise-client-url", s.EtcdClientURL)
	f.add("listen-peer-url", s.EtcdPeerListenURL)
	f.add("advertise-peer-url", s.EtcdPeerURL)
	f.add("initial-cluster", s.InitialCluster)
	f.add("cluster-token", s.Cluster)
	f.add("ca-file", s.EtcdCAFile)
	f.add("cert-file", s.Etcd.Cert)
	f.add("key-file", s.Etcd.Key)
	f.repeat("defect", s.Planted[cluster.Etcd])
	return f
}

// alone is whether the member has no peers.
func (s *Site) alone() bool {
	return s.InitialCluster != "" && !strings.Contains(s.InitialCluster, ",")
}

func apiserver(s *Site, release string) []string {
	f := flags{"apiserver"}
	f.plays(release)
	f.add("server-id", s.ServerID)
	f.add("hostname", s.Host)
	if s.alone() {
		f.add("apiserver-count", "1")
	}
	f.add("bind-address", s.BindAddress)
	f.add("secure-port", s.APIServerPort)
	f.serves(s)
	f.add("tls-cert-file", s.APIServer.Cert)
	f.add("tls-private-key-file", s.APIServer.Key)
	f.duration("identity-lease-duration", s.Settings.IdentityLeaseDuration)
	f.duration("identity-lease-renew-interval", s.Settings.IdentityLeaseRenewInterval)
	f.duration("shutdown-delay-duration", s.Settings.ShutdownDelayDuration)
	f.set("coordinated-leader-election", s.Settings.CoordinatedLeaderElection)
	f.add("feature-gates", s.Settings.APIServerGates)
	if s.Settings.WithoutWatchCache {
		f = append(f, "--watch-cache=false")
	}
	if s.Settings.PeerDiscovery {
		f.add("peer-ca-file", s.CAFile)
		f.add("peer-advertise-ip", s.PeerAdvertiseIP)
		f.trustProxies(s)
	}
	if s.Settings.PeerDiscovery || s.Settings.AggregatedServers {
		f.add("proxy-client-cert-file", s.FrontProxy.Cert)
		f.add("proxy-client-key-file", s.FrontProxy.Key)
	}
	f.repeat("defect", s.Planted[cluster.APIServer])
	return f
}

// serves has a server store its objects in the member's etcd, and believe the clients of the CA.
func (f *flags) serves(s *Site) {
	f.add("etcd-servers", s.EtcdServers)
	f.add("etcd-cafile", s.EtcdCAFile)
	f.add("etcd-certfile", s.EtcdClient.Cert)
	f.add("etcd-keyfile", s.EtcdClient.Key)
	f.add("client-ca-file", s.CAFile)
}

// aggregatedServer stores its objects in the member's etcd, and takes part at the member's
// API server.
func aggregatedServer(s *Site, release string) []string {
	f := flags{"aggregated-apiserver"}
	f.plays(release)
	f.add("server-id", aggregatedServerID(s.Member))
	f.add("hostname", s.Host)
	f.add("bind-address", s.BindAddress)
	f.add("secure-port", s.AggregatedServerPort)
	f.serves(s)
	f.trustProxies(s)
	f.add("tls-cert-file", s.AggregatedServer.Cert)
	f.add("tls-private-key-file", s.AggregatedServer.Key)
	f.add("kubeconfig", s.AggregatedKubeconfig)
	f.duration("identity-lease-duration", s.Settings.IdentityLeaseDuration)
	f.duration("identity-lease-renew-interval", s.Settings.IdentityLeaseRenewInterval)
	f.repeat("defect", s.Planted[cluster.AggregatedServer])
	return f
}

func controllerManager(s *Site, release string) []string {
	f := flags{"controller-manager"}
	f.plays(release)
	f.add("hostname", s.Host)
	f.add("kubeconfig", s.Kubeconfig)
	f.add("bind-address", s.BindAddress)
	f.add("secure-port", s.ControllerManagerPort)
	f.add("tls-cert-file", s.ControllerManager.Cert)
	f.add("tls-private-key-file", s.ControllerManager.Key)
	if s.Settings.CoordinatedLeaderElection {
		// A leader without a coordinator meanwhile is to be seen to act as well.
		f.set("leader-evidence", true)
		if !slices.Contains(s.Off, cluster.FeatureCoordination) {
			f.add("leader-elect-resource-lock", "coordinatedleases")
		}
	}
	f.duration("leader-elect-lease-duration", s.Settings.LeaderElectLeaseDuration)
	f.duration("leader-elect-renew-deadline", s.Settings.LeaderElectRenewDeadline)
	f.duration("leader-elect-retry-period", s.Settings.LeaderElectRetryPeriod)
	if s.Settings.LeaderElectReleaseOnExit == cluster.SwitchOff {
		f = append(f, "--leader-elect-release-on-exit=false")
	}
	if n := s.Settings.ExtraElections; n > 0 {
		f.add("extra-elections", strconv.Itoa(n))
	}
	if rate := s.Settings.MigrationRate; rate > 0 {
		f.add("migration-rate", strconv.FormatFloat(rate, 'f', -1, 64))
	}
	f.set("automatic-migration", s.Settings.AutomaticMigration)
	f.repeat("defect", s.Planted[cluster.ControllerManager])
	return f
}

// flags collects command-line flags; those without a value are left out, so
// that the component's own default holds.
type flags []string

func (f *flags) add(name, value string) {
	if value != "" {
		*f = append(*f, "--"+name, value)
	}
}

// trustProxies has a server believe API servers that act for users.
func (f *flags) trustProxies(s *Site) {
	f.add("requestheader-client-ca-file", s.FrontProxyCAFile)
	f.add("requestheader-allowed-names", pki.FrontProxy)
}

// plays says which release a component plays, and what it emulates.
func (f *flags) plays(name string) {
	played := release.Parse(name)
	f.add("release", played.Binary)
	f.add("emulated-version", played.Emulated)
	f.add("min-compatibility-version", played.Compatible)
}

func (f *flags) duration(name string, value cluster.Duration) {
	if value > 0 {
		f.add(name, value.String())
	}
}

// set gives a switch, which takes its value in the same word.
func (f *flags) set(name string, on bool) {
	if on {
		*f = append(*f, "--"+name)
	}
}

func (f *flags) repeat(name string, values []string) {
	for _, value := range values {
		f.add(name, value)
	}
}
