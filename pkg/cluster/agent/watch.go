//go:build linux

package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// watcher knows the processes of the member's components.
type watcher struct {
	components []Component
	// belongs tells a component's process from others of the same program; nil where no
	// others run.
	belongs func(pid int, of Component) bool

	mu     sync.Mutex
	events []happened
	more   chan struct{} // closed and replaced when events grow
	living map[cluster.Process]*process

	// settled are the PIDs that need not be looked at again, and newest is the last that
	// the kernel had given away at a look after which there was none left to settle; ""
	// if there was. Only scan uses them.
	settled map[int]bool
	newest  string
	// skipped are the looks that were spared since the last one.
	skipped int
}

// happened is an event, and when it was, since the node was booted.
type happened struct {
	Event
	at time.Duration
}

// process is a living process of a component.
type process struct {
	component cluster.Component
	// handle is a pidfd: what is sent through it reaches this process or none.
	handle int
}

func newWatcher(components []Component) *watcher {
	return &watcher{
		components: components, more: make(chan struct{}),
		living: map[cluster.Process]*process{}, settled: map[int]bool{},
	}
}

func (w *watcher) run(ctx context.Context) {
	ticker := time.NewTicker(scanInterval)
	defer ticker.Stop()
	for {
		w.scan()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// scan looks at every process that it has not settled what it is. A PID that is
// gone from the list is forgotten: numbers are used again only after all others.
func (w *watcher) scan() {
	newest := newestPID()
	if newest != "" && newest == w.newest && w.skipped < mostSkipped {
		w.skipped++
		return // nothing was started since
	}
	w.newest, w.skipped = "", 0
	folders, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	unsettled := false
	still := make(map[int]bool, len(folders))
	for _, folder := range folders {
		pid, err := strconv.Atoi(folder.Name())
		if err != nil {
			continue
		}
		if !w.settled[pid] {
			component, settled := w.recognize(pid)
			if component != "" {
				settled = w.add(component, pid)
			}
			if !settled {
				unsettled = true
				continue
			}
		}
		still[pid] = true
	}
	w.settled = still
	if !unsettled {
		w.newest = newest
	}
}

// newestPID is the last PID that the kernel has given away among the processes that
// this one sees; empty if that cannot be told. Looking at it costs a tenth of a look at
// all processes, and most of the time none was started.
func newestPID() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return string(raw[bytes.LastIndexByte(raw, ' ')+1:])
}

// zombie is the state of a process that has ended and that its parent has not waited for.
const zombie = 'Z'

// TrialVariable has TrialValue in the environment of a program that is only tried, beside the
// component that runs: it is none of its processes.
const (
	TrialVariable = "EVENKEEL_TRIAL"
	TrialValue    = "1"
)

// launching is the argument of the container runtime's process that becomes the
// container's program, which can take any time; some call themselves by the path
// of a descriptor.
const launching = "init"

// recognize gives the component whose process it is, if any, and whether that
// can be said for good.
func (w *watcher) recognize(pid int) (component cluster.Component, settled bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return "", false // gone
	}
	words := bytes.SplitN(raw, []byte{0}, 3)
	program, argument := filepath.Base(string(words[0])), ""
	if plain, _, ok := history.ParseProgram(program); ok {
		program = plain
	}
	if len(words) > 1 {
		argument = string(words[1])
	}
	for _, one := range w.components {
		if one.Program == program && (one.Argument == "" || one.Argument == argument) {
			if w.belongs != nil && !w.belongs(pid, one) || procfs.HasVariable(pid, TrialVariable, TrialValue) {
				return "", true
			}
			return one.Name, true
		}
	}
	stat, err := procfs.Read(pid)
	if err != nil {
		return "", false
	}
	return "", settles(len(raw) > 0, argument, stat, w.uptime())
}

// settles is whether a process that is none of a component's stays what it is.
func settles(hasWords bool, argument string, stat procfs.Stat, uptime int64) bool {
	switch {
	case !hasWords:
		// Who executes a program has no words until that is in place, however old the
		// process is; on a busy machine that lasts. The dead have none either.
		return stat.State == zombie
	case argument == launching:
		return false
	default:
		// What has just been made may be about to execute something else.
		return uptime-stat.StartTime > settleTicks
	}
}

// uptime of the machine in clock ticks, as start times of processes are given.
func (w *watcher) uptime() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return now.Nano() * ticksPerSecond / int64(time.Second)
}

// add begins to watch a process; it is false if that has gone meanwhile.
func (w *watcher) add(component cluster.Component, pid int) bool {
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	// Between looking and opening, the number may have become another's.
	stat, err := procfs.Read(pid)
	if again, _ := w.recognize(pid); err != nil || again != component || !stat.Alive() {
		_ = unix.Close(handle) // a descriptor of a process has nothing to write
		return false
	}
	started := stat.StartTime
	id := cluster.Process{PID: pid, StartTime: started}
	w.mu.Lock()
	w.living[id] = &process{component: component, handle: handle}
	w.tell(Event{Component: component, PID: pid, StartTime: started})
	w.mu.Unlock()
	go func() {
		awaitExit(handle)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.living, id)
		_ = unix.Close(handle)
		w.tell(Event{Component: component, Gone: true, PID: pid, StartTime: started})
	}()
	return true
}

// awaitExit returns when the process has ended.
func awaitExit(handle int) {
	for {
		//nolint:gosec // G115: the kernel numbers descriptors with 31 bits.
		files := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
		if _, err := unix.Poll(files, -1); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// tell adds an event; it must be called with the lock held.
func (w *watcher) tell(event Event) {
	at := sinceBoot()
	if !event.Gone { // it may have run for a while, as when the agent itself starts
		at = time.Duration(event.StartTime) * time.Second / ticksPerSecond
	}
	w.events = append(w.events, happened{event, at})
	close(w.more)
	w.more = make(chan struct{})
}

// since gives the events from an index on, and what is closed when there are
// more.
func (w *watcher) since(index int) ([]Event, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := sinceBoot()
	var events []Event
	for _, one := range w.events[index:] {
		one.Ago = max(now-one.at, 0)
		events = append(events, one.Event)
	}
	return events, w.more
}

// sinceBoot is the clock by which the kernel tells when processes were started.
func sinceBoot() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) // which every kernel that Go runs on has
	return time.Duration(now.Nano())
}

// signal sends a signal to all processes of a component.
func (w *watcher) signal(component cluster.Component, signal syscall.Signal) ([]cluster.Process, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var reached []cluster.Process
	for id, one := range w.living {
		if one.component != component {
			continue
		}
		switch err := unix.PidfdSendSignal(one.handle, signal, nil, 0); {
		case err == nil:
			reached = append(reached, id)
		case !errors.Is(err, unix.ESRCH):
			return reached, fmt.Errorf("cannot send %s to the %s, process %d: %w", signal, component, id.PID, err)
		}
	}
	return reached, nil
}

// running are the processes of a component that live.
func (w *watcher) running(component cluster.Component) []cluster.Process {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []cluster.Process
	for id, one := range w.living {
		if one.component == component {
			all = append(all, id)
		}
	}
	return all
}
