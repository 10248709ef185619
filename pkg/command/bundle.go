package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/bundle/convert"
	"github.com/evenkeel/evenkeel/pkg/judge"
)

func newBundle() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Change bundles: migrate",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("name what to do with bundles; see `%s --help`", cmd.CommandPath())
			}
			return fmt.Errorf("there is no `%s %s`; see `%s --help`", cmd.CommandPath(), args[0], cmd.CommandPath())
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBundleMigrate())
	return cmd
}

func newBundleMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate BUNDLE...",
		Short: "Convert bundles of an older format to the format of this evenkeel",
		Long: `Migrate gives events, steps and fields of older bundles the names that this evenkeel
uses: in the history, scenario.yaml and topology.yaml. It judges the history again,
rewrites the report and the digests, and leaves a note of the old digests in
migrated.yaml. It changes no evidence: what breaks the old format breaks the new one.

The digests of a bundle must hold, and it must not be signed. A bundle that has the
format of this evenkeel stays as it is.`,
		Example: `  evenkeel bundle migrate reports/kubernetes/*`,
		Args:    atLeastOne("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var errs []error
			for _, dir := range args {
				err := convert.Bundle(cmd.Context(), dir, func(ctx context.Context, into string) error {
					rep, err := judge.Bundle(ctx, into)
					if err != nil {
						return err
					}
					return rewrite(ctx, into, rep)
				})
				told := "migrated"
				switch {
				case errors.Is(err, convert.ErrCurrent):
					told = "has the format of this evenkeel already"
				case err != nil:
					errs = append(errs, fmt.Errorf("%s cannot be migrated: %w", dir, err))
					continue
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", dir, told); err != nil {
					return err
				}
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
			return nil
		},
	}
}
