package command

import (
	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/report"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of a report",
		Long: `Schema prints the form of a bundle's ` + bundle.ReportFile + ` as a JSON schema (draft 2020-12), with
a description of each field, for programs that read reports. The rules between fields
are those that ` + "`evenkeel verify`" + ` checks.`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(report.Schema())
			return err
		},
	}
}
