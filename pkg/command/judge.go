package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/console"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/metrics"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/report/timeline"
)

func newJudge() *cobra.Command {
	var output string
	var update bool
	cmd := &cobra.Command{
		Use:   "judge BUNDLE",
		Short: "Give the verdicts again, from the history of a bundle alone",
		Long: `Judge reads the history in a bundle, and of scenario, topology and environment the
digests: no cluster, no clock. The same bundle gives the same bytes. The bundle is
not changed.

With --update the report is written anew, with all that shows it, and the digests
with them: for bundles of one's own, when a check has changed on purpose.`,
		Args: oneBundle,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "table" && output != "yaml" {
				return fmt.Errorf("--output %q is neither table nor yaml", output)
			}
			if update {
				if err := resealable(cmd.Context(), args[0]); err != nil {
					return err
				}
			}
			rep, err := judge.Bundle(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if update {
				if err := rewrite(cmd.Context(), args[0], rep); err != nil {
					return err
				}
			}
			if output == "yaml" {
				data, err := rep.YAML()
				if err != nil {
					return err
				}
				if _, err := cmd.OutOrStdout().Write(data); err != nil {
					return err
				}
			} else if err := printTable(cmd.OutOrStdout(), rep); err != nil {
				return err
			}
			return verdictStatus(rep.Verdict)
		},
	}
	cmd.Flags().BoolVar(&update, "update", false, "write the report of the bundle anew; its digests must hold, and it must not be signed")
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table or yaml")
	return cmd
}

// printTable writes the verdicts, on a terminal to its width.
func printTable(out io.Writer, rep *report.ConformanceReport) error {
	var text bytes.Buffer
	if err := rep.Table(&text, console.Width(out)); err != nil {
		return err
	}
	return console.Print(out, text.String())
}

// rewrite writes into a bundle what follows from its history: the report, and in
// other forms where the bundle has those.
func rewrite(ctx context.Context, dir string, rep *report.ConformanceReport) error {
	for _, file := range []struct {
		name   string
		always bool
		make   func() ([]byte, error)
	}{
		{bundle.ReportFile, true, rep.YAML},
		{bundle.JUnitFile, false, rep.JUnit},
		{bundle.MetricsFile, false, func() ([]byte, error) { return metrics.Bundle(ctx, dir, rep) }},
		{bundle.TimelineFile, false, func() ([]byte, error) { return timeline.Bundle(ctx, dir, rep) }},
	} {
		path := filepath.Join(dir, file.name)
		if bundle.Lacks(dir, file.name) && !file.always {
			continue
		}
		content, err := file.make()
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return fmt.Errorf("the bundle cannot be written: %w", err)
		}
	}
	return bundle.Seal(ctx, dir)
}

// none is cobra.NoArgs with a sentence that does not call an argument a command.
func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, but got %q; see `%s --help`", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

// oneBundle is for commands that take the folder of one run, and not that of a campaign.
func oneBundle(cmd *cobra.Command, args []string) error {
	if err := exactlyOne("BUNDLE")(cmd, args); err != nil {
		return err
	}
	if dir := args[0]; conformance.Is(dir) {
		return fmt.Errorf("%s is the folder of a campaign: name a bundle in %s, or use `evenkeel conformance report %s`", dir, filepath.Join(dir, conformance.RunsDir), dir)
	}
	return nil
}

// exactlyOne is cobra.ExactArgs with a sentence that says what is missing.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s needs exactly one %s; see `%s --help`", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}
