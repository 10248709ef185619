package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/cluster/driver"
	"github.com/evenkeel/evenkeel/pkg/console"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/scenario"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

func newSteps() *cobra.Command {
	return newReference("steps", "step", "Describe the steps that a scenario can have, or one of them; when is what a step can wait for",
		func() (string, error) { return scenario.Reference(), nil },
		func(name string) (string, bool, error) {
			text, ok := scenario.StepReference(name)
			return text, ok, nil
		})
}

func newFaults() *cobra.Command {
	return newReference("faults", "fault", "Describe the kinds of faults, their actions and the faults that ship, or one of them",
		func() (string, error) { return fault.Reference(fixtures.Files) },
		func(name string) (string, bool, error) { return fault.ReferenceOf(fixtures.Files, name) })
}

func newWorkloads() *cobra.Command {
	return newReference("workloads", "workload", "Describe the workloads that ship, or one of them",
		func() (string, error) { return workload.Reference(fixtures.Files) },
		func(name string) (string, bool, error) { return workload.ReferenceOf(fixtures.Files, name) })
}

func newDrivers() *cobra.Command {
	return newReference("drivers", "driver", "Describe the drivers that operate the nodes of an external cluster, or one of them",
		func() (string, error) { return driver.Reference(), nil },
		func(name string) (string, bool, error) {
			text, ok := driver.ReferenceOf(name)
			return text, ok, nil
		})
}

// newReference prints a reference, or its part that describes one thing.
func newReference(use, what, shortly string, all func() (string, error), one func(name string) (string, bool, error)) *cobra.Command {
	return &cobra.Command{
		Use:   use + " [NAME]",
		Short: shortly,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				text, err := all()
				if err != nil {
					return err
				}
				return console.Print(cmd.OutOrStdout(), text)
			}
			text, ok, err := one(args[0])
			if err != nil {
				return err
			}
			if !ok {
				return fmt.Errorf("there is no %s %q; `%s` lists the %s", what, args[0], cmd.CommandPath(), use)
			}
			return console.Print(cmd.OutOrStdout(), text)
		},
	}
}
