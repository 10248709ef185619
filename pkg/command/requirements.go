package command

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func newRequirements() *cobra.Command {
	return &cobra.Command{
		Use:   "requirements",
		Short: "List the promises in the catalogue, which of them are judged, and the profiles",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
			return out.Flush()
		},
	}
}
