package registry

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Kind is what an entry is.
type Kind string

// The kinds.
const (
	Step     Kind = "step"
	Fault    Kind = "fault"
	Workload Kind = "workload"
	Driver   Kind = "driver"
)

// Values are those of parameters, by their names. A duration is a time.Duration, a list is
// []any or []string, a group is Values. A parameter that is left out is not there.
type Values map[string]any

// Plain are the values as files have them: durations as texts such as 1s, groups as maps.
func (v Values) Plain() map[string]any {
	out := map[string]any{}
	for name, value := range v {
		out[name] = plain(value)
	}
	return out
}

func plain(value any) any {
	switch one := value.(type) {
	case time.Duration:
		return one.String()
	case Values:
		return one.Plain()
	}
	list, ok := elements(value)
	if !ok {
		return value
	}
	out := []any{}
	for _, one := range list {
		out = append(out, plain(one))
	}
	return out
}

// Parameter is one thing that can differ from one use of an entry to the next.
type Parameter struct {
	// Name as in files. That of a fault is a word for where it stands in the object, see Path.
	Name string
	// Path leads to it in the object of a fault.
	Path []string
	// Doc says in a sentence what it does. That of a step stands in the reference only.
	Doc string
	// Optional is whether it may be left out.
	Optional bool
	// Variant, where it is set, is the one variant that the parameter belongs to: of the
	// parameters with variants only those of one variant may be given, and all of these that
	// are not optional must be.
	Variant string
	Domain  Domain
	// Needs are the abilities that a cluster must have for the parameter to be given.
	Needs []cluster.Ability
}

// Entry is what a step, a fault or a workload says of itself.
type Entry struct {
	Kind Kind
	// Name as in files: that of a step, the kind and action of a fault such as
	// NetworkChaos/delay, and the file of a workload.
	Name string
	// Doc says what it does.
	Doc string
	// Witness says, of a fault, what proves that it took effect.
	Witness    string
	Parameters []Parameter
	// Resource is what a workload writes; empty elsewhere.
	Resource Resource
	// Needs are the abilities that a cluster must have, whatever the values are.
	Needs []cluster.Ability
	// Requires are further abilities that depend on the values; nil where none do.
	Requires func(Values) []cluster.Ability
	// Cost is about how long it takes on local processes with these values; what is not given
	// counts as its default. Of a fault it is the time beside its duration.
	Cost func(Values) time.Duration
	// Settle changes values that were drawn apart from each other so that they go together, such as
	// the group and the resource that a fault is about; nil where all do.
	Settle func(Values)
	// Compose writes it as YAML: a step with its name, or a fault file of the name. A workload
	// has none. The error is that of Check, or of validation.
	Compose func(name string, values Values) ([]byte, error)
}

// Resource is a resource of the control plane.
type Resource struct {
	Group, Resource string
	// Versions in which it is written.
	Versions []string
	// Custom is whether a registerAPI step has to define it, and Aggregated whether the
	// members' aggregated servers host it; otherwise it is built in.
	Custom, Aggregated bool
}

// Parameter of the name; ok is false where there is none.
func (e *Entry) Parameter(name string) (Parameter, bool) {
	at := slices.IndexFunc(e.Parameters, func(p Parameter) bool { return p.Name == name })
	if at < 0 {
		return Parameter{}, false
	}
	return e.Parameters[at], true
}

// Abilities are those that a cluster must have for the entry to be used with the values.
func (e *Entry) Abilities(values Values) []cluster.Ability {
	needs := slices.Clone(e.Needs)
	for _, p := range e.Parameters {
		if _, given := values[p.Name]; given {
			needs = append(needs, p.Needs...)
		}
	}
	if e.Requires != nil {
		needs = append(needs, e.Requires(values)...)
	}
	return needs
}

// Least are values of the parameters that must be there, and of no variant: of each the first one
// that is swept.
func (e *Entry) Least() Values {
	values := Values{}
	for _, p := range e.Parameters {
		if p.Optional || p.Variant != "" || len(p.Domain.Values) == 0 {
			continue
		}
		values[p.Name] = p.Domain.Values[0]
		if p.Domain.Many {
			values[p.Name] = []any{p.Domain.Values[0]}
		}
	}
	return values
}

// Lacks says in half a sentence why an entry cannot be used with the values on a cluster;
// empty if it can.
func (e *Entry) Lacks(c cluster.Cluster, values Values) string {
	return cluster.Lacking(c, e.Abilities(values)...)
}

// Check is an error that names each parameter which is missing, unknown, or has a value that
// is not in its domain.
func (e *Entry) Check(values Values) error {
	if err := Check(e.Parameters, values); err != nil {
		return fmt.Errorf("%s %s: %w", e.Kind, e.Name, err)
	}
	return nil
}

// Check is Entry.Check for some parameters.
func Check(parameters []Parameter, values Values) error {
	var errs []error
	variant, err := chosen(parameters, values)
	errs = append(errs, err)
	known := map[string]bool{}
	for _, p := range parameters {
		known[p.Name] = true
		value, given := values[p.Name]
		switch {
		case given:
			if err := p.Domain.Check(value); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", p.Name, err))
			}
		case !p.Optional && (p.Variant == "" || p.Variant == variant):
			errs = append(errs, fmt.Errorf("%s is missing", p.Name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !known[name] {
			errs = append(errs, fmt.Errorf("there is no parameter %s", name))
		}
	}
	return errors.Join(errs...)
}

// Variants of the parameters, sorted; none where there is no choice.
func Variants(parameters []Parameter) []string {
	var out []string
	for _, p := range parameters {
		if p.Variant != "" {
			out = append(out, p.Variant)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// chosen is the variant that the values are of. An error says that there is none, or several.
func chosen(parameters []Parameter, values Values) (string, error) {
	variants := Variants(parameters)
	if len(variants) == 0 {
		return "", nil
	}
	var found []string
	for _, p := range parameters {
		if _, given := values[p.Name]; given && p.Variant != "" && !slices.Contains(found, p.Variant) {
			found = append(found, p.Variant)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("the parameters must be those of one of %v, and are of %v", variants, found)
	}
	return found[0], nil
}

// Fields declare the parameters of a type whose fields have yaml tags, by the names in files.
type Fields map[string]Declared

// Declared is a Domain, or a Parameter with more than that.
type Declared interface{ parameter() Parameter }

func (d Domain) parameter() Parameter    { return Parameter{Domain: d} }
func (p Parameter) parameter() Parameter { return p }

// In is a parameter that belongs to a variant, and must be there in it.
func (d Domain) In(variant string) Parameter { return Parameter{Domain: d, Variant: variant} }

// Maybe is the parameter of a variant, as one that may be left out.
func (p Parameter) Maybe() Parameter {
	p.Optional = true
	return p
}

// With is a parameter that needs abilities of a cluster.
func (d Domain) With(needs ...cluster.Ability) Parameter { return d.parameter().With(needs...) }

// With has the parameter need abilities of a cluster.
func (p Parameter) With(needs ...cluster.Ability) Parameter {
	p.Needs = append(slices.Clone(p.Needs), needs...)
	return p
}

// And are both fields.
func (f Fields) And(more Fields) Fields {
	out := maps.Clone(f)
	maps.Copy(out, more)
	return out
}

// Parameters of a type, in the order of its fields: each of its keys must be declared, and no
// other one. One without a variant is optional where its tag says omitempty.
func (f Fields) Parameters(t reflect.Type) ([]Parameter, error) {
	var out []Parameter
	var errs []error
	known := map[string]bool{}
	for _, tag := range tags(t) {
		name, options, _ := strings.Cut(tag, ",")
		known[name] = true
		declared, ok := f[name]
		if !ok {
			errs = append(errs, fmt.Errorf("the field %s has no domain", name))
			continue
		}
		p := declared.parameter()
		p.Name = name
		if p.Variant == "" {
			p.Optional = options == "omitempty"
		}
		out = append(out, p)
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !known[name] {
			errs = append(errs, fmt.Errorf("there is no field %s", name))
		}
	}
	return out, errors.Join(errs...)
}

// Of is the domain of a list's elements or of a group, whose type has these fields.
func (f Fields) Of(t reflect.Type) Domain {
	parameters, err := f.Parameters(t)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", t, err)) // as the program starts
	}
	return Of(parameters...)
}

// tags are the yaml tags of a type, those of what it inlines among them.
func tags(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("yaml")
		switch {
		case strings.HasSuffix(tag, ",inline"):
			out = append(out, tags(field.Type)...)
		case tag != "" && tag != "-":
			out = append(out, tag)
		}
	}
	return out
}
