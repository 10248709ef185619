// Package command is the evenkeel command line: it reads flags, calls the
// packages that do the work, and turns their outcome into an exit status.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
	"github.com/evenkeel/evenkeel/pkg/command/agent"
	"github.com/evenkeel/evenkeel/pkg/command/cluster"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/interrupt"
)

// Main runs the command line and gives the status to exit with.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := interrupt.Notify(context.Background(), interrupted(stderr), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := newRoot(stdout, stderr)
	root.SetArgs(args)
	err := sheltered(ctx, root)
	if err != nil && err.Error() != "" {
		fmt.Fprintln(stderr, "evenkeel:", oneSentence(err))
	}
	return exit.Code(err)
}

// interrupted says what a signal has begun, and what the next one would do.
func interrupted(stderr io.Writer) func(int, os.Signal) {
	return func(nth int, s os.Signal) {
		if nth == 1 {
			fmt.Fprintf(stderr, "evenkeel: %s: ending in good order, which takes back what was done to the control plane; a second signal ends without that\n", s)
			return
		}
		fmt.Fprintf(stderr, "evenkeel: %s: nothing else is taken back; a third signal ends evenkeel at once, without a verdict\n", s)
	}
}

// sheltered runs a command, and makes an error of a panic: Go ends a program that panics
// with the status 2, which is a verdict here.
func sheltered(ctx context.Context, root *cobra.Command) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("evenkeel itself has crashed, which is a bug: please report it with this text and what it was given: %v at %s", p, debug.Stack())
		}
	}()
	return root.ExecuteContext(ctx)
}

func newRoot(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "evenkeel",
		Short: "Judges whether a highly available Kubernetes control plane keeps its promises while its members are replaced and fail",
		Long: `Evenkeel upgrades, rolls back, crashes and pauses the members of a control
plane one by one, records what it sees, and gives a verdict with evidence on
the promises of four Kubernetes enhancement proposals.

Exit status: 0 every promise kept, 1 one broken, 2 too little seen to judge,
3 could not run.`,
		// Neither may look like a pass, so both have the status of bad usage.
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("name what to do; see `%s --help`", cmd.CommandPath())
			}
			return fmt.Errorf("there is no `%s %s`; see `%s --help`", cmd.CommandPath(), args[0], cmd.CommandPath())
		},
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       Version(),
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see `%s --help`", inWords(err), cmd.CommandPath())
	})
	root.AddCommand(newRun(), newExplore(), newShrink(), newConformance(), newJudge(), newVerify(), newSign(), newKeygen(), newDiff(), newBundle(), newSummary(), newTimeline(), newSite(), newMetrics(), newRequirements(), newScenarios(), newSteps(), newFaults(), newWorkloads(), newDrivers(), newSchema(), newDoctor(), cluster.NewCommand(cluster.Streams{Out: stdout, Err: stderr}, providers.All()), agent.NewCommand(Version(), clock.RealClock{}))
	return root
}

// inWords says of a flag's value what it is not, where the error would quote the parser.
func inWords(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	wanted := map[string]string{
		"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "duration": "a duration such as 90s or 5m",
	}[invalid.GetFlag().Value.Type()]
	if wanted == "" {
		return err
	}
	return fmt.Errorf("--%s %q is not %s", invalid.GetFlag().Name, invalid.GetValue(), wanted)
}

// oneSentence keeps a message on one line, whatever was wrapped into it; of
// errors that were joined, each is a part of the sentence.
func oneSentence(err error) string {
	var parts []string
	for line := range strings.Lines(err.Error()) {
		if part := strings.Join(strings.Fields(line), " "); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}
