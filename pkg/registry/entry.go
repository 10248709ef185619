package registry

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
)

// Values are those of parameters, by their names. A duration is a time.Duration, a list is
// []any or []string, a group is Values. A parameter that is left out is not there.
type Values map[string]any

// Parameter is one thing that can differ from one use of an entry to the next.
type Parameter struct {
	// Name as in files. In a fault it is a path, such as spec.delay.latency.
	Name string
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
	// Needs are the abilities that a cluster must have, whatever the values are.
	Needs []cluster.Ability
	// Cost is about how long it takes on local processes with these values; what is not given
	// counts as its default. Of a fault it is the time beside its duration.
	Cost func(Values) time.Duration
	// Compose writes it as YAML: a step with its name, or a fault file of the name. A workload
	// has none. The error is that of Check, or of validation.
	Compose func(name string, values Values) ([]byte, error)
}

// Parameter of the name; ok is false where there is none.
func (e *Entry) Parameter(name string) (Parameter, bool) {
	at := slices.IndexFunc(e.Parameters, func(p Parameter) bool { return p.Name == name })
	if at < 0 {
		return Parameter{}, false
	}
	return e.Parameters[at], true
}

// Lacks says in half a sentence why an entry cannot be used with the values on a cluster;
// empty if it can.
func (e *Entry) Lacks(c cluster.Cluster, values Values) string {
	needs := slices.Clone(e.Needs)
	for _, p := range e.Parameters {
		if _, given := values[p.Name]; given {
			needs = append(needs, p.Needs...)
		}
	}
	return cluster.Lacking(c, needs...)
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
