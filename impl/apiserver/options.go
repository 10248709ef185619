// Package apiserver is the API server of the reference control plane: HTTP,
// storage, watches, custom resources and aggregation come from the Kubernetes
// libraries; what the four KEPs promise is wired in from this module.
package apiserver

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

// Options are what one API server is started with.
type Options struct {
	// Release that the server plays.
	Release release.Release
	// Hostname is shown on the identity Lease; empty means the host's name.
	Hostname string
	// ServerID is the identity under which the server takes part: the name of
	// its identity Lease and of its entries in StorageVersions.
	ServerID string

	// APIServerCount is how many API servers the control plane has; 0 means that the
	// number is unknown, and that there are others.
	APIServerCount int

	// BindAddress and SecurePort are the address on which the server listens.
	BindAddress string
	SecurePort  int
	// TLSCertFile and TLSKeyFile are its serving certificate and key.
	TLSCertFile, TLSKeyFile string
	// ClientCAFile is the CA of the client certificates.
	ClientCAFile string

	// EtcdServers, and the TLS files for connecting to them.
	EtcdServers                           []string
	EtcdCAFile, EtcdCertFile, EtcdKeyFile string

	// PeerCAFile is the CA of the serving certificates of the other API servers. With
	// it, the server lists the resources of its peers and proxies requests for them
	// (KEP-4020). Without it, the server lists only its own.
	PeerCAFile string
	// PeerAdvertiseIP and PeerAdvertisePort are the address at which its peers reach it.
	// The default is the address on which it listens.
	PeerAdvertiseIP   string
	PeerAdvertisePort int
	// ProxyClientCertFile and ProxyClientKeyFile are its client certificate and key for
	// proxied requests to other API servers and to aggregated ones.
	ProxyClientCertFile, ProxyClientKeyFile string
	// RequestHeaderClientCAFile is the CA of the client certificates of authenticating
	// proxies, and RequestHeaderAllowedNames are their common names. These proxies may
	// make requests in the name of any user.
	RequestHeaderClientCAFile string
	RequestHeaderAllowedNames []string

	// CoordinatedLeaderElection is whether this server can coordinate the election of
	// leaders, in releases that support it.
	CoordinatedLeaderElection bool

	// IdentityLeaseDuration is how long the server takes part without renewing;
	// IdentityLeaseRenewInterval is how often it renews.
	IdentityLeaseDuration      time.Duration
	IdentityLeaseRenewInterval time.Duration

	// ShutdownDelayDuration is for how long the server still serves once it was asked to
	// stop, while it already says that it is not ready.
	ShutdownDelayDuration time.Duration

	// WithoutWatchCache is whether the server reads everything from etcd rather than keep
	// it in memory.
	WithoutWatchCache bool

	// WithoutStorageVersions switches the storage version API off at this server: it
	// takes part, publishes nothing, and forbids by that every agreement.
	WithoutStorageVersions bool

	// WithoutAggregatedDiscovery switches aggregated discovery off at this server: clients
	// get the documents that are not aggregated, whatever they prefer (KEP-3352, Feature
	// Enablement and Rollback). The feature keeps no state.
	WithoutAggregatedDiscovery bool

	// Defects planted on purpose.
	Defects defects.Set
}

// Validate says in one sentence what is wrong with the options, if anything.
func (o Options) Validate() error {
	if messages := validation.IsDNS1123Subdomain(o.ServerID); len(messages) > 0 {
		return fmt.Errorf("--server-id %q cannot name a Lease: %s", o.ServerID, messages[0])
	}
	if net.ParseIP(o.BindAddress) == nil {
		return fmt.Errorf("--bind-address %q is not an IP address", o.BindAddress)
	}
	if o.SecurePort < 1 || o.SecurePort > 65535 {
		return fmt.Errorf("--secure-port %d is not a port between 1 and 65535", o.SecurePort)
	}
	if o.APIServerCount < 0 {
		return fmt.Errorf("--apiserver-count %d is no number of API servers", o.APIServerCount)
	}
	if len(o.EtcdServers) == 0 {
		return fmt.Errorf("--etcd-servers names no endpoint")
	}
	for flag, file := range map[string]string{
		"--tls-cert-file": o.TLSCertFile, "--tls-private-key-file": o.TLSKeyFile, "--client-ca-file": o.ClientCAFile,
		"--etcd-cafile": o.EtcdCAFile, "--etcd-certfile": o.EtcdCertFile, "--etcd-keyfile": o.EtcdKeyFile,
	} {
		if file == "" {
			return fmt.Errorf("%s names no file", flag)
		}
	}
	if err := o.validatePeers(); err != nil {
		return err
	}
	// Leases are counted in whole seconds.
	if o.IdentityLeaseDuration < time.Second {
		return fmt.Errorf("--identity-lease-duration %s is shorter than a second", o.IdentityLeaseDuration)
	}
	if o.IdentityLeaseRenewInterval <= 0 || o.IdentityLeaseRenewInterval >= o.IdentityLeaseDuration {
		return fmt.Errorf("--identity-lease-renew-interval %s is not between 0 and the duration of the lease, %s", o.IdentityLeaseRenewInterval, o.IdentityLeaseDuration)
	}
	if o.ShutdownDelayDuration < 0 {
		return fmt.Errorf("--shutdown-delay-duration %s is negative", o.ShutdownDelayDuration)
	}
	return nil
}

func (o Options) validatePeers() error {
	switch {
	case (o.ProxyClientCertFile == "") != (o.ProxyClientKeyFile == ""):
		return fmt.Errorf("--proxy-client-cert-file and --proxy-client-key-file go together")
	case o.RequestHeaderClientCAFile != "" && len(o.RequestHeaderAllowedNames) == 0:
		return fmt.Errorf("--requestheader-client-ca-file needs --requestheader-allowed-names: without it, every client with a certificate of that CA may act as any user")
	case o.PeerCAFile != "" && (o.ProxyClientCertFile == "" || o.RequestHeaderClientCAFile == ""):
		return fmt.Errorf("--peer-ca-file needs --proxy-client-cert-file, --proxy-client-key-file and --requestheader-client-ca-file")
	case o.PeerAdvertiseIP != "" && net.ParseIP(o.PeerAdvertiseIP) == nil:
		return fmt.Errorf("--peer-advertise-ip %q is not an IP address", o.PeerAdvertiseIP)
	case o.PeerAdvertisePort < 0 || o.PeerAdvertisePort > 65535:
		return fmt.Errorf("--peer-advertise-port %d is not a port between 1 and 65535", o.PeerAdvertisePort)
	}
	return nil
}

// peerAddress is where the other API servers reach this one, or empty if they
// are not to.
func (o Options) peerAddress() string {
	if o.PeerCAFile == "" {
		return ""
	}
	return net.JoinHostPort(cmp.Or(o.PeerAdvertiseIP, o.BindAddress), strconv.Itoa(cmp.Or(o.PeerAdvertisePort, o.SecurePort)))
}

// offered are the versions of the aggregated discovery document that the server serves.
func (o Options) offered() []string {
	if o.WithoutAggregatedDiscovery {
		return nil
	}
	return o.Release.Discovery
}

// coordinated is whether leaders are elected by a coordinator.
func (o Options) coordinated() bool {
	return o.CoordinatedLeaderElection && o.Release.Coordination
}

// hostname is what the identity Lease shows: the machine's, unless it is given.
func (o *Options) hostname() (string, error) {
	if o.Hostname != "" {
		return o.Hostname, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("read the host name: %w", err)
	}
	return name, nil
}
