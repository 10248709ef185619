// Package apiserver is the API server of the reference control plane: HTTP,
// storage, watches, custom resources and aggregation come from the Kubernetes
// libraries; what the four KEPs promise is wired in from this module.
package apiserver

import (
	"fmt"
	"net"
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

	// BindAddress and SecurePort are where it listens.
	BindAddress string
	SecurePort  int
	// TLSCertFile and TLSKeyFile are what it shows to clients.
	TLSCertFile, TLSKeyFile string
	// ClientCAFile signs the certificates that clients are known by.
	ClientCAFile string

	// EtcdServers, and the files for talking to them.
	EtcdServers                           []string
	EtcdCAFile, EtcdCertFile, EtcdKeyFile string

	// IdentityLeaseDuration is how long the server takes part without renewing;
	// IdentityLeaseRenewInterval is how often it renews.
	IdentityLeaseDuration      time.Duration
	IdentityLeaseRenewInterval time.Duration

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
	// Leases are counted in whole seconds.
	if o.IdentityLeaseDuration < time.Second {
		return fmt.Errorf("--identity-lease-duration %s is shorter than a second", o.IdentityLeaseDuration)
	}
	if o.IdentityLeaseRenewInterval <= 0 || o.IdentityLeaseRenewInterval >= o.IdentityLeaseDuration {
		return fmt.Errorf("--identity-lease-renew-interval %s is not between 0 and the duration of the lease, %s", o.IdentityLeaseRenewInterval, o.IdentityLeaseDuration)
	}
	return nil
}
