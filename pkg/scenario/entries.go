package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Entries declare all steps, by name.
func Entries() []registry.Entry {
	var out []registry.Entry
	for _, name := range StepNames() {
		out = append(out, stepTypes[name].entry)
	}
	return out
}

// newEntry declares a step.
func newEntry(name string, parameters []registry.Parameter, needs []cluster.Ability) registry.Entry {
	entry := registry.Entry{Kind: registry.Step, Name: name, Parameters: parameters, Needs: needs}
	entry.Compose = func(_ string, values registry.Values) ([]byte, error) {
		raw, _, err := compose(&entry, values)
		return raw, err
	}
	entry.Requires = func(values registry.Values) []cluster.Ability {
		if one, ok := loose(name, values).(requiring); ok {
			return one.requires()
		}
		return nil
	}
	entry.Cost = func(values registry.Values) time.Duration { return costOf(loose(name, values)) }
	return entry
}

// NewStep makes a step of the name from values. The error says what is missing, unknown or not
// in its domain, or is that of the step's own validation.
func NewStep(name string, values registry.Values) (Step, error) {
	known, ok := stepTypes[name]
	if !ok {
		return Step{}, fmt.Errorf("there is no step %q", name)
	}
	_, step, err := compose(&known.entry, values)
	return step, err
}

// compose writes a step as YAML, and reads it as a scenario does.
func compose(entry *registry.Entry, values registry.Values) ([]byte, Step, error) {
	if err := entry.Check(values); err != nil {
		return nil, Step{}, err
	}
	raw, err := yaml.Marshal(map[string]any{entry.Name: values.Plain()})
	if err != nil {
		return nil, Step{}, fmt.Errorf("write a step %s: %w", entry.Name, err)
	}
	step, err := ParseStep(raw)
	if err != nil {
		return nil, Step{}, fmt.Errorf("step %s: %w", entry.Name, err)
	}
	return raw, step, nil
}

// loose is the action of a step with values that may be incomplete.
func loose(name string, values registry.Values) Action {
	action := stepTypes[name].make()
	raw, err := yaml.Marshal(values.Plain())
	if err == nil {
		err = yaml.Unmarshal(raw, action)
	}
	if err != nil {
		return stepTypes[name].make()
	}
	return action
}

// ValuesOf are the values of a step: of its optional fields those that are not zero.
func ValuesOf(a Action) registry.Values {
	out := registry.Values{}
	values(reflect.ValueOf(a).Elem(), out)
	return out
}

func values(v reflect.Value, into registry.Values) {
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		field := v.Field(i)
		switch {
		case options == "inline":
			values(field, into)
		case name == "" || name == "-" || options == "omitempty" && field.IsZero():
		case field.Kind() == reflect.Slice:
			var list []any
			for k := range field.Len() {
				list = append(list, value(field.Index(k)))
			}
			into[name] = list
		default:
			into[name] = value(field)
		}
	}
}

func value(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Struct:
		group := registry.Values{}
		values(v, group)
		return group
	case reflect.String:
		return v.String()
	}
	return v.Interface()
}

// Fits is an error that says what of a fault a step would not do; nil where the step names no
// faults.
func Fits(step Step, f *fault.Fault) error {
	if one, ok := step.Action.(usingFaults); ok {
		return one.fits(f)
	}
	return nil
}

// ParseStep reads a step as a scenario has it.
func ParseStep(raw []byte) (Step, error) {
	var step Step
	if err := yaml.Unmarshal(raw, &step); err != nil {
		return Step{}, err
	}
	return step, step.validate()
}

// Selectors are those by which a step names members.
func Selectors(step Step) []string { return selectorsOf(step.Action) }
