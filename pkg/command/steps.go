package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/console"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

func newSteps() *cobra.Command {
	return &cobra.Command{
		Use:   "steps [NAME]",
		Short: "Describe the steps that a scenario can have, or one of them; when is what a step can wait for",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := scenario.Reference()
			if len(args) > 0 {
				section, ok := scenario.StepReference(args[0])
				if !ok {
					return fmt.Errorf("there is no step %q; `%s` lists the steps", args[0], cmd.CommandPath())
				}
				text = section
			}
			return console.Print(cmd.OutOrStdout(), text)
		},
	}
}
