package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/report"
)

func newSchema() *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of a report",
		Long: `Schema prints the form of a bundle's ` + bundle.ReportFile + `, or with --kind ` + conformance.Kind + ` that of
a campaign's ` + conformance.ReportFile + `, as a JSON schema (draft 2020-12), with a description of each
field, for programs that read reports. The rules between fields are those that
` + "`evenkeel verify`" + ` checks.`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			schema := report.Schema
			switch kind {
			case report.Kind:
			case conformance.Kind:
				schema = conformance.Schema
			default:
				return fmt.Errorf("--kind %q is neither %s nor %s", kind, report.Kind, conformance.Kind)
			}
			_, err := cmd.OutOrStdout().Write(schema())
			return err
		},
	}
	cmd.Flags().StringVar(&kind, "kind", report.Kind, "kind of the report: "+report.Kind+" or "+conformance.Kind)
	return cmd
}
