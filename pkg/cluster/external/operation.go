package external

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/driver"
)

// What operates a member is a hook of the user's or, where there is none, the driver that the
// topology names. What either did has to show at the API server.

// commands are what a task takes.
type commands struct {
	lines [][]string
	bound time.Duration
	// told are variables of the environment.
	told []string
	// noTerminal is whether the commands must not find the user's terminal, at which ssh would ask
	// for a password of the jump host.
	noTerminal bool
}

// commands of the hook, or of the driver.
func (c *external) commands(m *member, do task) commands {
	if hook, ok := c.spec.Hooks[do.hook]; ok {
		bound := time.Duration(hook.Timeout)
		if bound == 0 {
			bound = hookBound
		}
		return commands{lines: [][]string{hook.Command}, bound: bound, told: c.told(m, do)}
	}
	one, _ := c.driver.Operation(do.hook)
	bound := one.Timeout
	if bound == 0 {
		bound = hookBound
	}
	return commands{lines: one.Commands(c.driverTask(m, do)), bound: bound, noTerminal: true}
}

// driverTask is what a driver is told of what it is to do.
func (c *external) driverTask(m *member, do task) driver.Task {
	out := driver.Task{Topology: c.topology, Node: m.address, Component: do.component, Release: do.release, First: true}
	for _, other := range c.members {
		if other == m {
			continue
		}
		out.Others = append(out.Others, other.address)
		if c.Release(other.name) == do.release {
			out.First = false
		}
	}
	return out
}

// lacksOperation says in half a sentence why nothing does to a member what the means, the name of
// a hook, stands for; empty where a hook or the driver does.
func (c *external) lacksOperation(means cluster.Means) string {
	hook := string(means)
	if means == cluster.MeansStopComponent {
		hook = cluster.HookStop
	}
	if _, ok := c.spec.Hooks[hook]; ok || c.byAgent(hook) {
		return ""
	}
	if c.driver == nil {
		return fmt.Sprintf("the topology has no hook %s", hook)
	}
	if why := c.driver.Lack(c.topology, hook); why != "" {
		return why
	}
	if means == cluster.MeansStopComponent && c.driver.OnlyWhole != "" {
		return fmt.Sprintf("the driver %s stops whole members only: %s", c.driver.Name, c.driver.OnlyWhole)
	}
	if undone := cluster.UndoneBy(hook); undone != "" {
		return c.lacksOperation(cluster.Means(undone))
	}
	return ""
}

// actor names in a sentence what does to a member what a hook stands for.
func (c *external) actor(hook string) string {
	if _, ok := c.spec.Hooks[hook]; !ok && c.driver != nil {
		return fmt.Sprintf("the %s of the driver %s", hook, c.driver.Name)
	}
	return "the hook " + hook
}

// byHand tells the user how to do what could not be done.
func (c *external) byHand(m *member, do task) string {
	if _, ok := c.spec.Hooks[do.hook]; !ok && c.driver != nil {
		return fmt.Sprintf("do by hand at %s what `evenkeel drivers %s` says of %s", m.address, c.driver.Name, do.hook)
	}
	return fmt.Sprintf("run the hook %s of spec.external.hooks by hand, with %s=%s and %s=%s",
		do.hook, variableMember, m.name, variableComponent, do.component)
}
