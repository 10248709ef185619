package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/explore"
	"github.com/evenkeel/evenkeel/pkg/run"
)

// exploring are the flags of evenkeel explore.
type exploring struct {
	topology, out, defect string
	seed                  int64
	budget, length        time.Duration
	max, parallel         int
	members               []int
	random, planOnly      bool
	keep                  bool
}

func newExplore() *cobra.Command {
	var e exploring
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "Compose schedules from a seed, play them, and keep what breaks a requirement",
		Long: `Explore composes schedules from all registered steps, faults and workloads,
plays each on a control plane of its own, and judges it by every requirement. A
schedule that reaches a state which no schedule before has reached is varied
further; with --random, none is.

Each find is a folder below OUT/finds with its bundle: evenkeel run plays its
scenario.yaml and topology.yaml again, and evenkeel shrink makes it smaller.
Finds with one fingerprint (requirement, kind of breach, role of the member) are
one find. OUT/explore.jsonl has a line for each schedule. An exploration that
was ended goes on where it was with the same --out and --seed.

The same seed gives the same schedules: with --random and --plan-only byte for
byte; guided ones also follow from what the schedules before have reached.`,
		Example: `  evenkeel explore --budget 1h
  evenkeel explore --topology clusters/local-3-kubernetes.yaml --seed 7 --budget 8h --out nights/1
  evenkeel explore --seed 7 --max 1000 --plan-only`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&e.topology, "topology", run.DefaultTopology, "the control plane to explore: a file, or one that ships with evenkeel")
	f.Int64Var(&e.seed, "seed", 1, "seed of all schedules")
	f.DurationVar(&e.budget, "budget", 0, "how long to go on; no schedule begins after that (default without end)")
	f.IntVar(&e.max, "max", 0, "how many schedules to play (default without end)")
	f.IntVar(&e.parallel, "parallel", 1, "how many schedules to play side by side")
	f.IntSliceVar(&e.members, "members", nil, "numbers of members that schedules may have, such as 1,3,5 (default that of the topology)")
	f.DurationVar(&e.length, "length", explore.DefaultBudget, "how long the steps of a schedule take at most, about")
	f.BoolVar(&e.random, "random", false, "vary no schedule: each is drawn anew")
	f.BoolVar(&e.planOnly, "plan-only", false, "write --max schedules to OUT, and play none")
	f.BoolVar(&e.keep, "keep", false, "keep the bundles of schedules that found nothing new too, in OUT/kept")
	f.StringVar(&e.out, "out", "", "folder for finds and the log (default one below "+run.DefaultOut+")")
	f.StringVar(&e.defect, "defect", "", "plant this defect, or several with commas between; reference distribution only")
	return cmd
}

func (e *exploring) run(cmd *cobra.Command) error {
	if e.budget < 0 || e.max < 0 || e.parallel < 1 || e.length <= 0 {
		return errors.New("--budget and --max must not be negative, --parallel must be at least 1, and --length positive")
	}
	for _, n := range e.members {
		if n < cluster.MinMembers || n > explore.MaxMembers {
			return fmt.Errorf("--members %d: schedules can have %d to %d members", n, cluster.MinMembers, explore.MaxMembers)
		}
	}
	if e.out == "" {
		e.out = filepath.Join(run.DefaultOut, fmt.Sprintf("explore-%d", e.seed))
	}
	raw, err := clusters.Read(e.topology)
	if err != nil {
		return fmt.Errorf("the topology %s cannot be read: %w", e.topology, err)
	}
	topology, err := cluster.ParseTopology(e.topology, raw)
	if err != nil {
		return err
	}
	composer, err := explore.NewComposer(cmd.Context(), providers.All(), topology, e.seed)
	if err != nil {
		return err
	}
	composer.Budget, composer.Members = e.length, e.members
	if e.planOnly {
		return e.plan(composer, cmd.OutOrStdout())
	}
	if err := cluster.ShareCPUs(e.parallel); err != nil {
		return err
	}
	runs := explore.Runs{Providers: providers.All(), Harness: Version(), Defect: e.defect}
	result, err := explore.Explore(cmd.Context(), explore.Options{
		Composer: composer, Random: e.random, Max: e.max, Budget: e.budget, Parallel: e.parallel, Out: e.out, Keep: e.keep,
		Play: runs.Play, Story: explore.StoryOf, Clock: clock.RealClock{}, Console: cmd.OutOrStdout(),
	})
	if result == nil {
		return err
	}
	e.tell(cmd.OutOrStdout(), result)
	switch {
	case err != nil:
		return err
	case len(result.Finds) > 0:
		return &exit.Error{Code: exit.Fail, Err: errors.New("")}
	}
	return nil
}

// plan writes schedules and plays none.
func (e *exploring) plan(composer *explore.Composer, out io.Writer) error {
	if e.max == 0 {
		return errors.New("--plan-only writes as many schedules as --max says: give it")
	}
	for i := range e.max {
		s, err := composer.Compose(i, nil)
		if err == nil {
			err = s.Write(filepath.Join(e.out, fmt.Sprint(i)))
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d schedules: %s\n", e.max, e.out)
	return nil
}

func (e *exploring) tell(out io.Writer, r *explore.Result) {
	hourly := ""
	if r.Took > 0 {
		hourly = fmt.Sprintf(", %.0f an hour", float64(r.Schedules)/r.Took.Hours())
	}
	fmt.Fprintf(out, "\n%d schedules in %s%s: %d combinations of states and obligations, %d schedules reached a new one; %d doubtful, %d not judged\n",
		r.Schedules, r.Took.Round(time.Second), hourly, r.Features, r.Corpus, r.Doubtful, r.Spoilt)
	found := r.Fingerprints()
	fmt.Fprintf(out, "%d distinct finds\n", len(found))
	for _, f := range slices.Sorted(slices.Values(found)) {
		fmt.Fprintf(out, "  %s\n", strings.TrimSpace(f))
	}
}
