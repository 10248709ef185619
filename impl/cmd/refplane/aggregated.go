package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel/evenkeel/impl/apiserver"
)

func aggregatedCommand() *cobra.Command {
	var o apiserver.AggregatedOptions
	var p played
	var s serving
	var kubeconfig string
	command := component("aggregated-apiserver", "Run a sample of an aggregated API server, for which an APIService is to be made",
		func(command *cobra.Command) error {
			var err error
			if o.Release, o.Defects, err = p.parse(); err != nil {
				return err
			}
			s.apply(&o.Options)
			if o.Config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
				return fmt.Errorf("--kubeconfig: %w", err)
			}
			return apiserver.RunAggregated(command.Context(), o)
		},
		slices.Concat(needed, []string{"kubeconfig"})...)
	p.add(command)
	s.add(command, &o.Options)
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "file that says how to reach the API server that this one is joined to, where it takes part and publishes its storage versions")
	return command
}
