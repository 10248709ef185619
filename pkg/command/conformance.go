package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/console"
	"github.com/evenkeel/evenkeel/pkg/run"
)

func newConformance() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "conformance",
		Short: "Play the whole catalog against one target, and leave one report: run, status, resume, report, collect, job, line",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("name what to do with a campaign; see `%s --help`", cmd.CommandPath())
			}
			return fmt.Errorf("there is no `%s %s`; see `%s --help`", cmd.CommandPath(), args[0], cmd.CommandPath())
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConformanceRun(), newConformanceResume(), newConformanceStatus(), newConformanceReport(), newConformanceCollect(), newConformanceJob(), newConformanceLine())
	return cmd
}

// planFlags are the flags that say what a campaign is asked for.
type planFlags struct {
	request          conformance.Request
	confidence, rate string
}

func (p *planFlags) add(cmd *cobra.Command) {
	f, r := cmd.Flags(), &p.request
	f.StringVar(&r.Topology, "topology", run.DefaultTopology, "the control plane to bring up: a file, or one that ships with evenkeel")
	f.StringVar(&r.Release, "release", "", "release that all members begin at (default the topology's or the scenario's)")
	f.StringSliceVar(&r.Profiles, "profile", nil, "profile to judge, may be repeated (default all)")
	f.StringVar(&r.Focus, "focus", "", "judge only requirements whose ID this regular expression matches")
	f.StringSliceVar(&r.Scenarios, "scenario", nil, "play only this scenario, by name; may be repeated (default all that can judge what is asked)")
	f.StringVar(&p.confidence, "confidence", "", "with --rate: play as many runs as it takes to be so confident, such as 95")
	f.StringVar(&p.rate, "rate", "", "with --confidence: that a requirement fails in at most this share of runs, such as 10%")
	f.IntVar(&r.Repeat, "repeat", 1, "play each scenario at least this often")
	f.IntVar(&r.Tries, "tries", 3, "play a run at most this often until it is conclusive")
	f.Int64Var(&r.Seed, "seed", 0, "seed of the first run of each scenario (default one that is chosen and written into the plan)")
	f.StringVar(&r.Defect, "defect", "", "plant this defect in every run, or several with commas between; reference distribution only")
	f.BoolVar(&r.Strict, "strict", false, "take documented deviations of the distribution for failures")
	f.BoolVar(&r.AllowDisruption, "allow-disruption", false, "play what disrupts an external cluster, too")
}

// seeds is the number of seeds that are chosen from: people copy them.
const seeds = 1_000_000

// plan makes the plan.
func (p *planFlags) plan(ctx context.Context) (*conformance.Plan, error) {
	r := p.request
	r.Version, r.Providers = Version(), providers.All()
	if (p.confidence == "") != (p.rate == "") {
		return nil, fmt.Errorf("--confidence and --rate belong together, such as --confidence 95 --rate 10%%")
	}
	if p.rate != "" {
		var err error
		if r.Confidence, err = conformance.ParsePercent("--confidence", p.confidence); err != nil {
			return nil, err
		}
		if r.Rate, err = conformance.ParsePercent("--rate", p.rate); err != nil {
			return nil, err
		}
	}
	if r.Seed == 0 {
		r.Seed = 1 + rand.Int64N(seeds)
	}
	return conformance.NewPlan(ctx, r)
}

func newConformanceRun() *cobra.Command {
	var flags planFlags
	var shard, out, parallel string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Plan the runs, play each in a process of its own, judge, and write one report",
		Long: `Run plays each scenario that can judge what is asked on the topology, and writes
` + conformance.ReportFile + ` over all of them: of each requirement the verdict, how often it was
put to the test in how many runs, and the exact upper bound on how often it may still
fail. One breach with evidence makes the campaign a fail. A run that is inconclusive is
played again, at most --tries times, and every try is in the report.

Without --confidence and --rate each scenario is played --repeat times. With them each
requirement is judged in as many runs as it takes: 29 for --confidence 95 --rate 10%.

With --parallel auto the campaign finds out how many runs the machine can play at a time. It
plays one more when CPUs are idle and as long as all end well, and half as many after a run that
left no verdict or in which a requirement stayed open because the machine was starved, which both
are tried again.

The plan is written first. A campaign that was interrupted goes on with
` + "`evenkeel conformance resume`" + `. With --shard several machines share one plan: they need the
same evenkeel, flags and --seed.

Exit status: 0 every requirement is kept, 1 one is broken, 2 one stayed open or was not
judged, 3 the campaign could not be played to its end.`,
		Example: `  evenkeel conformance run --out _out/ours
  evenkeel conformance run --topology theirs.yaml --confidence 95 --rate 10% --parallel auto --out _out/theirs
  evenkeel conformance run --profile coordinated-leader-election --seed 1 --shard 1/4 --out _out/first`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			part, err := conformance.ParseShard(shard)
			if err != nil {
				return err
			}
			if part.Of > 0 && flags.request.Seed == 0 {
				return fmt.Errorf("--shard needs the --seed that all shards have")
			}
			side, err := conformance.ParseParallel(parallel)
			if err != nil {
				return err
			}
			plan, err := flags.plan(cmd.Context())
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(run.DefaultOut, "conformance-"+time.Now().UTC().Format("20060102-150405"))
			}
			return playCampaign(cmd, out, side, func(ctx context.Context, o conformance.Options) (*conformance.Report, error) {
				o.Shard = part
				return conformance.Begin(ctx, plan, o)
			})
		},
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.StringVar(&parallel, "parallel", "1", "how many runs to play at a time, or auto")
	f.StringVar(&shard, "shard", "", "play only the part `I/N` of the plan, such as 1/4; evenkeel conformance collect merges the parts")
	f.StringVar(&out, "out", "", "folder of the campaign (default one below "+run.DefaultOut+")")
	return cmd
}

func newConformanceResume() *cobra.Command {
	var parallel string
	cmd := &cobra.Command{
		Use:   "resume DIR",
		Short: "Go on with a campaign that was interrupted, and play what is missing",
		Long: `Resume reads plan and journal of a campaign and plays what is missing. A run that has
ended is neither lost nor played again, whether the campaign was ended by Ctrl-C, by kill
-9 or by a reboot. A run that was cut off is played again, unless what it has recorded
shows a requirement broken: that counts.`,
		Args: exactlyOne("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			side := 0
			if parallel != "" {
				var err error
				if side, err = conformance.ParseParallel(parallel); err != nil {
					return err
				}
			}
			return playCampaign(cmd, args[0], side, conformance.Resume)
		},
	}
	cmd.Flags().StringVar(&parallel, "parallel", "", "how many runs to play at a time, or auto (default as before)")
	return cmd
}

// playCampaign plays a campaign and prints its report.
func playCampaign(cmd *cobra.Command, dir string, parallel int, play func(context.Context, conformance.Options) (*conformance.Report, error)) error {
	o, err := playOptions(cmd, dir)
	if err != nil {
		return err
	}
	o.Parallel = parallel
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "Campaign: %s\n", dir)
	rep, err := play(cmd.Context(), o)
	if err != nil {
		return err
	}
	if rep == nil {
		fmt.Fprintf(out, "The shard is played. `evenkeel conformance collect` merges it with the others.\n")
		return nil
	}
	return tellCampaign(out, dir, rep)
}

func tellCampaign(out io.Writer, dir string, rep *conformance.Report) error {
	fmt.Fprintln(out)
	if err := printCampaign(out, rep); err != nil {
		return err
	}
	fmt.Fprintf(out, "Report: %s\n", filepath.Join(dir, conformance.ReportFile))
	return verdictStatus(rep.Verdict)
}

// printCampaign writes the verdicts, on a terminal to its width.
func printCampaign(out io.Writer, rep *conformance.Report) error {
	var text bytes.Buffer
	if err := rep.Text(&text, console.Width(out)); err != nil {
		return err
	}
	return console.Print(out, text.String())
}

// bootCost is about how long it takes to bring a control plane up, stop it and judge.
const bootCost = 20 * time.Second

// costs says about how long a run of each shipped scenario takes.
func costs() (func(string) time.Duration, error) {
	all, err := run.Shipped()
	if err != nil {
		return nil, fmt.Errorf("read the scenarios: %w", err)
	}
	of := map[string]time.Duration{}
	for _, s := range all {
		of[s.Metadata.Name] = s.Cost() + bootCost
	}
	return func(name string) time.Duration { return of[name] }, nil
}

func newConformanceStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status DIR",
		Short: "Tell how far a campaign is, and about how long the rest takes",
		Args:  exactlyOne("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, progress, err := conformance.Open(args[0])
			if err != nil {
				return err
			}
			cost, err := costs()
			if err != nil {
				return err
			}
			if err := progress.Status(cmd.OutOrStdout(), cost); err != nil {
				return err
			}
			playing, err := conformance.BeingPlayed(args[0])
			switch {
			case err != nil:
				return err
			case playing:
				fmt.Fprintln(cmd.OutOrStdout(), "It is being played.")
			case !progress.Over():
				fmt.Fprintf(cmd.OutOrStdout(), "It is not being played: `evenkeel conformance resume %s` goes on.\n", args[0])
			}
			return nil
		},
	}
}

func newConformanceReport() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Print the report of a campaign as text, Markdown, JUnit or YAML",
		Long: `Report prints what the runs of a campaign have come to, also before all of them are
played. It takes the verdicts from the reports of the runs; ` + "`evenkeel verify`" + ` judges them
again.

Exit status: that of the verdict, as for ` + "`evenkeel conformance run`" + `.`,
		Args: exactlyOne("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			rep, _, err := conformance.Open(args[0])
			if err != nil {
				return err
			}
			if err := renderCampaign(cmd.OutOrStdout(), rep, output); err != nil {
				return err
			}
			return verdictStatus(rep.Verdict)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text, markdown, junit or yaml")
	return cmd
}

func renderCampaign(out io.Writer, rep *conformance.Report, form string) error {
	var raw []byte
	var err error
	switch form {
	case "text":
		return printCampaign(out, rep)
	case "markdown":
		raw = []byte(rep.Markdown())
	case "junit":
		raw, err = rep.JUnit()
	case "yaml":
		raw, err = rep.YAML()
	default:
		err = fmt.Errorf("--output %q is none of text, markdown, junit and yaml", form)
	}
	if err != nil {
		return err
	}
	_, err = out.Write(raw)
	return err
}
