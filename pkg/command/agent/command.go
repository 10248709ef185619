// Package agent is `evenkeel agent`: Evenkeel's node agent on the control-plane nodes of an
// external cluster, for a while.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent/install"
)

// NewCommand is the agent command of a version of evenkeel, with its subcommands.
func NewCommand(version string, clk clock.WithTicker) *cobra.Command {
	command := &cobra.Command{
		Use:   "agent",
		Short: "Put Evenkeel's agent on the control-plane nodes of an external cluster for a while, and take it away again",
		Long: `Agent is about Evenkeel's node agent on a cluster that Evenkeel did not make. A topology asks
for it: spec.external.agent is look, which reads, or disrupt, which also kills and pauses
components, takes static Pods away for a while and cuts nodes off.

See clusters/README.md for what it may do, what leaves a node, and how it is removed.`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("there is no `%s %s`; see `%s --help`", command.CommandPath(), args[0], command.CommandPath())
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newManifest(clk), newImage(), newInstall(version, clk), newRemove(), newServe(version, clk))
	return command
}

// none refuses arguments.
func none(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("`%s` takes no argument, and there is %q; see `%s --help`", command.CommandPath(), args[0], command.CommandPath())
	}
	return nil
}

// planFlags are those of what plans an installation.
type planFlags struct {
	topology string
	lifetime time.Duration
}

func (f *planFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&f.topology, "topology", "", "topology of the external cluster")
	command.Flags().DurationVar(&f.lifetime, "lifetime", install.Lifetime, "how long agents listen, from now on")
}

// plan reads the topology and plans what it asks for.
func (f *planFlags) plan(now time.Time) (*cluster.Topology, install.Plan, error) {
	if f.topology == "" {
		return nil, install.Plan{}, errors.New("name the topology of the external cluster: --topology")
	}
	if f.lifetime <= 0 {
		return nil, install.Plan{}, fmt.Errorf("--lifetime %s is not longer than 0s", f.lifetime)
	}
	topology, err := cluster.LoadTopology(f.topology)
	if err != nil {
		return nil, install.Plan{}, err
	}
	plan, err := install.NewPlan(topology, now.Add(f.lifetime))
	return topology, plan, err
}
