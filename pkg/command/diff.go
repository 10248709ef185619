package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func newDiff() *cobra.Command {
	return &cobra.Command{
		Use:   "diff BUNDLE BUNDLE",
		Short: "Compare two runs: verdicts, what was seen, releases, faults, duration",
		Long: `Diff judges two bundles again and tells what differs: who was under test, what
was played, how long it took, and which requirements came out otherwise or were
put to the test otherwise.

Exit status: 0 no requirement came out worse in the second, 1 one did, 3 a bundle
cannot be read.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("%s needs two BUNDLEs; see `%s --help`", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var reports [2]*report.ConformanceReport
			for i, dir := range args {
				rep, err := judge.Bundle(cmd.Context(), dir)
				if err != nil {
					return err
				}
				reports[i] = rep
			}
			d := report.Diff(reports[0], reports[1])
			told := fmt.Sprintf("first:  %s\nsecond: %s\n", args[0], args[1])
			for _, line := range d.Lines {
				told += line + "\n"
			}
			if len(d.Lines) == 0 {
				told += "nothing differs\n"
			}
			if len(d.Worse) > 0 {
				told += "worse in the second: " + strings.Join(names(d.Worse), ", ") + "\n"
			}
			if _, err := fmt.Fprint(cmd.OutOrStdout(), told); err != nil {
				return err
			}
			if len(d.Worse) > 0 {
				return &exit.Error{Code: exit.Fail, Err: errors.New("")}
			}
			return nil
		},
	}
}

func names(of []requirement.ID) []string {
	out := make([]string, 0, len(of))
	for _, id := range of {
		out = append(out, string(id))
	}
	return out
}
