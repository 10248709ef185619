//go:build linux

package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
)

// watcher knows the processes of the member's components.
type watcher struct {
	components []Component

	mu     sync.Mutex
	events []Event
	more   chan struct{} // closed and replaced when events grow
	living map[cluster.Process]*process
}

// process is a living process of a component.
type process struct {
	component cluster.Component
	// handle is a pidfd: what is sent through it reaches this process or nobody.
	handle int
}

func newWatcher(components []Component) *watcher {
	return &watcher{
		components: components, more: make(chan struct{}),
		living: map[cluster.Process]*process{},
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

// scan looks at every process that is not known. All are looked at each time: a
// process becomes a component's only when it executes the component's program.
func (w *watcher) scan() {
	folders, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, folder := range folders {
		pid, err := strconv.Atoi(folder.Name())
		if err != nil {
			continue
		}
		stat, err := procfs.Read(pid)
		if err != nil {
			continue
		}
		w.mu.Lock()
		_, known := w.living[cluster.Process{PID: pid, StartTime: stat.StartTime}]
		w.mu.Unlock()
		if known {
			continue
		}
		if component := w.recognise(pid); component != "" {
			w.add(component, pid, stat.StartTime)
		}
	}
}

// recognise gives the component whose process it is, if any.
func (w *watcher) recognise(pid int) cluster.Component {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(raw) == 0 {
		return "" // a kernel thread, or gone
	}
	words := bytes.SplitN(raw, []byte{0}, 3)
	program, argument := filepath.Base(string(words[0])), ""
	if len(words) > 1 {
		argument = string(words[1])
	}
	for _, one := range w.components {
		if one.Program == program && (one.Argument == "" || one.Argument == argument) {
			return one.Name
		}
	}
	return ""
}

func (w *watcher) add(component cluster.Component, pid int, started int64) {
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // gone already
	}
	// Between looking and opening, the number may have become another's.
	stat, err := procfs.Read(pid)
	if err != nil || stat.StartTime != started || stat.State == 'Z' {
		unix.Close(handle)
		return
	}
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
		unix.Close(handle)
		w.tell(Event{Component: component, Gone: true, PID: pid, StartTime: started})
	}()
}

// awaitExit returns when the process has ended.
func awaitExit(handle int) {
	for {
		files := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
		if _, err := unix.Poll(files, -1); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// tell adds an event; it must be called with the lock held.
func (w *watcher) tell(event Event) {
	w.events = append(w.events, event)
	close(w.more)
	w.more = make(chan struct{})
}

// since gives the events from an index on, and what is closed when there are
// more.
func (w *watcher) since(index int) ([]Event, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events[index:]), w.more
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
