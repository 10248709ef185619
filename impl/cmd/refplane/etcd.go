package main

import (
	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/etcd"
)

func etcdCommand() *cobra.Command {
	var o etcd.Options
	var planted []string
	command := component("etcd", "Run a member of etcd",
		func(command *cobra.Command) (err error) {
			if o.Defects, err = defects.Parse(planted); err != nil {
				return err
			}
			return etcd.Run(command.Context(), o)
		},
		"name", "data-dir", "listen-client-url", "advertise-client-url", "listen-peer-url", "advertise-peer-url",
		"initial-cluster", "cluster-token", "ca-file", "cert-file", "key-file")
	flags := command.Flags()
	flags.StringVar(&o.Name, "name", "", "name of this member")
	flags.StringVar(&o.DataDir, "data-dir", "", "folder that keeps the data")
	flags.StringVar(&o.ListenClientURL, "listen-client-url", "", "https URL to listen on for clients")
	flags.StringVar(&o.AdvertiseClientURL, "advertise-client-url", "", "https URL at which clients reach this member")
	flags.StringVar(&o.ListenPeerURL, "listen-peer-url", "", "https URL to listen on for other members")
	flags.StringVar(&o.AdvertisePeerURL, "advertise-peer-url", "", "https URL at which other members reach this one")
	flags.StringVar(&o.InitialCluster, "initial-cluster", "", "name=peerURL of every member, separated by commas")
	flags.StringVar(&o.ClusterToken, "cluster-token", "", "word that members of one cluster share")
	flags.StringVar(&o.CAFile, "ca-file", "", "authority that signed the certificates of clients and members")
	flags.StringVar(&o.CertFile, "cert-file", "", "certificate shown to clients and other members")
	flags.StringVar(&o.KeyFile, "key-file", "", "key of the certificate")
	addDefects(command, &planted)
	return command
}
