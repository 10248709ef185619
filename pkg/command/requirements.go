package command

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func newRequirements() *cobra.Command {
	return &cobra.Command{
		Use:   "requirements [ID...]",
		Short: "List the promises in the catalog with the bounds that they are judged by, and the profiles",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, ids []string) error {
			if len(ids) > 0 {
				return describe(cmd.OutOrStdout(), ids)
			}
			out := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			fmt.Fprintln(out, "ID\tLEVEL\tSOURCE\tJUDGED\tPROMISE")
			for _, r := range requirement.All() {
				judged := "no"
				if check.Built(r.ID) {
					judged = "yes"
				}
				fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Level, r.Source, judged, r.Promise)
			}
			fmt.Fprintln(out, "\nPROFILE\tREQUIREMENTS\t\t\tDESCRIPTION")
			for _, p := range requirement.Profiles() {
				fmt.Fprintf(out, "%s\t%d\t\t\t%s\n", p.Name, len(p.Requirements), p.Description)
			}
			fmt.Fprintln(out, "\nID\tBOUND\tVALUE\tFORMULA\tREASON (`evenkeel requirements ID` has the source, and what a pass needs)")
			for _, r := range requirement.All() {
				printBounds(out, r.ID, r.Bounds, r.Tolerances)
			}
			for _, n := range requirement.Notions() {
				printBounds(out, n.ID, n.Bounds, nil)
			}
			return out.Flush()
		},
	}
}

func printBounds(out io.Writer, id requirement.ID, bounds, tolerances []requirement.Bound) {
	for _, b := range bounds {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", id, b.Name, b.Value, b.Formula, b.Reason)
	}
	for _, b := range tolerances {
		fmt.Fprintf(out, "%s\t%s (tolerance)\t%s\t%s\t%s\n", id, b.Name, b.Value, b.Formula, b.Reason)
	}
}

// describe prints all that the catalog says of some requirements.
func describe(out io.Writer, ids []string) error {
	for _, id := range ids {
		r, ok := requirement.Lookup(requirement.ID(id))
		if !ok {
			return fmt.Errorf("there is no requirement %s; `evenkeel requirements` lists them", id)
		}
		fmt.Fprintf(out, "%s (%s, %s): %s\n", r.ID, r.Level, r.Source, r.Promise)
		for _, b := range r.Bounds {
			fmt.Fprintf(out, "  bound %s\n    %s\n    source: %s\n", b.Words(), b.Reason, b.Source)
		}
		for _, b := range r.Tolerances {
			fmt.Fprintf(out, "  tolerance %s\n    %s\n    source: %s\n", b.Words(), b.Reason, b.Source)
		}
		for _, n := range r.Needs {
			fmt.Fprintf(out, "  a pass needs %d %s\n", n.Least, n.What)
		}
	}
	return nil
}
