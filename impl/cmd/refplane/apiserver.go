package main

import (
	"time"

	"github.com/spf13/cobra"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/evenkeel/evenkeel/impl/apiserver"
)

// Defaults of the identity Lease. They are shorter than those of Kubernetes, so
// that a user who tries the control plane does not wait long for a departure.
const (
	defaultIdentityLeaseDuration = 40 * time.Second
	defaultIdentityLeaseRenewal  = 5 * time.Second
)

func apiserverCommand(delay *stopDelay) *cobra.Command {
	var o apiserver.Options
	var p played
	var s serving
	command := component("apiserver", "Run an API server",
		func(command *cobra.Command) error {
			var err error
			if o.Release, o.Defects, err = p.parse(); err != nil {
				return err
			}
			s.apply(&o)
			delay.set(o.ShutdownDelayDuration)
			return apiserver.Run(command.Context(), o)
		},
		needed...)
	p.add(command)
	flags := command.Flags()
	s.add(command, &o)
	flags.DurationVar(&o.ShutdownDelayDuration, "shutdown-delay-duration", 0, "how long the server still serves after SIGTERM, while /readyz already fails")
	command.Flags().IntVar(&o.APIServerCount, "apiserver-count", 0, "how many API servers the control plane has; with more than one, a server hosts a new custom resource a few seconds late, when the others know of it too (default: there are others)")
	flags.StringVar(&o.PeerCAFile, "peer-ca-file", "", "authority that signed the certificates of the other API servers; with it this server also lists the resources that they host, and proxies requests for them")
	flags.StringVar(&o.PeerAdvertiseIP, "peer-advertise-ip", "", "IP address at which the other API servers reach this one (default that of --bind-address)")
	flags.IntVar(&o.PeerAdvertisePort, "peer-advertise-port", 0, "port at which the other API servers reach this one (default that of --secure-port)")
	flags.StringVar(&o.ProxyClientCertFile, "proxy-client-cert-file", "", "client certificate for proxied requests to other API servers")
	flags.StringVar(&o.ProxyClientKeyFile, "proxy-client-key-file", "", "key of the client certificate for proxied requests")
	flags.BoolVar(&o.CoordinatedLeaderElection, "coordinated-leader-election", false, "be able to coordinate the election of leaders, and serve the fields of Leases for that; releases before 1.2 cannot")
	utilfeature.DefaultMutableFeatureGate.AddFlag(flags)
	return command
}
