package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/ownhost"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// unit is one component of one member: at most one process at a time, started
// again when it exits by itself, as a kubelet or a service manager would.
type unit struct {
	member    string
	component cluster.Component
	logFile   string
	// dir is the folder that the process works in.
	dir string
	// env is added to this process's environment.
	env []string
	// build makes the command line for a release.
	build func(release string) (command, error)
	// slots are freed before the first start.
	slots   []*port.Slot
	observe cluster.Observer

	mu       sync.Mutex
	release  string
	instance int
	exits    int
	now      *running
	// wanted is whether an exit is to be followed by a restart; giveUp ends
	// the wait for it.
	wanted bool
	giveUp context.CancelFunc
	// held keeps the process from being started again by itself while the whole
	// member stands still.
	held bool
	// closed is set by the cluster's Stop; nothing starts afterwards.
	closed bool
	// supervisor counts the goroutine that waits for the process.
	supervisor sync.WaitGroup
}

// running is a process of a unit.
type running struct {
	process cluster.Process
	handle  *os.Process
	// off are the features that it was started without.
	off      []cluster.Feature
	expected bool
	// forced is whether an orderly stop took longer than its bound.
	forced bool
	paused bool
	// ended is closed when the exit was reported.
	ended chan struct{}
}

// errDown is wrapped by operations that need a process where there is none.
var errDown = cluster.ErrNoProcess

// errExited is errDown for a process that was there a moment ago.
var errExited = fmt.Errorf("it has exited, and %w", errDown)

// errStopped is what operations end with when Stop came between.
var errStopped = errors.New("the cluster was stopped")

func (u *unit) String() string { return fmt.Sprintf("%s of member %s", u.component, u.member) }

// start makes the unit run at the release and returns when the process exists.
func (u *unit) start(release string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return fmt.Errorf("cannot start the %s: %w", u, errStopped)
	}
	if u.now != nil || u.wanted {
		return fmt.Errorf("cannot start the %s: it runs already; stop it first", u)
	}
	u.release, u.exits = release, 0
	ended, err := u.spawn()
	if err != nil {
		return fmt.Errorf("cannot start the %s: %w", u, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	u.wanted, u.giveUp = true, cancel
	u.supervisor.Go(func() { u.supervise(ctx, ended) })
	return nil
}

// supervise starts the process again after each exit until the unit is no
// longer wanted.
func (u *unit) supervise(ctx context.Context, ended <-chan struct{}) {
	pause := restartFirst
	for {
		began := time.Now()
		if ended != nil {
			<-ended
		}
		if time.Since(began) > restartForget {
			pause = restartFirst
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		pause = min(2*pause, restartMost)
		ended = u.respawn(ctx)
	}
}

func (u *unit) respawn(ctx context.Context) <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if ctx.Err() != nil || u.held {
		return nil
	}
	ended, err := u.spawn()
	if err != nil {
		// The next attempt may succeed, a full disk for example can be freed;
		// the wait for readiness counts it as one more exit.
		u.exits++
		u.note(cluster.StartedNoMore + ": " + err.Error())
		return nil
	}
	return ended
}

// spawn starts the process; u.mu is held.
func (u *unit) spawn() (<-chan struct{}, error) {
	line, err := u.build(u.release)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(u.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, privateMode)
	if err != nil {
		return nil, fmt.Errorf("cannot write its log: %w", err)
	}
	defer log.Close() // the process has its own descriptor
	for _, slot := range u.slots {
		slot.Release()
	}
	cmd := exec.Command(line.path, line.args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = u.dir
	cmd.Env = append(os.Environ(), u.env...)
	// A process group of its own, so that Ctrl-C in the terminal reaches the
	// harness alone, which then ends the cluster in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if line.host != "" {
		ownhost.Wrap(cmd, line.host)
	}
	if err := cmd.Start(); err != nil {
		if line.host != "" {
			err = ownhost.Explain(err)
		}
		return nil, err
	}
	// Until Wait was called the entry in /proc stays, even if it died already.
	stat, err := procfs.Read(cmd.Process.Pid)
	if err != nil {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		return nil, err
	}
	now := &running{
		process: cluster.Process{PID: cmd.Process.Pid, StartTime: stat.StartTime},
		handle:  cmd.Process,
		off:     line.off,
		ended:   make(chan struct{}),
	}
	u.now = now
	u.instance++
	instance := u.instance
	u.tell(now, instance, history.ProcessStarted, "")
	go func() {
		exit := exitText(cmd.Wait())
		u.mu.Lock()
		defer u.mu.Unlock()
		u.now = nil
		u.exits++
		u.tell(now, instance, history.ProcessExited, exit)
		close(now.ended)
	}()
	return now.ended, nil
}

// tell reports a change; u.mu is held, so changes are told in their order.
func (u *unit) tell(of *running, instance int, what, exit string) {
	if u.observe == nil {
		return
	}
	u.observe(cluster.Change{
		Member: u.member, Component: u.component, What: what,
		Instance: instance, Process: of.process, Release: u.release, Off: of.off,
		Exit: exit, Expected: what == history.ProcessExited && of.expected, Forced: what == history.ProcessExited && of.forced,
	})
}

// note adds a line of ours to the component's log.
func (u *unit) note(text string) {
	log, err := os.OpenFile(u.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, privateMode)
	if err != nil {
		return
	}
	defer log.Close()
	fmt.Fprintf(log, "evenkeel: %s\n", text)
}

func exitText(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// end makes the unit unwanted, sends the signal and waits for the exit. If the
// grace passes or ctx ends, the process is killed. It is no error if nothing
// runs.
func (u *unit) end(ctx context.Context, signal syscall.Signal, grace time.Duration) error {
	u.mu.Lock()
	if u.giveUp != nil {
		u.giveUp()
	}
	u.wanted, u.held = false, false
	now := u.now
	if now != nil {
		now.expected = true
		if signal == syscall.SIGTERM {
			u.tell(now, u.instance, history.ProcessStopping, "")
		}
		// It may have ended, which its own goroutine notices.
		_ = now.handle.Signal(signal)
		// A stopped process would sleep over the signal.
		_ = now.handle.Signal(syscall.SIGCONT)
	}
	u.mu.Unlock()
	if now == nil {
		u.supervisor.Wait()
		return nil
	}

	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-now.ended:
		u.supervisor.Wait()
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	u.mu.Lock()
	now.forced = signal == syscall.SIGTERM
	_ = now.handle.Kill() // it may have ended
	u.mu.Unlock()
	last := time.NewTimer(killBound)
	defer last.Stop()
	select {
	case <-now.ended:
		u.supervisor.Wait()
		// An interrupted wait is an error although the process is gone: the
		// caller asked for an orderly end and did not get it.
		return ctx.Err()
	case <-last.C:
		return fmt.Errorf("the %s, process %d, has not ended %s after it was killed: it hangs in the kernel, see /proc/%d/stack",
			u, now.process.PID, killBound, now.process.PID)
	}
}

// close kills the process for good: the unit never starts again.
func (u *unit) close(ctx context.Context) error {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	return u.end(ctx, syscall.SIGKILL, killBound)
}

// kill ends the process without warning; it is an error if none runs.
func (u *unit) kill(ctx context.Context) error {
	if _, ok := u.process(); !ok {
		return fmt.Errorf("cannot kill the %s: %w", u, errDown)
	}
	return u.end(ctx, syscall.SIGKILL, killBound)
}

// cut ends the process without warning if one runs, and keeps the unit from
// being started again by itself if none does.
func (u *unit) cut(ctx context.Context) error { return u.end(ctx, syscall.SIGKILL, killBound) }

// hold keeps the unit from being started again by itself, or no longer.
func (u *unit) hold(held bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.held = held
}

func (u *unit) process() (cluster.Process, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.now == nil {
		return cluster.Process{}, false
	}
	return u.now.process, true
}

// pause stops the process and returns when the kernel shows it as stopped.
func (u *unit) pause(ctx context.Context) error {
	return u.signal(ctx, syscall.SIGSTOP, "pause", true)
}

// resume lets the process go on.
func (u *unit) resume(ctx context.Context) error {
	return u.signal(ctx, syscall.SIGCONT, "resume", false)
}

func (u *unit) signal(ctx context.Context, signal syscall.Signal, verb string, stopped bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now
	if now == nil {
		return fmt.Errorf("cannot %s the %s: %w", verb, u, errDown)
	}
	if err := now.handle.Signal(signal); err != nil {
		if errors.Is(err, os.ErrProcessDone) {
			err = errExited
		}
		return fmt.Errorf("cannot %s the %s: %w", verb, u, err)
	}
	err := wait.PollUntilContextTimeout(ctx, signalPoll, signalBound, true, func(context.Context) (bool, error) {
		stat, err := procfs.Read(now.process.PID)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) || err == nil && !stat.Alive() {
			err = errExited
		}
		return err == nil && stat.Stopped() == stopped, err
	})
	if err != nil {
		return fmt.Errorf("cannot %s the %s: the kernel does not show process %d as such: %w", verb, u, now.process.PID, err)
	}
	if now.paused != stopped {
		now.paused = stopped
		what := history.ProcessResumed
		if stopped {
			what = history.ProcessPaused
		}
		u.tell(now, u.instance, what, "")
	}
	return nil
}

// stopped is whether the kernel holds the process.
func (u *unit) stopped() (bool, error) {
	process, ok := u.process()
	if !ok {
		return false, fmt.Errorf("cannot tell whether the %s is paused: %w", u, errDown)
	}
	stat, err := procfs.Read(process.PID)
	if err != nil {
		return false, fmt.Errorf("cannot tell whether the %s is paused: %w", u, err)
	}
	return stat.StartTime == process.StartTime && stat.Stopped(), nil
}

// crashes counts the exits since the last start on request.
func (u *unit) crashes() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.exits
}
