package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/attest"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/console"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/verify"
)

func newVerify() *cobra.Command {
	var key, report, bundles string
	cmd := &cobra.Command{
		Use:   "verify BUNDLE...",
		Short: "Check bundles: digests, verdicts judged again, signature",
		Long: `Verify tells whether a bundle is whole (every file is in its SHA256SUMS, and no
other), whether its report says what its history says, judged again and compared
field by field, whether it keeps the rules of its form, whether scenario, topology
and environment are those that the history was recorded with, and with --key whether
its signature is that of the key. A report that was judged by other requirements and
checks than this evenkeel's does not match here, and the first line says so. Nor does a
page, JUnit or metrics file that differs from the one that the history gives here,
whatever version of evenkeel the history names.

A history is checked against its format while it is read: what breaks it is damage, on
which nothing passes. Only regular files of bounded size are read; links, pipes and
devices in a bundle are refused.

The folder of a campaign is verified with all its bundles, which may also lie elsewhere, by
digest: name the folder or URL with --bundles. Its plan has to be the one that evenkeel
makes for what was asked, and its report what the bundles come to.

Without a signature it cannot tell whether a user has changed the history in a
way that no verdict follows from, and has made report and digests anew.

Exit status: 0 all match, 1 one does not, 3 one cannot be read.`,
		Example: `  evenkeel verify reports/kubernetes/*
  evenkeel verify --key vendor.pub their-bundle`,
		Args: atLeastOne("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			options := verify.Options{Report: report, Harness: Version()}
			if report != "" && len(args) > 1 {
				return fmt.Errorf("--report is the report of a single bundle, and %d are named", len(args))
			}
			if key != "" {
				public, err := attest.LoadPublicKey(key)
				if err != nil {
					return err
				}
				options.Key = public
			}
			source, err := sourceOf(bundles)
			if err != nil {
				return err
			}
			var unreadable error
			broken := false
			for _, dir := range args {
				if conformance.Is(dir) {
					held, err := verifyCampaign(cmd, dir, conformance.VerifyOptions{Key: options.Key, Harness: options.Harness, Bundles: source})
					unreadable, broken = errors.Join(unreadable, err), broken || !held
					continue
				}
				outcome, err := verify.Bundle(cmd.Context(), dir, options)
				if err != nil {
					unreadable = errors.Join(unreadable, fmt.Errorf("%s cannot be verified: %w", dir, err))
					continue
				}
				broken = broken || !outcome.Matches()
				if err := tellOutcome(cmd.OutOrStdout(), dir, outcome); err != nil {
					return err
				}
			}
			switch {
			case broken:
				if unreadable == nil {
					unreadable = errors.New("")
				}
				return &exit.Error{Code: exit.Fail, Err: unreadable}
			case unreadable != nil:
				return unreadable
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "public key that the bundles must be signed with")
	cmd.Flags().StringVar(&bundles, "bundles", "", "folder or URL that has bundles of a campaign by digest, where its own folder lacks them")
	cmd.Flags().StringVar(&report, "report", "", "report to compare in the place of the bundle's own")
	return cmd
}

func tellOutcome(out io.Writer, dir string, o *verify.Outcome) error {
	told := fmt.Sprintf("%s: ", dir)
	if o.Matches() {
		told += fmt.Sprintf("matches (%d files, %d events judged again, verdict %s", len(o.Digests), o.Report.Events, o.Report.Verdict)
		if o.Signed != "" {
			told += ", signed by " + o.Signed
		}
		told += ")\n"
	} else {
		told += "does not match\n"
	}
	for _, p := range o.Problems {
		told += "  - " + p + "\n"
	}
	for _, n := range o.Notes {
		told += "  note: " + n + "\n"
	}
	return console.Print(out, told)
}

// atLeastOne is cobra.MinimumNArgs(1) with a sentence that says what is missing.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s needs at least one %s; see `%s --help`", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}
