package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

// Formats of the tables.
const (
	formatText = "text"
	formatJSON = "json"
)

// table makes a command that prints a table as text or its rows as JSON.
func table(name, short string, rows any, text func(io.Writer)) *cobra.Command {
	format := formatText
	command := component(name, short, func(command *cobra.Command) error {
		out := command.OutOrStdout()
		switch format {
		case formatJSON:
			encoder := json.NewEncoder(out)
			encoder.SetIndent("", "  ")
			return encoder.Encode(rows)
		case formatText:
			columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			text(columns)
			return columns.Flush()
		default:
			return fmt.Errorf("-o %q is neither %s nor %s", format, formatText, formatJSON)
		}
	})
	command.Flags().StringVarP(&format, "output", "o", formatText, "text or json")
	return command
}

func releasesCommand() *cobra.Command {
	return table("releases", "List the releases that a component can play", release.All(), func(out io.Writer) {
		fmt.Fprintln(out, "RELEASE\tRESOURCE\tSERVED\tDECODABLE\tSTORED")
		for _, r := range release.All() {
			for _, resource := range r.Resources {
				fmt.Fprintf(out, "%s\t%s.%s\t%s\t%s\t%s\n", r.Name, resource.Resource, resource.Group,
					strings.Join(resource.Served, ","), strings.Join(resource.Decodable, ","), resource.Encoding)
			}
		}
	})
}

// defectRow is a defect as scripts read it.
type defectRow struct {
	ID          string `json:"id"`
	Requirement string `json:"requirement"`
	// Component is the processes that need the --defect flag, separated by commas.
	Component   string `json:"component"`
	Description string `json:"description"`
	// Bound is the bound in the requirement's row of the catalog that the defect breaks by
	// little, and By how it does: a time, or a factor such as "×1.33".
	Bound string `json:"bound,omitempty"`
	By    string `json:"by,omitempty"`
}

func defectsCommand() *cobra.Command {
	rows := []defectRow{}
	for _, defect := range defects.All() {
		var components []string
		for _, component := range defect.Components {
			components = append(components, string(component))
		}
		row := defectRow{
			ID: string(defect.ID), Requirement: defect.Requirement,
			Component: strings.Join(components, ","), Description: defect.Description,
		}
		if near, ok := defects.NearOf(defect.ID); ok {
			row.Bound, row.By = near.Bound, near.By()
		}
		rows = append(rows, row)
	}
	return table("defects", "List the bugs that can be planted on purpose", rows, func(out io.Writer) {
		fmt.Fprintln(out, "DEFECT\tREQUIREMENT\tCOMPONENT\tDESCRIPTION")
		for _, row := range rows {
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", row.ID, row.Requirement, row.Component, row.Description)
		}
	})
}
