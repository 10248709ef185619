package cluster

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// request is what both up and keep are asked for; up hands it on as flags.
type request struct {
	topology string
	name     string
	release  string
	defects  []string
}

func (r *request) addFlags(command *cobra.Command) {
	command.Flags().StringVar(&r.topology, "topology", clusters.Default, "the control plane to bring up: a file, or one that ships with evenkeel")
	command.Flags().StringVar(&r.name, "name", "", "name of the cluster (default: the topology's)")
	command.Flags().StringVar(&r.release, "release", "", "release that all members begin with (default: the topology's)")
	command.Flags().StringArrayVar(&r.defects, "defect", nil, "defect to plant, by its ID (may be given several times)")
}

// args are the flags that make the same request of another process.
func (r *request) args() []string {
	args := []string{"--topology", r.topology}
	if r.name != "" {
		args = append(args, "--name", r.name)
	}
	if r.release != "" {
		args = append(args, "--release", r.release)
	}
	for _, defect := range r.defects {
		args = append(args, "--defect", defect)
	}
	return args
}

// load reads the topology as it was asked for.
func (r *request) load() (*cluster.Topology, error) {
	topology, err := cluster.LoadTopology(r.topology)
	if err != nil {
		return nil, err
	}
	if topology.ExternallyManaged() {
		return nil, fmt.Errorf("%s is an external cluster, so there is nothing to bring up and nothing to remove; `evenkeel run --topology %s` plays a scenario on it", r.topology, r.topology)
	}
	if r.release != "" {
		topology.SetRelease(r.release)
	}
	if r.name == "" {
		r.name = topology.Metadata.Name
	}
	return topology, nil
}

// prepare makes the cluster that was asked for.
func (r *request) prepare(ctx context.Context, registry cluster.Registry) (cluster.Cluster, error) {
	topology, err := r.load()
	if err != nil {
		return nil, err
	}
	return registry.New(ctx, topology, cluster.Options{Name: r.name, Owner: PurposeUp, Defects: r.defects})
}
