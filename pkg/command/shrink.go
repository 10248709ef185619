package command

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
	"github.com/evenkeel/evenkeel/pkg/explore"
)

func newShrink() *cobra.Command {
	var out, requirement string
	var tries, replays, maxRuns int
	cmd := &cobra.Command{
		Use:   "shrink BUNDLE",
		Short: "Make the scenario of a bundle as small as it can be while the same requirement fails",
		Long: `Shrink takes steps, faults, members, settings, workloads and lengths away from the
scenario that a bundle has played, as long as a run of it breaks the same
requirement in the same way, by a member in the same role. It leaves the smallest
scenario and its topology in OUT, which evenkeel run plays, and says in how many
of the last runs they showed it.

A race does not show in every run: --tries says how often a smaller scenario is
played until it counts as one that does not show the find.`,
		Example: `  evenkeel shrink _out/explore-1/finds/12-svm-05-1c9a7f02
  evenkeel shrink --tries 5 --requirement CLE-11 _out/upgrade-rollback-crash-20261101-120000`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if tries < 1 || replays < 0 || maxRuns < 0 {
				return fmt.Errorf("--tries must be at least 1, and --replays and --max-runs must not be negative")
			}
			find, err := explore.ReadFind(cmd.Context(), args[0], requirement)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Clean(args[0]) + "-small"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", find.Fingerprint, find.Message)
			runs := explore.Runs{Providers: providers.All(), Harness: Version(), Defect: find.Defect}
			s := explore.Shrinker{Shows: runs.Showing(find, filepath.Join(out, "runs")), Tries: tries, Replays: replays, MaxRuns: maxRuns, Console: cmd.OutOrStdout()}
			small, ended := s.Shrink(cmd.Context(), find.Candidate)
			if small == nil {
				return ended
			}
			if err := small.Describe(find.Find, "found-"+find.Fingerprint.Folder()); err != nil {
				return err
			}
			if err := small.Write(out); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d steps of %d are left after %d runs; shown in %d of the last %d: %s\n",
				small.Steps, small.Before, small.Runs, small.Shown, small.Replays, filepath.Join(out, "scenario.yaml"))
			return ended
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "folder for the smallest scenario and the bundle of a run of it (default BUNDLE-small)")
	f.StringVar(&requirement, "requirement", "", "the requirement that is to stay broken (default the first one that failed)")
	f.IntVar(&tries, "tries", 2, "how often to play a smaller scenario until it counts as one that does not show the find")
	f.IntVar(&replays, "replays", 5, "how often to play the smallest scenario at the end")
	f.IntVar(&maxRuns, "max-runs", 0, "how many runs to play before that (default without end)")
	return cmd
}
