package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/published"
)

const (
	// progressInterval is the time between two looks with --watch.
	progressInterval = time.Second
	// barWidth is how many characters a full bar has.
	barWidth = 24
	// columnsUnknown is the width of a terminal that does not report it.
	columnsUnknown = 80
)

func migrateProgressCommand() *cobra.Command {
	var r reached
	var watch bool
	command := component("progress", "Tell how far migrations are; exit status 1 while something is left to migrate",
		func(command *cobra.Command) error {
			_, client, err := r.connect()
			if err != nil {
				return err
			}
			show := newScreen(command.OutOrStdout())
			complete := false
			look := func(ctx context.Context) (bool, error) {
				rows, err := overview(ctx, client)
				if err != nil {
					return false, err
				}
				complete = migration.Complete(rows)
				show.draw(rows)
				return !watch || !migration.UnderWay(rows), nil
			}
			if err := wait.PollUntilContextCancel(command.Context(), progressInterval, true, look); err != nil {
				return err
			}
			if !complete {
				return errNotMigrated
			}
			return nil
		}, "kubeconfig")
	r.add(command)
	command.Flags().BoolVar(&watch, "watch", false, "continue until no migration is running")
	return command
}

// overview reads how every resource stands.
func overview(ctx context.Context, client kubernetes.Interface) ([]migration.Progress, error) {
	list, err := published.For(client).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the migrations: %w", err)
	}
	records, err := client.CoreV1().ConfigMaps(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: migration.RecordLabel})
	if err != nil {
		return nil, fmt.Errorf("list the states of migrations: %w", err)
	}
	var svms []*storagemigrationv1.StorageVersionMigration
	for i := range list.Items {
		svms = append(svms, &list.Items[i])
	}
	states, checkpoints := map[string]migration.State{}, map[types.UID]migration.Checkpoint{}
	for i := range records.Items {
		record := &records.Items[i]
		text := record.Data[migration.RecordKey]
		switch record.Labels[migration.RecordLabel] {
		case migration.StateRecord:
			state, err := migration.DecodeState(text)
			if err != nil {
				return nil, fmt.Errorf("config map %s: %w", record.Name, err)
			}
			name := strings.TrimPrefix(record.Name, migration.StateName(""))
			if other, twice := states[name]; twice {
				// Who migrates has changed from the controller manager to an installed
				// migrator, or back: neither memory may hide what the other one has.
				state = state.Merge(other)
			}
			states[name] = state
		case migration.CheckpointRecord:
			checkpoint, err := migration.DecodeCheckpoint(text)
			if err != nil {
				return nil, fmt.Errorf("config map %s: %w", record.Name, err)
			}
			checkpoints[checkpoint.Migration] = checkpoint
		}
	}
	return migration.Overview(states, svms, checkpoints), nil
}

// screen shows progress: on a terminal in place, with bars; elsewhere as lines,
// whenever something has changed.
type screen struct {
	out      io.Writer
	terminal bool
	columns  int
	// drawn are the lines of the last output.
	drawn []string
}

func newScreen(out io.Writer) *screen {
	s := &screen{out: out, columns: columnsUnknown}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" {
		s.terminal = true
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			s.columns = columns
		}
	}
	return s
}

func (s *screen) draw(rows []migration.Progress) {
	lines := layout(rows, s.terminal)
	if s.terminal {
		for i, line := range lines {
			lines[i] = cut(line, s.columns)
		}
	}
	if slices.Equal(lines, s.drawn) {
		return
	}
	if s.terminal && len(s.drawn) > 0 {
		fmt.Fprintf(s.out, "\x1b[%dA\x1b[J", len(s.drawn))
	}
	for _, line := range lines {
		fmt.Fprintln(s.out, line)
	}
	s.drawn = lines
}

// layout lays rows out. Bars take the place of numbers on a terminal.
func layout(rows []migration.Progress, bars bool) []string {
	var buffer bytes.Buffer
	columns := tabwriter.NewWriter(&buffer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "RESOURCE\tSTATE\tGENERATION\tCOMPLETED\tOBJECTS\tDETAIL")
	done := 0
	for _, row := range rows {
		if row.Phase == migration.PhaseDone {
			done++
		}
		fmt.Fprintf(columns, "%s\t%s\t%d\t%d\t%s\t%s\n", row.Resource, row.Phase, row.Generation, row.CompletedGeneration, objects(row, bars), row.Detail)
	}
	fmt.Fprintf(columns, "%d of %d resources are migrated\n", done, len(rows))
	// It writes to memory.
	_ = columns.Flush()
	return strings.Split(strings.TrimRight(buffer.String(), "\n"), "\n")
}

// objects formats how many objects of a running migration are done.
func objects(row migration.Progress, bars bool) string {
	switch {
	case row.Phase != migration.PhaseRunning:
		return ""
	case row.Total == 0:
		return fmt.Sprint(row.Done)
	case bars:
		full := int(min(row.Done, row.Total) * barWidth / row.Total)
		return fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), min(row.Done, row.Total)*100/row.Total)
	}
	return fmt.Sprintf("%d/%d", row.Done, row.Total)
}

func cut(line string, columns int) string {
	if runes := []rune(line); len(runes) > columns {
		return string(runes[:columns])
	}
	return line
}
