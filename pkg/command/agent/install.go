package agent

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent/install"
	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
)

func newInstall(version string, clk clock.PassiveClock) *cobra.Command {
	var flags planFlags
	command := &cobra.Command{
		Use:   "install",
		Short: "Put the agent on the control-plane nodes of an external cluster",
		Long: `Install makes keys for one harness and its agents, creates the objects that ` + "`evenkeel agent\nmanifest`" + ` prints, and waits until every member's agent answers. The harness's keys lie in a
folder beside the topology; keep it readable by you alone. If anything fails, nothing is left.`,
		Example: `  evenkeel agent install --topology theirs.yaml
  evenkeel run --topology theirs.yaml --allow-disruption
  evenkeel agent remove --topology theirs.yaml`,
		Args: none,
		RunE: func(command *cobra.Command, _ []string) error {
			topology, plan, err := flags.plan(clk.Now())
			if err != nil {
				return err
			}
			client, err := anyMember(command.Context(), topology)
			if err != nil {
				return err
			}
			folder := install.KeysFolder(topology)
			if plan.Keys, err = install.MakeKeys(folder); err != nil {
				return err
			}
			err = install.Install(command.Context(), client, plan, func(ctx context.Context) error { return meet(ctx, topology, plan.Rung, version) })
			if err != nil {
				return errors.Join(err, os.RemoveAll(folder))
			}
			_, err = fmt.Fprintf(command.OutOrStdout(), "The agent runs on the node of every member (%s), until %s at the latest. Its keys are in %s.\n", plan.Rung, plan.Expires.Local().Format("2006-01-02 15:04"), folder)
			return err
		},
	}
	flags.add(command)
	return command
}

// hostOf is the provider of a topology, as one whose nodes can have an agent.
func hostOf(topology *cluster.Topology) (agent.Host, error) {
	provider, err := providers.All().Lookup(topology.Spec.Provider)
	if err != nil {
		return nil, err
	}
	host, ok := provider.(agent.Host)
	if !ok {
		return nil, fmt.Errorf("clusters of the provider %s need no agent: it is for clusters that you run yourself", provider.Name())
	}
	return host, nil
}

// meet asks every member's agent who it is.
func meet(ctx context.Context, topology *cluster.Topology, rung cluster.Rung, version string) error {
	host, err := hostOf(topology)
	if err != nil {
		return err
	}
	clients, _, err := host.Agents(topology, "install")
	if err != nil {
		return err
	}
	nodes := map[string]string{}
	for _, member := range topology.Spec.Members {
		who, err := clients[member.Name].Who(ctx)
		if err != nil {
			return fmt.Errorf("%w; if this machine does not reach the nodes, set spec.external.agentTunnel, or external.address of the member", err)
		}
		if other, twice := nodes[who.Node]; twice {
			return fmt.Errorf("the agent of the node %s answers for %s and for %s: set external.address of both", who.Node, other, member.Name)
		}
		nodes[who.Node] = member.Name
		if who.Rung != rung || who.Version != version {
			return fmt.Errorf("the agent of %s is %s (%s), and this is %s (%s): write the image anew with `evenkeel agent image`", member.Name, who.Version, who.Rung, version, rung)
		}
	}
	return nil
}

// anyMember is a client of the first member whose API server answers.
func anyMember(ctx context.Context, topology *cluster.Topology) (kubernetes.Interface, error) {
	host, err := hostOf(topology)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, member := range topology.Spec.Members {
		config, err := host.Administrator(topology, member)
		if err != nil {
			return nil, err
		}
		config.Timeout = requestBound
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", member.Name, err)
		}
		if _, err = client.Discovery().ServerVersion(); err == nil {
			return client, nil
		}
		problems = append(problems, fmt.Errorf("member %s: %w", member.Name, err))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return nil, fmt.Errorf("no API server answers: %w", errors.Join(problems...))
}
