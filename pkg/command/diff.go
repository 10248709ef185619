package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/conformance"
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
put to the test otherwise. Of two campaigns it takes their reports, and tells with Fisher's
exact test whether one breaks a requirement more often, or that the runs are too few.

Exit status: 0 no requirement came out worse in the second, 1 one did, 3 a bundle
cannot be read.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("%s needs two BUNDLEs; see `%s --help`", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			lines, worse, err := compare(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			told := fmt.Sprintf("first:  %s\nsecond: %s\n", args[0], args[1])
			for _, line := range lines {
				told += line + "\n"
			}
			if len(lines) == 0 {
				told += "nothing differs\n"
			}
			if len(worse) > 0 {
				told += "worse in the second: " + strings.Join(names(worse), ", ") + "\n"
			}
			if _, err := fmt.Fprint(cmd.OutOrStdout(), told); err != nil {
				return err
			}
			if len(worse) > 0 {
				return &exit.Error{Code: exit.Fail, Err: errors.New("")}
			}
			return nil
		},
	}
}

// compare compares two bundles or two campaigns.
func compare(ctx context.Context, a, b string) (lines []string, worse []requirement.ID, err error) {
	if conformance.Is(a) != conformance.Is(b) {
		return nil, nil, fmt.Errorf("one of %s and %s is a campaign and the other one is not: name two of a kind", a, b)
	}
	if conformance.Is(a) {
		first, _, err := conformance.Open(a)
		if err != nil {
			return nil, nil, err
		}
		second, _, err := conformance.Open(b)
		if err != nil {
			return nil, nil, err
		}
		d := conformance.Diff(first, second)
		return d.Lines, d.Worse, nil
	}
	first, err := judge.Bundle(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	second, err := judge.Bundle(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	d := report.Diff(first, second)
	return d.Lines, d.Worse, nil
}

func names(of []requirement.ID) []string {
	out := make([]string, 0, len(of))
	for _, id := range of {
		out = append(out, string(id))
	}
	return out
}
