package command

import (
	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/judge"
)

func newJudge() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "judge BUNDLE",
		Short: "Give the verdicts again, from the history of a bundle alone",
		Long: `Judge reads the history in a bundle and nothing else: no cluster, no clock.
The same bundle gives the same bytes. The bundle is not changed.`,
		Args: exactlyOne("BUNDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "table" && output != "yaml" {
				return exit.Environmentf("--output %q is neither table nor yaml", output)
			}
			rep, err := judge.Bundle(cmd.Context(), args[0])
			if err != nil {
				return exit.Environment(err)
			}
			if output == "yaml" {
				data, err := rep.YAML()
				if err != nil {
					return err
				}
				if _, err := cmd.OutOrStdout().Write(data); err != nil {
					return err
				}
			} else if err := rep.Table(cmd.OutOrStdout()); err != nil {
				return err
			}
			return verdictStatus(rep.Verdict)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table or yaml")
	return cmd
}

// none is cobra.NoArgs with a sentence that does not call an argument a command.
func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Environmentf("%s takes no arguments, but got %q; see `%s --help`", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

// exactlyOne is cobra.ExactArgs with a sentence that says what is missing.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return exit.Environmentf("%s needs exactly one %s; see `%s --help`", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}
