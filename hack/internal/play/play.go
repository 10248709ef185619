// Package play runs the harness with one scenario and reads its report, for the programs
// that play many scenarios: the planted defects and the surveys.
package play

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/report"
)

// ErrNoReport is a run that ended without one.
var ErrNoReport = errors.New("no report")

// Outcome is the outcome of one run.
type Outcome struct {
	// Report is nil where the run left none.
	Report *report.ConformanceReport
	// Status is evenkeel's exit status, as package exit has it.
	Status int
	// Said is the last line of evenkeel's output.
	Said string
	Took time.Duration
}

// Run runs `evenkeel run` with the bundle in dir, which it removes first. It writes
// evenkeel's output to dir.log. The outcome is valid with ErrNoReport too. If the context
// ends, Run stops evenkeel as Ctrl-C does, so that evenkeel removes its cluster, and
// returns an error.
func Run(ctx context.Context, evenkeel, dir string, args ...string) (Outcome, error) {
	if err := os.RemoveAll(dir); err != nil {
		return Outcome{}, fmt.Errorf("remove an earlier bundle: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return Outcome{}, fmt.Errorf("make the folder of the bundles: %w", err)
	}
	return start(ctx, dir, dir+".log", evenkeel, append([]string{"run", "--out", dir}, args...)...)
}

// Judge makes evenkeel write the report of a bundle again, with the current checks. It
// returns ErrNoReport for the bundle of an interrupted run.
func Judge(ctx context.Context, evenkeel, dir string) (Outcome, error) {
	if _, err := os.Stat(filepath.Join(dir, bundle.ReportFile)); err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", dir, ErrNoReport)
	}
	out, err := start(ctx, dir, dir+".judged.log", evenkeel, "judge", "--update", dir)
	if err == nil && out.Status == exit.CouldNotRun {
		err = fmt.Errorf("%s: %s", dir, out.Said)
	}
	return out, err
}

// start starts evenkeel, writes its output to a file, and reads the report in dir after
// evenkeel has ended.
func start(ctx context.Context, dir, said, evenkeel string, args ...string) (Outcome, error) {
	cmd := exec.CommandContext(ctx, evenkeel, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	started := time.Now()
	log, err := cmd.CombinedOutput()
	o := Outcome{Took: time.Since(started), Said: lastLine(string(log))}
	if writeErr := os.WriteFile(said, log, 0o644); writeErr != nil {
		return o, fmt.Errorf("write the output of evenkeel: %w", writeErr)
	}
	if ctx.Err() != nil {
		return o, errors.New("interrupted")
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return o, fmt.Errorf("start %s: %w", evenkeel, err)
	}
	if ended != nil {
		o.Status = ended.ExitCode()
	}
	data, err := os.ReadFile(filepath.Join(dir, bundle.ReportFile))
	if err != nil {
		return o, fmt.Errorf("exit status %d and %w; see %s", o.Status, ErrNoReport, said)
	}
	rep := &report.ConformanceReport{}
	if err := yaml.Unmarshal(data, rep); err != nil {
		return o, fmt.Errorf("read the report in %s: %w", dir, err)
	}
	o.Report = rep
	return o, nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
