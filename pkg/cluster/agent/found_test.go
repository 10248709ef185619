//go:build linux

package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Of the first process of a component it is not known when it was started, unless the harness
// starts it.
func TestUnits_WhatIsFoundMayHaveRunBefore(t *testing.T) {
	var told []string
	components := []cluster.Component{cluster.APIServer, cluster.ControllerManager}
	u := NewUnits("cp1", components, "1", func(c cluster.Change) {
		told = append(told, fmt.Sprintf("%s %s %d %t", c.Component, c.What, c.Instance, c.Given))
	}).Found()
	hear := u.Listener()
	hear(Event{Component: cluster.APIServer, PID: 1, StartTime: 1})
	hear(Event{Now: true})
	hear(Event{Component: cluster.APIServer, PID: 1, StartTime: 1, Gone: true})
	hear(Event{Component: cluster.APIServer, PID: 2, StartTime: 2})
	u.Starting(cluster.ControllerManager, "1")
	hear(Event{Component: cluster.ControllerManager, PID: 3, StartTime: 3})
	want := []string{"apiserver started 1 true", "apiserver exited 1 false", "apiserver started 2 false", "controller-manager started 1 false"}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told was %q, want %q", told, want)
	}
}

// After a power cut the agent itself has to start, and tells of processes that have run for a
// while; over a connection that was lost it tells late of what it saw. Laws allow for what is told
// at once, and for no more.
func TestUnits_WhatIsToldLateWasBefore(t *testing.T) {
	var told []string
	u := NewUnits("cp1", []cluster.Component{cluster.APIServer}, "1", func(c cluster.Change) {
		told = append(told, fmt.Sprintf("%s %s", c.What, c.Ago))
	})
	hear := u.Listener()
	hear(Event{Component: cluster.APIServer, PID: 1, StartTime: 1, Ago: toldAtOnce})
	hear(Event{Component: cluster.APIServer, PID: 1, StartTime: 1, Ago: time.Second, Gone: true})
	hear(Event{Component: cluster.APIServer, PID: 2, StartTime: 2, Ago: 700 * time.Millisecond})
	if want := []string{"started 0s", "exited 1s", "started 700ms"}; fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told was %q, want %q", told, want)
	}
}

// An agent that is older than the run tells of all that it has seen. What had ended by then is
// none of the run's, also when the agent tells it again over another connection.
func TestUnits_WhatEndedBeforeTheRunIsNotTold(t *testing.T) {
	var told []string
	u := NewUnits("cp1", []cluster.Component{cluster.APIServer}, "1", func(c cluster.Change) {
		told = append(told, fmt.Sprintf("%s %d %d %t", c.What, c.Process.PID, c.Instance, c.Given))
	}).Found()
	process := func(hear func(Event), pid int, gone bool) {
		hear(Event{Component: cluster.APIServer, PID: pid, StartTime: int64(pid), Gone: gone})
	}
	broken := u.Listener() // its connection is lost on the way, and its agent was another one
	process(broken, 9, false)
	all := func(hear func(Event)) {
		process(hear, 1, false)
		process(hear, 1, true)
		process(hear, 2, false)
	}
	hear := u.Listener()
	all(hear)
	if len(told) > 0 {
		t.Errorf("before the agent has told all, it is told %q", told)
	}
	hear(Event{Now: true})
	hear = u.Listener()
	all(hear)
	process(hear, 2, true)
	hear(Event{Now: true})
	process(hear, 3, false)
	want := []string{"started 2 1 true", "exited 2 1 false", "started 3 2 false"}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told was %q, want %q", told, want)
	}
}
