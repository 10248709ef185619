package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/exit"
)

func newConformanceCollect() *cobra.Command {
	var out, planFile, where string
	cmd := &cobra.Command{
		Use:   "collect DIR... --out DIR",
		Short: "Merge campaigns that played parts of one plan, and write one report",
		Long: `Collect copies the bundles of several campaigns into a new folder and writes the report
of all of them. They must have played parts of the same plan, and two different bundles for
one run of it are refused. With --plan and --store it takes what the Pods of
` + "`evenkeel conformance job`" + ` have left.

Exit status: that of the verdict, as for ` + "`evenkeel conformance run`" + `.`,
		Example: `  evenkeel conformance collect _out/first _out/second --out _out/whole
  evenkeel conformance collect --plan _out/job/plan.yaml --store /mnt/bundles --out _out/whole`,
		Args: func(cmd *cobra.Command, args []string) error {
			if planFile != "" {
				return none(cmd, args)
			}
			return atLeastOne("DIR")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return fmt.Errorf("name the folder of the merged campaign: --out DIR")
			}
			collect := func() (*conformance.Report, error) { return conformance.Collect(args, out) }
			if planFile != "" {
				collect = func() (*conformance.Report, error) { return collectStore(cmd, planFile, where, out) }
			}
			rep, err := collect()
			if err != nil {
				return err
			}
			return tellCampaign(cmd.OutOrStdout(), out, rep)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder of the merged campaign")
	cmd.Flags().StringVar(&planFile, "plan", "", "the plan of a Job, in the place of folders")
	cmd.Flags().StringVar(&where, "store", "", "with --plan: folder or URL that the Pods have put their bundles to")
	return cmd
}

// sourceOf is where bundles are taken from; nil where none was named.
func sourceOf(where string) (conformance.Source, error) {
	if where == "" {
		return nil, nil
	}
	return conformance.NewSource(where)
}

// verifyCampaign verifies a campaign and tells whether it matches. An error says that it cannot
// be read; then nothing is known to be wrong.
func verifyCampaign(cmd *cobra.Command, dir string, o conformance.VerifyOptions) (held bool, err error) {
	v, err := conformance.Verify(cmd.Context(), dir, o)
	if err != nil {
		return true, fmt.Errorf("%s cannot be verified: %w", dir, err)
	}
	return v.Matches(), tellVerification(cmd, dir, v)
}

func tellVerification(cmd *cobra.Command, dir string, v *conformance.Verification) error {
	told := fmt.Sprintf("%s: does not match\n", dir)
	if v.Matches() {
		told = fmt.Sprintf("%s: matches (%s planned, %s judged again, verdict %s", dir, counted(v.Report.Runs.Planned, "run"), counted(v.Judged, "bundle"), v.Report.Verdict)
		if v.Signed != "" {
			told += ", signed by " + v.Signed
		}
		told += ")\n"
	}
	for _, p := range v.Problems {
		told += "  - " + p + "\n"
	}
	for _, n := range v.Notes {
		told += "  note: " + n + "\n"
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), told)
	return err
}

// signCampaign verifies a campaign and signs it.
func signCampaign(cmd *cobra.Command, dir, key string) error {
	id, err := conformance.Sign(cmd.Context(), dir, key, Version())
	var broken *conformance.MismatchError
	if errors.As(err, &broken) {
		return errors.Join(tellVerification(cmd, dir, broken.Verification), &exit.Error{Code: exit.Fail, Err: fmt.Errorf("%s does not match, and is not signed", dir)})
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is signed by %s\n", dir, id)
	return err
}
