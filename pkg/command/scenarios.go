package command

import (
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/console"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

func newScenarios() *cobra.Command {
	return &cobra.Command{
		Use:   "scenarios",
		Short: "List the scenarios that ship with Evenkeel, with what each can judge and what it needs",
		Long: `Scenarios lists every scenario that ships with Evenkeel: about how long its steps take
once the control plane is up, what it needs of the provider and the topology, and the
requirements that can pass in it. Any requirement can fail in any scenario.`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := fs.Glob(fixtures.Files, "scenarios/*.yaml")
			if err != nil {
				return err
			}
			table := console.NewTable()
			table.Addf("SCENARIO\tTAKES\tNEEDS\tJUDGES")
			for _, file := range files {
				s, err := scenario.LoadFS(fixtures.Files, file)
				if err != nil {
					return err
				}
				needs := strings.Join(s.Needs(), ", ")
				if needs == "" {
					needs = "–"
				}
				table.Addf("%s\t%s\t%s\t%s", path.Base(file), s.Cost().Round(time.Second), needs, strings.Join(s.Judges, " "))
			}
			return table.Print(cmd.OutOrStdout())
		},
	}
}
