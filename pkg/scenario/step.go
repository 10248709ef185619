package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
)

// Step is one step of a scenario. In a file it is the name of the step and its fields, and
// beside it, under the key when, what the step waits for.
type Step struct {
	Action
	// When is nil for a step that begins as soon as the one before has ended.
	When *Trigger
}

// WhenKey is the key of a Trigger.
const WhenKey = "when"

// WhenType is the type of a Trigger, whose yaml tags are its fields.
func WhenType() reflect.Type { return reflect.TypeFor[Trigger]() }

// Action is what a step does. Each type stands in a file of its own, which registers it by
// its name; nothing else lists the steps. The interfaces below are what a type may say of
// itself beside this.
type Action interface {
	// validate checks what can be known without a cluster.
	validate() error
	// play plays it.
	play(ctx context.Context, r *Runner, at target) error
}

// target is what a step is played at.
type target struct {
	// members are those that the step's selectors mean now, each once.
	members []string
	// releases that they are to get, of a step that names one; else their own.
	releases map[string]string
}

// one is the member of a step that goes through a single one.
func (t target) one() string { return t.members[0] }

// selecting is a step that is played at members.
type selecting interface{ selectors() []string }

// usingFaults is a step that names fault files.
type usingFaults interface {
	faults() []string
	// fits is an error that says what of a fault the step would not do.
	fits(f *fault.Fault) error
}

// releasing is a step that names the release that its members are to get; empty means
// their own.
type releasing interface{ release() string }

// usingBackend is a step that needs an aggregated server.
type usingBackend interface{ backend() string }

// writing is a step that writes objects of workload files.
type writing interface{ workloads() []string }

// naming is a step that gives later steps a name, or takes one of an earlier step.
type naming interface{ name(n *names) error }

// needing is a step that cannot be played without what an earlier one was to make.
type needing interface {
	// lacking says what is missing; empty if nothing is.
	lacking(r *Runner) string
}

// bounded is a step that says how long it may take at so many members, where that is longer
// than usual.
type bounded interface {
	within(r *Runner, members int) time.Duration
}

// checking is a step that refuses a cluster before anything runs.
type checking interface{ check(r *Runner) error }

// observing is a step that may do no more to a control plane than to look at it and to
// define APIs of Evenkeel's own.
type observing interface{ harmless() bool }

// restarting is a step after which another process of an API server may run than before.
type restarting interface{ restarts(s *Scenario) bool }

// requiring is a step that needs abilities of a cluster which depend on its values, beside those
// that it registers.
type requiring interface{ requires() []cluster.Ability }

// costing is a step that takes another time than most, see Scenario.Cost.
type costing interface{ cost() time.Duration }

// whole is a step that records its begin and end itself.
type whole interface {
	playWhole(ctx context.Context, r *Runner, index int) error
}

// stepType is what is known of a step.
type stepType struct {
	make  func() Action
	entry registry.Entry
}

// stepTypes are all steps, by name.
var stepTypes = map[string]stepType{}

// register makes a step known: how an empty one is made, the domains of its fields, and the
// abilities that it needs of a cluster whatever the fields are. It is called once a step, as the
// program starts, and panics where a field has no domain.
func register(name string, make func() Action, fields registry.Fields, needs ...cluster.Ability) struct{} {
	parameters, err := fields.Parameters(reflect.TypeOf(make()).Elem())
	if err == nil && len(needs) == 0 {
		err = errors.New("it does not say what it needs of a cluster; one that needs nothing says anywhere")
	}
	if err != nil {
		panic(fmt.Sprintf("register the step %s: %v", name, err))
	}
	stepTypes[name] = stepType{make: make, entry: newEntry(name, parameters, needs)}
	return struct{}{}
}

// StepNames are all steps that there are.
func StepNames() []string { return slices.Sorted(maps.Keys(stepTypes)) }

// typeOf is what is known of the type of a step.
func typeOf(a Action) (known stepType, ok bool) {
	for _, known := range stepTypes {
		if reflect.TypeOf(known.make()) == reflect.TypeOf(a) {
			return known, true
		}
	}
	return stepType{}, false
}

// single is whether the step goes through one member, as the domain of one of its fields says.
func (t stepType) single() bool {
	return slices.ContainsFunc(t.entry.Parameters, func(p registry.Parameter) bool { return p.Domain.Single })
}

// Name of the step.
func (s Step) Name() string {
	if wrong, ok := s.Action.(*malformed); ok {
		return wrong.name
	}
	if known, ok := typeOf(s.Action); ok {
		return known.entry.Name
	}
	return fmt.Sprintf("%T", s.Action)
}

// malformed is a step that has no action, or several.
type malformed struct {
	name string
	err  error
}

func (m *malformed) validate() error                             { return m.err }
func (m *malformed) play(context.Context, *Runner, target) error { return m.err }

// UnmarshalYAML reads the one step that a group of keys names.
func (s *Step) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: a step must be its name and a group of keys", node.Line)}}
	}
	s.Action = &malformed{"no action", errors.New("has no action")}
	named := false
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Value == WhenKey {
			s.When = &Trigger{}
			if err := strictyaml.DecodeNode(value, s.When); err != nil {
				return err
			}
			continue
		}
		kind, known := stepTypes[key.Value]
		if !known {
			return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: field %s not found in type Step", key.Line, key.Value)}}
		}
		if named {
			s.Action = &malformed{key.Value, errors.New("has more than one action; make each a step of its own")}
			return nil
		}
		action := kind.make()
		if err := strictyaml.DecodeNode(value, action); err != nil {
			return err
		}
		s.Action, named = action, true
	}
	return nil
}

// selectorsOf are the selectors that a step names.
func selectorsOf(a Action) []string {
	if s, ok := a.(selecting); ok {
		return s.selectors()
	}
	return nil
}

// faultsOf are the fault files that a step names.
func faultsOf(a Action) []string {
	if f, ok := a.(usingFaults); ok {
		return f.faults()
	}
	return nil
}

// workloadsOf are the workload files that a step writes objects of.
func workloadsOf(a Action) []string {
	if w, ok := a.(writing); ok {
		return w.workloads()
	}
	return nil
}

// releaseOf is the release that a step names.
func releaseOf(a Action) string {
	if r, ok := a.(releasing); ok {
		return r.release()
	}
	return ""
}

// changes is whether a step names what its members run from then on.
func changes(a Action) bool {
	if one, ok := a.(emulating); ok {
		if _, _, names := one.emulated(); names {
			return true
		}
	}
	return releaseOf(a) != ""
}

// missing is an error about a field that must be there.
func missing(key, value string) error {
	if value == "" {
		return fmt.Errorf("%s is missing", key)
	}
	return nil
}

// play plays one step of the scenario.
func (r *Runner) play(ctx context.Context, index int, step *Step) error {
	action := step.Name()
	met, err := r.trigger(ctx, index, step)
	if err != nil || !met {
		return err
	}
	if one, ok := step.Action.(whole); ok {
		return one.playWhole(ctx, r, index)
	}
	at := target{}
	at.members, err = r.selected(ctx, selectorsOf(step.Action))
	if err != nil {
		err = fmt.Errorf("step %d (%s): %w", index, action, err)
		if r.blames(ctx, err) {
			r.report(index, action, "", "", history.PhaseSkipped, err.Error())
		}
		return err
	}
	// An event has room for a single member; of several, the faults and the
	// processes tell.
	member, release := "", ""
	if len(at.members) == 1 {
		member = at.members[0]
	}
	if len(at.members) > 0 {
		if at.releases, err = r.targets(at.members, step.Action); err != nil {
			return fmt.Errorf("step %d (%s): %w", index, action, err)
		}
		if changes(step.Action) {
			release = at.releases[at.members[0]]
		}
	}
	// Most take the members one after the other.
	bound := r.bound(action) * time.Duration(max(len(at.members), 1))
	if one, ok := step.Action.(bounded); ok {
		bound = max(bound, one.within(r, max(len(at.members), 1)))
	}
	return r.stepWithin(ctx, bound, index, action, member, release, func(ctx context.Context) error {
		return step.Action.play(ctx, r, at)
	})
}

// StepType is the type whose yaml tags are the fields of a step; ok is false for a step that
// there is not.
func StepType(name string) (t reflect.Type, ok bool) {
	known, ok := stepTypes[name]
	if !ok {
		return nil, false
	}
	return reflect.TypeOf(known.make()).Elem(), true
}
