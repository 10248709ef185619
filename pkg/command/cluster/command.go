// Package cluster is `evenkeel cluster`: control planes to work on by hand,
// and the clean-up of what killed runs left.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package cluster

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Streams are where a command writes.
type Streams struct{ Out, Err io.Writer }

// PurposeUp is how a cluster that `cluster up` made names its owner, to tell it
// from a run's.
const PurposeUp = "up"

// NewCommand is the cluster command with its subcommands. It makes clusters of
// the registry's providers, and cleans up at no other.
func NewCommand(streams Streams, registry cluster.Registry) *cobra.Command {
	command := &cobra.Command{
		Use:   "cluster",
		Short: "Bring up a control plane to work on by hand, and clean up what is left of others",
		Args: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("there is no `%s %s`; see `%s --help`", command.CommandPath(), args[0], command.CommandPath())
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newUp(streams), newKeep(registry), newDown(streams, registry), newList(streams), newClean(streams, registry))
	return command
}

// usage makes an argument check's error one of usage, with the status of that.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if err := check(command, args); err != nil {
			return fmt.Errorf("%w; see `%s --help`", err, command.CommandPath())
		}
		return nil
	}
}
