package agent

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/cluster/agent/install"
)

func newImage() *cobra.Command {
	var name, out string
	command := &cobra.Command{
		Use:   "image",
		Short: "Write an image that holds this evenkeel, as nodes run it",
		Long: `Image writes an archive of an image whose only file is this very evenkeel, for this machine's
architecture. Give it to the nodes: push it to a registry that they reach, or import it on
each of them, and name it in the topology as spec.external.agentImage.`,
		Example: `  evenkeel agent image --name registry.example/evenkeel-agent:v1 --out agent.tar
  docker load --input agent.tar && docker push registry.example/evenkeel-agent:v1
  ctr --namespace k8s.io images import agent.tar     # on a node, without a registry`,
		Args: none,
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if name == "" || out == "" {
				return errors.New("name the image and the file: --name and --out")
			}
			into, err := os.Create(out)
			if err != nil {
				return fmt.Errorf("make the archive: %w", err)
			}
			defer func() {
				if err = errors.Join(err, into.Close()); err != nil {
					_ = os.Remove(out) // half of an archive is of no use
				}
			}()
			return install.WriteImage(into, name)
		},
	}
	command.Flags().StringVar(&name, "name", "", "name of the image, with its tag")
	command.Flags().StringVar(&out, "out", "", "file to write the archive to")
	return command
}
