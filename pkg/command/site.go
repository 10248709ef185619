package command

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/run"
	"github.com/evenkeel/evenkeel/pkg/site"
)

func newSite() *cobra.Command {
	var o site.Options
	var table bool
	cmd := &cobra.Command{
		Use:   "site DIR",
		Short: "Make a static site of a folder of reports",
		Long: `Site reads a folder of reports, such as reports/ of the repository, the folder of a
campaign, or one with several of either, and makes a site of it: a matrix of requirements
and targets, of which each cell leads to counts, runs, evidence and the timeline of each
bundle; findings; and measured figures as charts. The pages load nothing from the network
and can be read from the disk.

It takes the verdicts from the reports; ` + "`evenkeel verify`" + ` judges bundles and campaigns
again.`,
		Example: `  evenkeel site reports --out _out/site
  evenkeel site _out/theirs --without-bundles
  evenkeel site reports --table > reports/results.md`,
		Args: exactlyOne("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			model, err := site.Read(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if table {
				_, err := fmt.Fprint(out, model.Markdown())
				return err
			}
			pages, err := site.Make(cmd.Context(), model, o)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, "%s: %s, %s, %s\n", filepath.Join(o.Out, "index.html"),
				counted(pages, "page"), counted(len(model.Targets), "target"), counted(len(model.Runs), "bundle"))
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Out, "out", filepath.Join(run.DefaultOut, "site"), "folder of the site, missing, empty or an earlier site")
	f.BoolVar(&o.WithoutBundles, "without-bundles", false, "leave out the files of bundles, with which each verdict can be judged again")
	f.BoolVar(&table, "table", false, "print the matrix as a table in Markdown, and write no site")
	return cmd
}

// counted is so many of what a noun names.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
