package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
	"github.com/evenkeel/evenkeel/pkg/interrupt"
	"github.com/evenkeel/evenkeel/pkg/run"
)

// Player plays a run.
type Player interface {
	// Play plays a run. It calls started once, as soon as there is a process. If the context
	// ends, it ends the run in good order. An error means that no run could be started at all.
	Play(ctx context.Context, order Order, started func(Process) error) (Played, error)
}

// Order is what is to be played.
type Order struct {
	// Args are the arguments of evenkeel, which have the run leave its bundle in Dir.
	Args []string
	Dir  string
	// Line of the plan.
	Line Line
	// CPUs is how many each process of the run may use at a time.
	CPUs int
}

// Played is how a run has ended.
type Played struct {
	// Status that the run ended with; negative if a signal killed it.
	Status int
	// Said is the last line that it printed.
	Said string
}

// Child plays each run as a process of its own, so that a crash costs one run.
type Child struct {
	// Program is evenkeel.
	Program string
}

// maxSaid is how much of the end of a log is read for its last line.
const maxSaid = 16 << 10

// LogSuffix is what the name of a run's output ends in, beside its bundle.
const LogSuffix = ".log"

// Play implements Player. The child is in a process group of its own, so that Ctrl-C in a
// terminal reaches it once, through this process. If this process is killed, the kernel
// sends SIGTERM to the child: that signal comes when the thread ends that started the
// child, which therefore stays as long as the child does.
func (c Child) Play(ctx context.Context, order Order, started func(Process) error) (Played, error) {
	log, err := os.OpenFile(order.Dir+LogSuffix, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o644)
	if err != nil {
		return Played{}, fmt.Errorf("make the log of a run: %w", err)
	}
	cmd := exec.Command(c.Program, order.Args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), fmt.Sprintf("%s=%d", cluster.CPUsVariable, order.CPUs))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return Played{}, errors.Join(fmt.Errorf("start a run: %w", err), log.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	failed := started(identify(cmd.Process.Pid))
	if failed != nil {
		// The journal cannot be written, so that what the run finds would be lost.
		failed = errors.Join(failed, terminate(cmd.Process))
	}
	err = wait(ctx, cmd.Process, ended)
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		failed = errors.Join(failed, fmt.Errorf("wait for a run: %w", err))
	}
	said, err := tail(log)
	return Played{Status: cmd.ProcessState.ExitCode(), Said: said}, errors.Join(failed, err, log.Close())
}

// wait waits for the run, and passes on the first two requests to end.
func wait(ctx context.Context, process *os.Process, ended <-chan error) error {
	insisted, cancel := interrupt.Shelter(ctx)
	defer cancel()
	for _, asked := range []context.Context{ctx, insisted} {
		select {
		case err := <-ended:
			return err
		case <-asked.Done():
			if err := terminate(process); err != nil {
				return errors.Join(err, <-ended)
			}
		}
	}
	return <-ended
}

func terminate(process *os.Process) error {
	if err := process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end a run: %w", err)
	}
	return nil
}

// identify is the process of that ID. Where the process has ended already, it identifies
// none that is alive.
func identify(pid int) Process {
	p := Process{PID: pid, Boot: procfs.BootID()}
	if stat, err := procfs.Read(pid); err == nil {
		p.StartTime = stat.StartTime
	}
	return p
}

// alive is whether the process is still there.
func (p Process) alive() bool {
	return p.Boot == procfs.BootID() && procfs.Alive(p.PID, p.StartTime)
}

func tail(log *os.File) (string, error) {
	info, err := log.Stat()
	if err != nil {
		return "", fmt.Errorf("read the log of a run: %w", err)
	}
	raw := make([]byte, min(info.Size(), maxSaid))
	if n, err := log.ReadAt(raw, info.Size()-int64(len(raw))); err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the log of a run: %w", err)
	} else {
		raw = raw[:n]
	}
	return strings.TrimPrefix(lastLine(raw), "evenkeel: "), nil
}

// arguments of `evenkeel` for a line.
func arguments(plan *Plan, topology string, line Line, dir string) []string {
	args := []string{
		"run", "--topology", topology, "--scenario", run.ScenarioPath(line.Scenario),
		"--focus", focusOn(line.Judges), "--seed", fmt.Sprint(line.Seed), "--out", dir,
	}
	if plan.Target.Release != "" {
		args = append(args, "--release", plan.Target.Release)
	}
	if plan.Asked.Defect != "" {
		args = append(args, "--defect", plan.Asked.Defect)
	}
	if plan.Asked.Strict {
		args = append(args, "--strict")
	}
	if plan.Asked.AllowDisruption {
		args = append(args, "--allow-disruption")
	}
	return args
}

// The statuses of a run that has a verdict, by the documentation of the command.
const (
	statusPass = 0
	statusFail = 1
	statusOpen = 2
)

// statusOf is what a run ends with that has this verdict.
func statusOf(v check.Verdict) int {
	switch v {
	case check.Pass:
		return statusPass
	case check.Fail:
		return statusFail
	default:
		return statusOpen
	}
}
