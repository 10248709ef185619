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

// exitCannotRun is the exit status of a component that has wrong flags or could not
// start.
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

// oneLine formats an error without line breaks, so that it stays together in the
// merged output of several components.
func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
