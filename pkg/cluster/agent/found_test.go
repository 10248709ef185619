//go:build linux

package agent

import (
	"fmt"
	"testing"

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
	hear(Event{Component: cluster.APIServer, PID: 1, StartTime: 1, Gone: true})
	hear(Event{Component: cluster.APIServer, PID: 2, StartTime: 2})
	u.Starting(cluster.ControllerManager, "1")
	hear(Event{Component: cluster.ControllerManager, PID: 3, StartTime: 3})
	want := []string{"apiserver started 1 true", "apiserver exited 1 false", "apiserver started 2 false", "controller-manager started 1 false"}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told was %q, want %q", told, want)
	}
}
