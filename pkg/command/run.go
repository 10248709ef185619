package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
	"github.com/evenkeel/evenkeel/pkg/run"
)

func newRun() *cobra.Command {
	o := run.Options{Harness: Version()}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Bring a control plane up, play a scenario, record, judge and leave a bundle",
		Long: `Run is the main job. Without flags it takes three members of the reference
control plane on this machine through an upgrade with a rollback, a crash and a
pause, and judges what that scenario can judge.

Every run is judged by every requirement. Only what the scenario lists, and --profile
and --focus leave in, can pass; the run also fails if its history shows any other
requirement broken.
A requirement that --profile or --focus asks for and that the scenario cannot judge
makes a pass inconclusive.

With --focus or --defect and no --scenario, the cheapest scenario that can
judge what is asked for is played.`,
		Example: `  evenkeel run
  evenkeel run --focus SV-06
  evenkeel run --defect SV-06-inverted-condition
  evenkeel run --topology clusters/local-5.yaml --scenario fixtures/scenarios/boot-together.yaml
  evenkeel run --topology theirs.yaml --scenario fixtures/scenarios/discovery-upgrade.yaml --allow-disruption`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Console, o.Providers = cmd.OutOrStdout(), providers.All()
			out, err := run.Run(cmd.Context(), o)
			if out == nil {
				return err
			}
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout())
				err = printTable(cmd.OutOrStdout(), out.Report)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Bundle: %s\n", out.Bundle)
			if out.Oversize.Compressed > 0 {
				fmt.Fprintln(cmd.OutOrStdout(), out.Oversize)
			}
			if err != nil {
				return err
			}
			return verdictStatus(out.Report.Verdict)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Topology, "topology", run.DefaultTopology, "the control plane to bring up: a file, or one that ships with evenkeel")
	f.StringVar(&o.Release, "release", "", "release that all members begin at (default the topology's or the scenario's)")
	f.StringVar(&o.Scenario, "scenario", "", "the scenario to play: a file, or one that ships with evenkeel (default "+run.DefaultScenario+")")
	f.StringSliceVar(&o.Profiles, "profile", nil, "profile to judge as a whole, may be repeated (default: what the scenario can judge)")
	f.StringVar(&o.Focus, "focus", "", "let only requirements pass whose ID this regular expression matches; any other one that is broken is still reported")
	f.Int64Var(&o.Seed, "seed", 0, "seed of all randomness (default one that is chosen and printed)")
	f.StringVar(&o.Out, "out", "", "folder for the bundle (default one below "+run.DefaultOut+")")
	f.StringVar(&o.Defect, "defect", "", "plant this defect, or several with commas between; reference distribution only")
	f.BoolVar(&o.Strict, "strict", false, "take documented deviations of the distribution for failures; the history remembers it")
	f.BoolVar(&o.AllowDisruption, "allow-disruption", false, "play what disrupts an external cluster, too")
	f.BoolVar(&o.NoTraffic, "no-traffic", false, "write nothing to the control plane that a check could learn from")
	f.StringVar(&o.MetricsAddr, "metrics-addr", "", "serve metrics at http://ADDRESS/metrics while the run goes on, such as 127.0.0.1:9099 (default nowhere)")
	return cmd
}
