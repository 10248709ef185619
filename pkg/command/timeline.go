package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/report/timeline"
)

func newTimeline() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "timeline BUNDLE",
		Short: "Draw a bundle's run as a page for a browser",
		Long: `Timeline draws what happened when: one page that needs no network, made from the
history alone. A run has left one in its bundle already; published bundles do
without, to be small.

Without --out the page goes into the bundle, and its digests are made anew. They
must hold before that.`,
		Args: oneBundle,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			inside := out == ""
			if inside {
				if err := resealable(cmd.Context(), dir); err != nil {
					return err
				}
				out = filepath.Join(dir, bundle.TimelineFile)
			}
			rep, err := judge.Bundle(cmd.Context(), dir)
			if err != nil {
				return err
			}
			page, err := timeline.Bundle(cmd.Context(), dir, rep)
			if err != nil {
				return err
			}
			if err := os.WriteFile(out, page, 0o644); err != nil {
				return fmt.Errorf("the timeline cannot be written: %w", err)
			}
			if inside {
				if err := bundle.Seal(cmd.Context(), dir); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", out)
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the file to write, which leaves the bundle as it is")
	return cmd
}

// resealable is whether new digests would hide nothing: the old ones hold, and
// they are not signed.
func resealable(ctx context.Context, dir string) error {
	if err := unsigned(dir); err != nil {
		return err
	}
	problems, _, err := bundle.Audit(ctx, dir)
	if err != nil {
		return fmt.Errorf("the timeline of %s cannot be drawn: %w", dir, err)
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s is not whole, and new digests would hide that: %s", dir, strings.Join(problems, "; "))
	}
	return nil
}
