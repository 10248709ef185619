package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/impl/apiserver"
)

// Defaults of the identity Lease. They are shorter than those of Kubernetes, so
// that a departure is noticed while somebody watches.
const (
	defaultIdentityLeaseDuration = 40 * time.Second
	defaultIdentityLeaseRenewal  = 5 * time.Second
)

func apiserverCommand() *cobra.Command {
	var o apiserver.Options
	var p played
	command := component("apiserver", "Run an API server",
		func(command *cobra.Command) error {
			var err error
			if o.Release, o.Defects, err = p.parse(); err != nil {
				return err
			}
			return apiserver.Run(command.Context(), o)
		},
		"release", "server-id", "secure-port", "etcd-servers", "etcd-cafile", "etcd-certfile", "etcd-keyfile",
		"client-ca-file", "tls-cert-file", "tls-private-key-file")
	p.add(command)
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
	flags.StringVar(&o.PeerCAFile, "peer-ca-file", "", "authority that signed the certificates of the other API servers; with it this server also tells of what they host, and hands requests for that on to them")
	flags.StringVar(&o.PeerAdvertiseIP, "peer-advertise-ip", "", "IP address at which the other API servers reach this one (default that of --bind-address)")
	flags.IntVar(&o.PeerAdvertisePort, "peer-advertise-port", 0, "port at which the other API servers reach this one (default that of --secure-port)")
	flags.StringVar(&o.ProxyClientCertFile, "proxy-client-cert-file", "", "certificate shown to those to whom requests are handed on")
	flags.StringVar(&o.ProxyClientKeyFile, "proxy-client-key-file", "", "key of the certificate shown to those to whom requests are handed on")
	flags.StringVar(&o.RequestHeaderClientCAFile, "requestheader-client-ca-file", "", "authority that signed the certificates of those who may hand requests on to this server")
	flags.StringSliceVar(&o.RequestHeaderAllowedNames, "requestheader-allowed-names", nil, "common names of the certificates of those who may hand requests on, separated by commas")
	flags.BoolVar(&o.CoordinatedLeaderElection, "coordinated-leader-election", false, "stand by to coordinate the election of leaders, and serve the fields of Leases that are for that; releases before 1.2 cannot")
	flags.DurationVar(&o.IdentityLeaseDuration, "identity-lease-duration", defaultIdentityLeaseDuration, "how long this server takes part without renewing its Lease")
	flags.DurationVar(&o.IdentityLeaseRenewInterval, "identity-lease-renew-interval", defaultIdentityLeaseRenewal, "how often this server renews its Lease")
	return command
}
