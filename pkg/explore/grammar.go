package explore

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// Grammar is what schedules are composed of.
type Grammar struct {
	// Steps, Faults and Workloads are what can be used on the target, in the order of their
	// names.
	Steps, Faults, Workloads []registry.Entry
	// When are the parameters of what a step can wait for.
	When []registry.Parameter
	// Fits says why a step would not do what a fault says; nil is that it does.
	Fits func(step []byte, f *fault.Fault) error
	// Lacks says why an entry cannot be used on the target with these values; empty if it can.
	Lacks func(entry *registry.Entry, values registry.Values) string
}

// Bounds of what a schedule is made of.
const (
	// MaxStepCost is the longest that a single step of a schedule may take, about.
	MaxStepCost = 40 * time.Second
	// closingHold is how long the hold at the end lasts: what was healed has to show.
	closingHold = 5 * time.Second
)

// Target is the control plane that schedules are composed for.
type Target struct {
	Topology *cluster.Topology
	// Releases of the distribution, oldest first.
	Releases []string
	// Name that the schedules' names begin with.
	Name string
}

// NewGrammar has the entries that can be used on a cluster.
func NewGrammar(c cluster.Cluster, steps, faults, workloads []registry.Entry, when []registry.Parameter) *Grammar {
	g := &Grammar{When: when, Lacks: func(entry *registry.Entry, values registry.Values) string { return entry.Lacks(c, values) }, Fits: stepFits}
	usable := func(entries []registry.Entry) []registry.Entry {
		out := slices.DeleteFunc(slices.Clone(entries), func(e registry.Entry) bool { return cluster.Lacking(c, e.Needs...) != "" })
		slices.SortFunc(out, func(a, b registry.Entry) int { return cmp.Compare(a.Name, b.Name) })
		return out
	}
	g.Steps, g.Faults, g.Workloads = usable(steps), usable(faults), usable(workloads)
	return g
}

// stepFits asks the step itself.
func stepFits(step []byte, f *fault.Fault) error {
	parsed, err := scenario.ParseStep(step)
	if err != nil {
		return err
	}
	return scenario.Fits(parsed, f)
}

// step of a name.
func (g *Grammar) step(name string) (*registry.Entry, error) {
	at := slices.IndexFunc(g.Steps, func(e registry.Entry) bool { return e.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("the target has no step %q", name)
	}
	return &g.Steps[at], nil
}
