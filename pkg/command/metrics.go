package command

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/metrics"
)

func newMetrics() *cobra.Command {
	var out string
	var dashboard bool
	cmd := &cobra.Command{
		Use:   "metrics BUNDLE",
		Short: "Tell of a run in numbers, in the text format of Prometheus",
		Long: `Metrics judges a bundle again and prints what it counts of it: steps, requests by
member and outcome, faults, leaders, skew between a leader and the oldest API
server, observations and verdicts. A run has left them in its bundle as
metrics.prom; published bundles do without. While a run goes on they are served
with evenkeel run --metrics-addr.

With --dashboard a Grafana dashboard of these metrics is printed instead.`,
		Example: `  evenkeel metrics _out/upgrade-rollback-crash-20261120-100000
  evenkeel metrics --dashboard --out evenkeel.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if dashboard {
				return none(cmd, args)
			}
			return oneBundle(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			data := metrics.Dashboard
			if !dashboard {
				rep, err := judge.Bundle(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if data, err = metrics.Bundle(cmd.Context(), args[0], rep); err != nil {
					return err
				}
			}
			if out != "" {
				if err := os.WriteFile(out, data, 0o644); err != nil {
					return fmt.Errorf("the metrics cannot be written: %w", err)
				}
				return nil
			}
			_, err := cmd.OutOrStdout().Write(data)
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the file to write (default the terminal)")
	cmd.Flags().BoolVar(&dashboard, "dashboard", false, "print a Grafana dashboard and take no BUNDLE")
	return cmd
}
