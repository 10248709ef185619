//go:build linux

package agent

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
)

func TestWatcherSeesProcessesComeAndGo(t *testing.T) {
	path, program := programNamed(t, "etcd")
	w := running(t, etcdOf(program))
	first := start(t, path)
	came := w.next(t, 0)
	stat, err := procfs.Read(first.Process.Pid)
	if err != nil || came != (Event{Component: cluster.Etcd, PID: first.Process.Pid, StartTime: stat.StartTime}) {
		t.Errorf("told %+v of process %d (%v)", came, first.Process.Pid, err)
	}
	// It ends by itself, and its parent has not waited for it yet.
	if err := first.in.Close(); err != nil {
		t.Fatal(err)
	}
	if went := w.next(t, 1); went != (Event{Component: cluster.Etcd, Gone: true, PID: came.PID, StartTime: came.StartTime}) {
		t.Errorf("told %+v", went)
	}
	second := start(t, path)
	if again := w.next(t, 2); again.PID != second.Process.Pid || again.Gone {
		t.Errorf("told %+v of process %d", again, second.Process.Pid)
	}
}

func TestWatcherSeesWhatRanBefore(t *testing.T) {
	path, program := programNamed(t, "etcd")
	before := start(t, path, "--any", "flags")
	if came := running(t, etcdOf(program)).next(t, 0); came.PID != before.Process.Pid {
		t.Errorf("told %+v of process %d", came, before.Process.Pid)
	}
}

// What ran before the agent did was started before it is told of.
func TestWatcherTellsHowLongAgoItWas(t *testing.T) {
	path, program := programNamed(t, "etcd")
	before := start(t, path)
	const age = 1200 * time.Millisecond
	err := wait.PollUntilContextCancel(t.Context(), 20*time.Millisecond, true, func(context.Context) (bool, error) {
		stat, err := procfs.Read(before.Process.Pid)
		return sinceBoot()-time.Duration(stat.StartTime)*time.Second/ticksPerSecond > age, err
	})
	if err != nil {
		t.Fatal(err)
	}
	w := running(t, etcdOf(program))
	w.next(t, 0)
	if events, _ := w.since(0); events[0].Ago < age || events[0].late() != events[0].Ago {
		t.Errorf("told %+v of a process that has run for %s", events[0], age)
	}
}

// A program that is tried beside a component is none of its processes, so that its end is not the
// component's.
func TestWatcherPassesOverTrials(t *testing.T) {
	path, program := programNamed(t, "etcd")
	w := running(t, etcdOf(program))
	t.Setenv(TrialVariable, TrialValue)
	tried := start(t, path)
	t.Setenv(TrialVariable, "")
	real := start(t, path)
	if came := w.next(t, 0); came.PID != real.Process.Pid {
		t.Errorf("told %+v of process %d, and %d is tried", came, real.Process.Pid, tried.Process.Pid)
	}
}

func TestWatcherTellsComponentsOfOneProgramApart(t *testing.T) {
	path, program := programNamed(t, "plane")
	w := running(t,
		Component{Name: cluster.Etcd, Program: program, Argument: "etcd"},
		Component{Name: cluster.APIServer, Program: program, Argument: "apiserver"})
	start(t, path, "releases")
	start(t, path)
	server := start(t, path, "apiserver", "--release", "1.2")
	if came := w.next(t, 0); came.Component != cluster.APIServer || came.PID != server.Process.Pid {
		t.Errorf("told %+v of process %d", came, server.Process.Pid)
	}
	etcd := start(t, path, "etcd")
	if came := w.next(t, 1); came.Component != cluster.Etcd || came.PID != etcd.Process.Pid {
		t.Errorf("told %+v of process %d", came, etcd.Process.Pid)
	}
}

func TestWatcherKnowsAProcessOnlyWhenItExecutesTheProgram(t *testing.T) {
	path, program := programNamed(t, "etcd")
	w := running(t, etcdOf(program))
	// The shell says what the program would say, and becomes it later.
	wrapped := start(t, "/bin/sh", "-c", `echo running; read line; exec "$0"`, path)
	other := start(t, path) // the watcher has looked since the shell was there
	if came := w.next(t, 0); came.PID != other.Process.Pid {
		t.Errorf("told %+v of process %d", came, other.Process.Pid)
	}
	if _, err := wrapped.in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	if came := w.next(t, 1); came.PID != wrapped.Process.Pid {
		t.Errorf("told %+v of process %d", came, wrapped.Process.Pid)
	}
}

func TestWatcherSignals(t *testing.T) {
	path, program := programNamed(t, "etcd")
	w := running(t, etcdOf(program))
	one := start(t, path)
	came := w.next(t, 0)
	want := []cluster.Process{{PID: came.PID, StartTime: came.StartTime}}
	if reached, err := w.signal(cluster.Scheduler, syscall.SIGKILL); err != nil || len(reached) != 0 {
		t.Errorf("reached %v, %v", reached, err)
	}
	for _, tc := range []struct {
		signal  syscall.Signal
		stopped bool
	}{{syscall.SIGSTOP, true}, {syscall.SIGCONT, false}} {
		if reached, err := w.signal(cluster.Etcd, tc.signal); err != nil || !slices.Equal(reached, want) {
			t.Errorf("reached %v, %v", reached, err)
		}
		eventually(t, tc.signal.String(), func() bool {
			stat, err := procfs.Read(one.Process.Pid)
			return err == nil && stat.Stopped() == tc.stopped
		})
	}
	if _, err := w.signal(cluster.Etcd, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if went := w.next(t, 1); !went.Gone || went.PID != came.PID {
		t.Errorf("told %+v", went)
	}
	if reached, err := w.signal(cluster.Etcd, syscall.SIGKILL); err != nil || len(reached) != 0 {
		t.Errorf("reached %v, %v", reached, err)
	}
}

func TestWhatMayStillBecomeAComponentIsNotSettled(t *testing.T) {
	const now = 10 * settleTicks
	old, young := procfs.Stat{State: 'S'}, procfs.Stat{State: 'S', StartTime: now - settleTicks}
	for name, tc := range map[string]struct {
		hasWords bool
		argument string
		stat     procfs.Stat
		want     bool
	}{
		"old":                        {true, "--flags", old, true},
		"young":                      {true, "--flags", young, false},
		"old, and becomes a program": {true, launching, old, false},
		"old, and executes one now":  {false, "", old, false},
		"dead":                       {false, "", procfs.Stat{State: zombie}, true},
	} {
		if got := settles(tc.hasWords, tc.argument, tc.stat, now); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
