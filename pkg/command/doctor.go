package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
	"github.com/evenkeel/evenkeel/pkg/console"
	"github.com/evenkeel/evenkeel/pkg/doctor"
)

func newDoctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Tell what this machine can run, and what it lacks",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			table := console.NewTable()
			missing := 0
			for _, f := range doctor.Examine(cmd.Context(), providers.All()) {
				mark := "ok"
				if !f.OK {
					mark = "lacking"
					if f.Needed {
						mark = "MISSING"
						missing++
					}
				}
				table.Addf("%s\t%s\t%s", mark, f.What, f.Detail)
			}
			if err := table.Print(cmd.OutOrStdout()); err != nil {
				return err
			}
			if missing > 0 {
				return fmt.Errorf("%d things that every run needs are missing, see above", missing)
			}
			return nil
		},
	}
}
