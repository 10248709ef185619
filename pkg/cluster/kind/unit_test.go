//go:build linux

package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
)

// changes are what an observer was told, each in a few words.
type changes []string

func (c *changes) add(change cluster.Change) {
	said := fmt.Sprintf("%s %s %d pid %d at %s", change.Component, change.What, change.Instance, change.Process.PID, change.Release)
	if len(change.Off) > 0 {
		said += fmt.Sprintf(" without %v", change.Off)
	}
	if change.Expected {
		said += " expected"
	}
	if change.Forced {
		said += " forced"
	}
	*c = append(*c, said)
}

func (c *changes) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(*c, want) {
		t.Errorf("told\n%q, want\n%q", *c, want)
	}
}

// started and gone are events of the agent about a process of etcd.
func started(pid int) agent.Event {
	return agent.Event{Component: cluster.Etcd, PID: pid, StartTime: int64(pid) * 10}
}

func gone(pid int) agent.Event {
	event := started(pid)
	event.Gone = true
	return event
}

func TestUnitsTellOfProcesses(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(u *agent.Units, tell func(agent.Event))
		want []string
	}{
		{"an exit that was not asked for, and the kubelet's restart", func(_ *agent.Units, tell func(agent.Event)) {
			tell(started(1))
			tell(gone(1))
			tell(started(2))
		}, []string{"etcd started 1 pid 1 at 1.2", "etcd exited 1 pid 1 at 1.2", "etcd started 2 pid 2 at 1.2"}},
		{"an exit that was asked for, and a start at another release", func(u *agent.Units, tell func(agent.Event)) {
			tell(started(1))
			u.Ending(cluster.Etcd)
			tell(gone(1))
			u.Starting(cluster.Etcd, "1.3")
			tell(started(2))
			tell(gone(2))
		}, []string{"etcd started 1 pid 1 at 1.2", "etcd exited 1 pid 1 at 1.2 expected", "etcd started 2 pid 2 at 1.3", "etcd exited 2 pid 2 at 1.3"}},
		{"an orderly stop that takes too long", func(u *agent.Units, tell func(agent.Event)) {
			tell(started(1))
			u.Ending(cluster.Etcd)
			u.Stopping(cluster.Etcd)
			u.Forcing(cluster.Etcd)
			tell(gone(1))
			u.Stopping(cluster.Etcd) // nothing runs
			u.Starting(cluster.Etcd, "1.2")
			tell(started(2))
			tell(gone(2))
		}, []string{"etcd started 1 pid 1 at 1.2", "etcd stopping 1 pid 1 at 1.2", "etcd exited 1 pid 1 at 1.2 expected forced", "etcd started 2 pid 2 at 1.2", "etcd exited 2 pid 2 at 1.2"}},
		{"a replacement that falls over itself", func(u *agent.Units, tell func(agent.Event)) {
			tell(started(1))
			u.Starting(cluster.Etcd, "1.3")
			u.Replacing(cluster.Etcd)
			tell(gone(1))
			tell(started(2))
			tell(gone(2))
			tell(started(3))
		}, []string{
			"etcd started 1 pid 1 at 1.2", "etcd exited 1 pid 1 at 1.2 expected", "etcd started 2 pid 2 at 1.3",
			"etcd exited 2 pid 2 at 1.3", "etcd started 3 pid 3 at 1.3",
		}},
		{"processes of a static Pod with something switched off", func(u *agent.Units, tell func(agent.Event)) {
			u.Without(cluster.Etcd, []cluster.Feature{cluster.FeatureCoordination})
			tell(started(1))
			u.Without(cluster.Etcd, nil)
			tell(gone(1))
			tell(started(2))
		}, []string{
			"etcd started 1 pid 1 at 1.2 without [coordinatedLeaderElection]", "etcd exited 1 pid 1 at 1.2 without [coordinatedLeaderElection]",
			"etcd started 2 pid 2 at 1.2",
		}},
		{"the process before is gone when another one is there", func(_ *agent.Units, tell func(agent.Event)) {
			tell(started(1))
			tell(started(2))
			tell(gone(1))
		}, []string{"etcd started 1 pid 1 at 1.2", "etcd exited 1 pid 1 at 1.2", "etcd started 2 pid 2 at 1.2"}},
		{"all is told again after a connection was lost", func(u *agent.Units, tell func(agent.Event)) {
			tell(started(1))
			tell(gone(1))
			tell(started(2))
			again := u.Listener()
			for _, event := range []agent.Event{started(1), gone(1), started(2), gone(2)} {
				again(event)
			}
		}, []string{"etcd started 1 pid 1 at 1.2", "etcd exited 1 pid 1 at 1.2", "etcd started 2 pid 2 at 1.2", "etcd exited 2 pid 2 at 1.2"}},
		{"what is told too late of a node without power", func(u *agent.Units, tell func(agent.Event)) {
			tell(started(1))
			u.Ending(cluster.Etcd)
			u.PowerLost()
			tell(started(2))
			u.Listener()(started(3))
		}, []string{"etcd started 1 pid 1 at 1.2", "etcd exited 1 pid 1 at 1.2 expected", "etcd started 2 pid 3 at 1.2"}},
		{"a component that the member does not have", func(_ *agent.Units, tell func(agent.Event)) {
			tell(agent.Event{Component: "kubelet", PID: 1, StartTime: 1})
		}, nil},
		{"the whole node stands still", func(u *agent.Units, tell func(agent.Event)) {
			tell(started(1))
			u.Frozen(true)
			u.Frozen(true)
			u.Frozen(false)
			u.Frozen(false)
		}, []string{"etcd started 1 pid 1 at 1.2", "etcd paused 1 pid 1 at 1.2", "etcd resumed 1 pid 1 at 1.2"}},
		{"what was paused before the node stays so", func(u *agent.Units, tell func(agent.Event)) {
			tell(started(1))
			u.Paused(cluster.Etcd, cluster.Process{PID: 1, StartTime: 10}, true)
			u.Frozen(true)
			u.Frozen(false)
			u.Paused(cluster.Etcd, cluster.Process{PID: 1, StartTime: 10}, false)
		}, []string{"etcd started 1 pid 1 at 1.2", "etcd paused 1 pid 1 at 1.2", "etcd resumed 1 pid 1 at 1.2"}},
		{"a process that is not there is not paused", func(u *agent.Units, tell func(agent.Event)) {
			tell(started(1))
			u.Paused(cluster.Etcd, cluster.Process{PID: 2, StartTime: 20}, true)
			tell(gone(1))
			u.Frozen(true)
		}, []string{"etcd started 1 pid 1 at 1.2", "etcd exited 1 pid 1 at 1.2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			told := &changes{}
			u := agent.NewUnits("cp1", []cluster.Component{cluster.Etcd, cluster.APIServer}, "1.2", told.add)
			tc.do(u, u.Listener())
			told.expect(t, tc.want...)
		})
	}
}

func TestWhatUnitsKnow(t *testing.T) {
	u := agent.NewUnits("cp1", []cluster.Component{cluster.Etcd}, "1.2", nil)
	tell := u.Listener()
	if !u.Has(cluster.Etcd) || u.Has(cluster.Scheduler) || !u.None() {
		t.Error("a member without processes")
	}
	tell(started(1))
	if process, runs := u.Process(cluster.Etcd); !runs || process != (cluster.Process{PID: 1, StartTime: 10}) || u.None() {
		t.Errorf("process %v, %v", process, runs)
	}
	tell(gone(1))
	tell(started(2))
	tell(gone(2))
	if got := u.Exits(cluster.Etcd); got != 2 {
		t.Errorf("%d exits", got)
	}
	u.Starting(cluster.Etcd, "1.3")
	if got := u.Exits(cluster.Etcd); got != 0 {
		t.Errorf("%d exits since the start", got)
	}
}

func TestWaitingForUnits(t *testing.T) {
	u := agent.NewUnits("cp1", []cluster.Component{cluster.Etcd}, "1.2", nil)
	tell := u.Listener()
	tell(started(1))
	ended := make(chan error, 1)
	go func() { ended <- u.AwaitGone(t.Context(), cluster.Etcd) }()
	tell(gone(1))
	if err := <-ended; err != nil {
		t.Error(err)
	}
	tell(started(2))
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if err := u.AwaitGone(ctx, cluster.Etcd); !errors.Is(err, enough) {
		t.Errorf("error %v", err)
	}
}

func TestCheckShutdown(t *testing.T) {
	for delay, refused := range map[time.Duration]bool{0: false, stopGrace - drainBound: false, stopGrace - drainBound + 1: true} {
		if err := checkShutdown(cluster.Settings{ShutdownDelayDuration: cluster.Duration(delay)}); (err != nil) != refused {
			t.Errorf("a delay of %s: %v", delay, err)
		}
	}
}
