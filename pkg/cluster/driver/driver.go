// Package driver knows by which commands the common installers of Kubernetes operate a member of
// an external cluster: how its release is replaced, and how it is stopped, started, killed,
// frozen, cut off and switched off. Each installer stands in a file of its own, which registers
// it. A driver makes command lines and runs none; pkg/cluster/external does, and looks at the API
// server for what they did.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package driver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Driver says how an installer operates a member.
type Driver struct {
	// Name as topologies have it.
	Name string
	// Doc says in sentences what the driver operates, and what it needs on the nodes.
	Doc string
	// Sources are the pages of the installer that its commands follow.
	Sources []string
	// Operations are what it does, each in the place of a hook.
	Operations []Operation
	// Lacks are the hooks for which it has no operation, each with the reason as half a sentence.
	// Every hook is among these or the operations.
	Lacks map[string]string
	// OnlyWhole is, in half a sentence, why no component can be stopped alone; empty where one can.
	OnlyWhole string

	// Parameters are the keys below spec.external that say how it reaches the nodes.
	Parameters []registry.Parameter
}

// Operation is what a driver does in the place of a hook.
type Operation struct {
	// Hook is one of the cluster.Hook… values.
	Hook string
	// Doc says in a sentence what it does, without a full stop.
	Doc string
	// Timeout is how long all its commands may take together; 0 means the provider's default.
	Timeout time.Duration
	// Lack says in half a sentence why it cannot be done to the cluster of a topology; empty
	// where it can. It may be nil.
	Lack func(*cluster.Topology) string
	// Commands run on this machine, one after the other, each with its arguments.
	Commands func(Task) [][]string
}

// Task is what an operation is to do.
type Task struct {
	// Topology of the cluster; its paths are such that they can be opened.
	Topology *cluster.Topology
	// Node is the address at which the node is reached, and Others are those of the other members.
	Node   string
	Others []string
	// Component is empty where it is all of the member.
	Component cluster.Component
	// Release is the one to take the member to, and First whether no other member runs it yet.
	Release string
	First   bool
}

var drivers = map[string]*Driver{}

// register makes a driver known. It is called as the program starts.
func register(d Driver) struct{} {
	drivers[d.Name] = &d
	return struct{}{}
}

// All are the drivers, by name.
func All() []*Driver {
	var out []*Driver
	for _, name := range slices.Sorted(maps.Keys(drivers)) {
		out = append(out, drivers[name])
	}
	return out
}

// Lookup finds a driver by its name.
func Lookup(name string) (d *Driver, ok bool) {
	d, ok = drivers[name]
	return d, ok
}

// Operation of the driver for a hook.
func (d *Driver) Operation(hook string) (one Operation, ok bool) {
	at := slices.IndexFunc(d.Operations, func(one Operation) bool { return one.Hook == hook })
	if at < 0 {
		return Operation{}, false
	}
	return d.Operations[at], true
}

// Lack says in half a sentence why the driver does not do to the cluster of a topology what a hook
// would; empty where it does.
func (d *Driver) Lack(topology *cluster.Topology, hook string) string {
	why := ""
	one, ok := d.Operation(hook)
	switch {
	case !ok:
		why = d.Lacks[hook]
		if why == "" {
			why = "it knows no such operation"
		}
	case one.Lack != nil:
		why = one.Lack(topology)
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("the driver %s has no %s here: %s", d.Name, hook, why)
}

// Problems says what is wrong in what a topology with a driver says of it, each as a part of a
// sentence that names the key.
func Problems(topology *cluster.Topology) []string {
	external := topology.Spec.External
	if external == nil || external.Driver == "" {
		return nil
	}
	d, ok := Lookup(external.Driver)
	if !ok {
		return []string{fmt.Sprintf("spec.external.driver %q is no driver; there are: %s", external.Driver, strings.Join(slices.Sorted(maps.Keys(drivers)), ", "))}
	}
	var wrong []string
	if err := registry.Check(d.Parameters, valuesOf(external)); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			wrong = append(wrong, fmt.Sprintf("spec.external, driver %s: %s", d.Name, line))
		}
	}
	for _, hook := range slices.Sorted(maps.Keys(external.Hooks)) {
		undone := cluster.UndoneBy(hook)
		if _, there := external.Hooks[undone]; undone == "" || there {
			continue
		}
		if _, there := d.Operation(undone); !there {
			wrong = append(wrong, fmt.Sprintf("spec.external.hooks.%s needs the hook %s, which takes back what it does: %s", hook, undone, d.Lacks[undone]))
		}
	}
	return wrong
}
