package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
)

// newServe is what the container of the agent runs.
func newServe(version string, clk clock.WithTicker) *cobra.Command {
	var config, keys string
	command := &cobra.Command{
		Use:    "serve",
		Short:  "Be the agent of a node, as its container is",
		Hidden: true,
		Args:   none,
		RunE: func(command *cobra.Command, _ []string) error {
			if config == "" || keys == "" {
				return errors.New("name the agent's configuration and the folder of its keys: --config and --keys")
			}
			installed, err := agent.ReadInstalled(config)
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(command.ErrOrStderr(), nil))
			if !clk.Now().Before(installed.Expires) {
				// The kubelet would start an agent that ends again and again.
				log.Info("the agent does nothing", "reason", "its lifetime is over; remove it with `evenkeel agent remove`")
				<-command.Context().Done()
				return nil
			}
			service, err := agent.NewService(installed, keys, os.Getenv(agent.NodeVariable), version, agent.NewFirewall(), clk)
			if err != nil {
				return err
			}
			listener, err := net.Listen("tcp", fmt.Sprintf(":%d", installed.Port))
			if err != nil {
				return fmt.Errorf("the agent cannot listen on its node: %w", err)
			}
			log.Info("the agent serves", "rung", installed.Rung, "port", installed.Port, "until", installed.Expires)
			return service.Run(command.Context(), listener, log)
		},
	}
	command.Flags().StringVar(&config, "config", "", "configuration of the agent")
	command.Flags().StringVar(&keys, "keys", "", "folder with the keys of the agent")
	return command
}
