// Command refplane is the reference control plane: one binary that plays every
// component of a member, at any release of the table in impl/release.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// exitCannotRun is the exit status of a component that was asked for something
// impossible or could not start.
const exitCannotRun = 3

func main() {
	var delay stopDelay
	ctx := untilSignal(context.Background(), &delay)
	root := &cobra.Command{
		Use:   "refplane",
		Short: "The reference control plane, one component at a time",
		// One clear sentence is all that an error deserves.
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(etcdCommand(), apiserverCommand(&delay), aggregatedCommand(), controllerManagerCommand(), migrateCommand(), releasesCommand(), defectsCommand())
	if err := root.ExecuteContext(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "refplane:", oneLine(err))
		if errors.Is(err, errNotMigrated) {
			os.Exit(exitNotMigrated)
		}
		os.Exit(exitCannotRun)
	}
}

// oneLine is an error without line breaks, so that whoever collects the output
// of many components keeps it together.
func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
