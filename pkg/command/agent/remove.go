package agent

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent/install"
)

// requestBound is how long an API server may take for one answer.
const requestBound = 30 * time.Second

func newRemove() *cobra.Command {
	var file string
	command := &cobra.Command{
		Use:     "remove",
		Short:   "Take the agent away again, with all that was created for it",
		Long:    "Remove deletes the agents, which take back what they did to their nodes, then the objects, and the keys beside the topology.",
		Example: "  evenkeel agent remove --topology theirs.yaml",
		Args:    none,
		RunE: func(command *cobra.Command, _ []string) error {
			if file == "" {
				return fmt.Errorf("name the topology of the external cluster: --topology")
			}
			topology, err := cluster.LoadTopology(file)
			if err != nil {
				return err
			}
			if !topology.ExternallyManaged() {
				return fmt.Errorf("%s is of a cluster that Evenkeel makes, which has no agent to remove", file)
			}
			client, err := anyMember(command.Context(), topology)
			if err != nil {
				return err
			}
			found, err := install.Remove(command.Context(), client)
			if err != nil {
				return err
			}
			if err := os.RemoveAll(install.KeysFolder(topology)); err != nil {
				return fmt.Errorf("remove the keys of the agent: %w", err)
			}
			said := "There was no agent."
			if found {
				said = "The agent is removed."
			}
			_, err = fmt.Fprintln(command.OutOrStdout(), said)
			return err
		},
	}
	command.Flags().StringVar(&file, "topology", "", "topology of the external cluster")
	return command
}
