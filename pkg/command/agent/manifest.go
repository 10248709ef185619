package agent

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent/install"
	"github.com/evenkeel/evenkeel/pkg/manifest"
)

// rungStatic asks for the agent as a static Pod.
const rungStatic = "static"

func newManifest(clk clock.PassiveClock) *cobra.Command {
	var flags planFlags
	var rung string
	command := &cobra.Command{
		Use:   "manifest",
		Short: "Print all that `evenkeel agent install` would create",
		Long: `Manifest prints every object that an installation consists of, for a security review. The
keys in the Secret are not shown: ` + "`evenkeel agent install`" + ` makes them.

With --rung static it prints the agent as a static Pod, for the power cut of a node: no
DaemonSet starts a Pod while no API server is there. ` + "`evenkeel agent install`" + ` does not
place it.`,
		Example: `  evenkeel agent manifest --topology theirs.yaml
  evenkeel agent manifest --topology theirs.yaml --rung disrupt`,
		Args: none,
		RunE: func(command *cobra.Command, _ []string) error {
			_, plan, err := flags.plan(clk.Now())
			if err != nil {
				return err
			}
			printed, err := printed(plan, rung)
			if err != nil {
				return err
			}
			_, err = command.OutOrStdout().Write(printed)
			return err
		},
	}
	flags.add(command)
	command.Flags().StringVar(&rung, "rung", "", "look, disrupt or static (default what the topology has)")
	return command
}

// printed is the manifest of a rung; empty means the plan's own.
func printed(plan install.Plan, rung string) ([]byte, error) {
	switch rung {
	case "":
	case string(cluster.RungLook), string(cluster.RungDisrupt):
		plan.Rung = cluster.Rung(rung)
	case rungStatic:
		return manifest.YAML(plan.StaticPod())
	default:
		return nil, fmt.Errorf("--rung %q is none of %s, %s and %s", rung, cluster.RungLook, cluster.RungDisrupt, rungStatic)
	}
	objects, err := plan.Objects()
	if err != nil {
		return nil, err
	}
	return manifest.YAML(objects.All()...)
}
