package main

import (
	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/impl/apiserver"
)

// needed are the flags that an API server must be given.
var needed = []string{"release", "server-id", "secure-port", "etcd-servers", "etcd-cafile", "etcd-certfile", "etcd-keyfile",
	"client-ca-file", "tls-cert-file", "tls-private-key-file"}

// serving are the flags that say where a server serves, and as whom it takes part.
type serving struct{ storageVersions, watchCache, aggregated bool }

func (s *serving) add(command *cobra.Command, o *apiserver.Options) {
	flags := command.Flags()
	flags.StringVar(&o.Hostname, "hostname", "", "name of the member, shown on its identity Lease (default the host's name)")
	flags.StringVar(&o.ServerID, "server-id", "", "identity under which this server takes part")
	flags.StringVar(&o.BindAddress, "bind-address", "127.0.0.1", "IP address to listen on")
	flags.IntVar(&o.SecurePort, "secure-port", 0, "port to listen on")
	flags.StringSliceVar(&o.EtcdServers, "etcd-servers", nil, "https URLs of etcd, separated by commas")
	flags.StringVar(&o.EtcdCAFile, "etcd-cafile", "", "authority that signed etcd's certificate")
	flags.StringVar(&o.EtcdCertFile, "etcd-certfile", "", "certificate shown to etcd")
	flags.StringVar(&o.EtcdKeyFile, "etcd-keyfile", "", "key of the certificate shown to etcd")
	flags.StringVar(&o.ClientCAFile, "client-ca-file", "", "authority that signed the certificates of clients")
	flags.StringVar(&o.TLSCertFile, "tls-cert-file", "", "certificate shown to clients")
	flags.StringVar(&o.TLSKeyFile, "tls-private-key-file", "", "key of the certificate shown to clients")
	flags.StringVar(&o.RequestHeaderClientCAFile, "requestheader-client-ca-file", "", "authority that signed the client certificates of the proxies that may forward requests to this server")
	flags.StringSliceVar(&o.RequestHeaderAllowedNames, "requestheader-allowed-names", nil, "common names of the client certificates of these proxies, separated by commas")
	flags.DurationVar(&o.IdentityLeaseDuration, "identity-lease-duration", defaultIdentityLeaseDuration, "how long this server takes part without renewing its Lease")
	flags.DurationVar(&o.IdentityLeaseRenewInterval, "identity-lease-renew-interval", defaultIdentityLeaseRenewal, "how often this server renews its Lease")
	flags.BoolVar(&s.storageVersions, "storage-version-api", true, "publish in which version each resource is stored, and refuse writes until that is done; =false disables it at this server, and no version is agreed while the server takes part")
	flags.BoolVar(&s.aggregated, "aggregated-discovery", true, "serve the aggregated discovery document; =false disables it at this server, and clients get the documents that are not aggregated")
	flags.BoolVar(&s.watchCache, "watch-cache", true, "keep the objects of each served version of a resource in memory; =false reads them from etcd at each request")
}

// apply sets what flags say the other way round.
func (s *serving) apply(o *apiserver.Options) {
	o.WithoutStorageVersions, o.WithoutWatchCache, o.WithoutAggregatedDiscovery = !s.storageVersions, !s.watchCache, !s.aggregated
}
