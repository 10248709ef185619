package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
	"github.com/evenkeel/evenkeel/pkg/exit"
)

// message is the one line that keep writes to its standard output, a pipe that
// up reads: either the cluster is ready, or this went wrong.
type message struct {
	Ready *state.Record `json:"ready,omitempty"`
	Error string        `json:"error,omitempty"`
}

// keepLog is the name of keep's own log among the components' logs.
const keepLog = "keep.log"

// newKeep is the process behind `cluster up`. The links of a local cluster are
// proxies inside a process, and a process has to start again what exits, so a
// cluster lives only as long as its owner does.
func newKeep(registry cluster.Registry) *cobra.Command {
	var wanted request
	command := &cobra.Command{
		Use:    "keep",
		Short:  "Own a cluster until SIGTERM (what `cluster up` runs in the background)",
		Hidden: true,
		Args:   usage(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			// Were up to be killed, telling it must fail rather than kill us: there
			// is a cluster to stop.
			signal.Ignore(syscall.SIGPIPE)
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if err := keep(ctx, registry, &wanted); err != nil {
				_ = tell(message{Error: strings.Join(strings.Fields(err.Error()), " ")}) // up may have ended
				// It was told in full; main has nothing to add.
				return &exit.Error{Code: exit.CouldNotRun, Err: fmt.Errorf("")}
			}
			return nil
		},
	}
	wanted.addFlags(command)
	return command
}

// keep returns nil after a cluster that was ready was stopped on request.
func keep(ctx context.Context, registry cluster.Registry, wanted *request) error {
	made, err := wanted.prepare(ctx, registry)
	if err != nil {
		return err
	}
	entry, err := own(made)
	if err != nil {
		return withStop(made, err)
	}
	switch err := made.Start(ctx); {
	case err != nil && ctx.Err() != nil:
		return errors.Join(withStop(made, err), entry.Remove())
	case err != nil:
		// The logs stay for the user who reads the error; `clean` removes them.
		return withStop(made, fmt.Errorf("%w (`evenkeel cluster clean` removes the logs)", err))
	}
	ready := entry.Record()
	if err := tell(message{Ready: &ready}); err != nil {
		// Up was killed, so no user would ever hear of this cluster.
		return errors.Join(withStop(made, fmt.Errorf("no command waits for the cluster any more: %w", err)), entry.Remove())
	}
	if err := detach(filepath.Join(made.LogDir(), keepLog)); err != nil {
		return withStop(made, err)
	}
	<-ctx.Done()
	if err := made.Stop(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	return entry.Remove()
}

// withStop stops the cluster and gives the error that was the reason, which
// matters more than trouble with stopping.
func withStop(made cluster.Cluster, reason error) error {
	if err := made.Stop(context.Background()); err != nil {
		return fmt.Errorf("%w; and stopping what had started failed: %w", reason, err)
	}
	return reason
}

// own finds the record of the cluster, the only one that this process owns.
func own(made cluster.Cluster) (*state.Entry, error) {
	root, err := state.Root()
	if err != nil {
		return nil, err
	}
	owned, err := state.Owned(root)
	if len(owned) == 1 {
		return owned[0], nil
	}
	if err == nil {
		err = fmt.Errorf("%d clusters are recorded, not one", len(owned))
	}
	return nil, fmt.Errorf("the record of the cluster with logs in %s cannot be found: %w", made.LogDir(), err)
}

func tell(what message) error {
	line, err := json.Marshal(what)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(line, '\n'))
	return err
}

// detach replaces the standard output and error, which belong to up, by a log.
func detach(file string) error {
	log, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot write the log: %w", err)
	}
	defer log.Close()
	for _, standard := range []*os.File{os.Stdout, os.Stderr} {
		if err := syscall.Dup3(int(log.Fd()), int(standard.Fd()), 0); err != nil {
			return fmt.Errorf("cannot write to the log %s: %w", file, err)
		}
	}
	return nil
}
