package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

func newUp(streams Streams) *cobra.Command {
	var wanted request
	command := &cobra.Command{
		Use:     "up",
		Short:   "Bring up a topology and leave it running",
		Example: "  evenkeel cluster up --topology clusters/local-3.yaml",
		Args:    usage(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			return up(command.Context(), streams, &wanted)
		},
	}
	wanted.addFlags(command)
	return command
}

func up(ctx context.Context, streams Streams, wanted *request) error {
	// Read here already, so that a mistake in the file is told at once.
	topology, err := wanted.load()
	if err != nil {
		return err
	}
	for _, warning := range topology.Warnings() {
		fmt.Fprintln(streams.Err, "warning:", warning)
	}
	if err := checkFree(wanted.name); err != nil {
		return err
	}
	if _, err := os.Stat(wanted.topology); err == nil {
		// The owner lives on when this folder may be another's.
		if wanted.topology, err = filepath.Abs(wanted.topology); err != nil {
			return err
		}
	}
	fmt.Fprintf(streams.Err, "starting cluster %s (%d members of %s) …\n", wanted.name, len(topology.Spec.Members), topology.Spec.Distribution)
	began := time.Now()
	record, err := startKeep(ctx, wanted)
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.Err, "ready after %s\n\n", time.Since(began).Round(100*time.Millisecond))
	return show(streams.Out, record)
}

// checkFree refuses a name that a living cluster has, since commands select
// clusters by it.
func checkFree(name string) error {
	root, err := state.Root()
	if err != nil {
		return err
	}
	entries, _ := state.List(root) // broken records have no name
	for _, entry := range entries {
		if record := entry.Record(); record.Name == name && record.Owner.Purpose == PurposeUp && record.Owner.Alive() {
			return fmt.Errorf("a cluster %s is up already: take another --name, or end it with `evenkeel cluster down %s`", name, name)
		}
	}
	return nil
}

// startKeep starts the owner in a session of its own, so that the end of the
// terminal is not its end, and waits until it has told how it went.
func startKeep(ctx context.Context, wanted *request) (*state.Record, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	told, err := os.CreateTemp("", "evenkeel-keep-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(told.Name())
	defer told.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()

	owner := exec.Command(self, append([]string{"cluster", "keep"}, wanted.args()...)...)
	// What it says before it has a log, such as a panic, goes to a file, which
	// unlike a pipe no process has to empty.
	owner.Stdout, owner.Stderr = write, told
	owner.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = owner.Start()
	_ = write.Close() // the owner has its own
	if err != nil {
		return nil, fmt.Errorf("cannot start the process that owns the cluster: %w", err)
	}
	// An interrupted up takes the cluster with it: the owner is asked to end,
	// which closes the pipe when it has cleaned up.
	interrupt := context.AfterFunc(ctx, func() { terminate(owner) })
	line, _ := bufio.NewReader(read).ReadBytes('\n')
	interrupt()
	if answer := parse(line); answer.Ready != nil && ctx.Err() == nil {
		return answer.Ready, owner.Process.Release()
	} else if ctx.Err() != nil {
		terminate(owner)
		_ = owner.Wait() // an owner that is told to end says why in its log
		return nil, fmt.Errorf("bringing the cluster up was interrupted")
	} else if answer.Error != "" {
		_ = owner.Wait() // its answer says more than its status
		return nil, fmt.Errorf("%s", answer.Error)
	}
	_ = owner.Wait() // the sentence below has its status
	return nil, fmt.Errorf("the process that owns the cluster ended without a word (%s): %s", owner.ProcessState, lastWords(told))
}

// terminate asks the owner to clean up and to end. An owner that has ended already needs no
// signal.
func terminate(owner *exec.Cmd) { _ = owner.Process.Signal(syscall.SIGTERM) }

func parse(line []byte) message {
	var answer message
	if json.Unmarshal(bytes.TrimSpace(line), &answer) != nil {
		return message{}
	}
	return answer
}

// lastWords is the beginning of what the owner wrote, which for a panic is the
// part that says why.
func lastWords(file *os.File) string {
	const most = 300
	raw := make([]byte, most)
	count, err := file.ReadAt(raw, 0)
	if err != nil && err != io.EOF {
		return err.Error()
	}
	return strings.Join(strings.Fields(string(raw[:count])), " ")
}

// show prints what there is to work with.
func show(out io.Writer, record *state.Record) error {
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "MEMBER\tSERVER ID\tRELEASE\tURL")
	for _, member := range record.Members {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", member.Name, member.ServerID, member.Release, member.URL)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nkubeconfig: %s\n\n", record.Kubeconfig)
	for _, member := range record.Members {
		fmt.Fprintf(out, "kubectl --kubeconfig %s --context %s get storageversions\n", record.Kubeconfig, member.Name)
	}
	_, err := fmt.Fprintf(out, "\nend it with: evenkeel cluster down %s\n", record.Name)
	return err
}
