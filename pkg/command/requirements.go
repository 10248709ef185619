package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/console"
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
			table := console.NewTable()
			table.Addf("ID\tLEVEL\tSOURCE\tJUDGED\tPROMISE")
			for _, r := range requirement.All() {
				judged := "no"
				if check.Built(r.ID) {
					judged = "yes"
				}
				table.Addf("%s\t%s\t%s\t%s\t%s", r.ID, r.Level, r.Source, judged, r.Promise)
			}
			table.Addf("\nPROFILE\tREQUIREMENTS\t\t\tDESCRIPTION")
			for _, p := range requirement.Profiles() {
				table.Addf("%s\t%d\t\t\t%s", p.Name, len(p.Requirements), p.Description)
			}
			table.Addf("\nID\tBOUND\tVALUE\tFORMULA\tREASON (`evenkeel requirements ID` has the source, and what a pass needs)")
			for _, r := range requirement.All() {
				printBounds(table, r.ID, r.Bounds, r.Tolerances)
			}
			for _, n := range requirement.Notions() {
				printBounds(table, n.ID, n.Bounds, nil)
			}
			return table.Print(cmd.OutOrStdout())
		},
	}
}

func printBounds(table *console.Table, id requirement.ID, bounds, tolerances []requirement.Bound) {
	for _, b := range bounds {
		table.Addf("%s\t%s\t%s\t%s\t%s", id, b.Name, b.Value, b.Formula, b.Reason)
	}
	for _, b := range tolerances {
		table.Addf("%s\t%s (tolerance)\t%s\t%s\t%s", id, b.Name, b.Value, b.Formula, b.Reason)
	}
}

// describe prints all that the catalog says of some requirements.
func describe(out io.Writer, ids []string) error {
	var text strings.Builder
	for _, id := range ids {
		r, ok := requirement.Lookup(requirement.ID(id))
		if !ok {
			return fmt.Errorf("there is no requirement %s; `evenkeel requirements` lists them", id)
		}
		fmt.Fprintf(&text, "%s (%s, %s): %s\n", r.ID, r.Level, r.Source, r.Promise)
		for _, b := range r.Bounds {
			fmt.Fprintf(&text, "  bound %s\n    %s\n    source: %s\n", b.Words(), b.Reason, b.Source)
		}
		for _, b := range r.Tolerances {
			fmt.Fprintf(&text, "  tolerance %s\n    %s\n    source: %s\n", b.Words(), b.Reason, b.Source)
		}
		for _, n := range r.Needs {
			fmt.Fprintf(&text, "  a pass needs %d %s\n", n.Least, n.What)
		}
	}
	return console.Print(out, text.String())
}
