package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
)

// Kind is a kind of fault: of Chaos Mesh's, or of Evenkeel's where Chaos Mesh has none. Each
// stands in a file of its own, which registers it; nothing else lists the kinds.
type Kind struct {
	// Type and APIVersion are those of its files. The history names the fault by its Type too.
	Type, APIVersion string
	// Doc says in sentences what it does, for the reference.
	Doc string
	// Parse reads a file of the kind.
	Parse func(file string, raw []byte) (*Fault, error)
	// Actions are what it can do, in the order of the reference.
	Actions []Action
}

// Action is one thing that a kind of fault does.
type Action struct {
	// Name as the history has it, such as partition.
	Name string
	// Doc says what it does.
	Doc string
	// Witness says what proves that it took effect.
	Witness string
	// Parameters of the action, beside the member.
	Parameters []registry.Parameter
	// Object is the object of a fault without its name and the parameters that have a path.
	Object func(values registry.Values) map[string]any
	// Settle changes values that were drawn apart from each other so that they go together; nil
	// where all do.
	Settle func(values registry.Values)
	// Cost is about how long it takes beside its duration: to inject, to prove and to heal.
	Cost time.Duration
}

// kinds are all kinds, by type.
var kinds = map[string]Kind{}

// Register makes a kind of fault known. It is called as the program starts.
func Register(kind Kind) struct{} {
	kinds[kind.Type] = kind
	return struct{}{}
}

// Kinds are all kinds of faults, by type.
func Kinds() []Kind {
	var out []Kind
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		out = append(out, kinds[name])
	}
	return out
}

func kindNames() string { return strings.Join(slices.Sorted(maps.Keys(kinds)), ", ") }

// reading is a Kind.Parse of files that have the form of T.
func reading[T any](from func(*T) (*Fault, error)) func(file string, raw []byte) (*Fault, error) {
	return func(file string, raw []byte) (*Fault, error) {
		object := new(T)
		if err := strictyaml.DecodeJSON(file, raw, object); err != nil {
			return nil, err
		}
		fault, err := from(object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return fault, nil
	}
}

// Entries declare every action of every kind, named <kind>/<action>.
func Entries() []registry.Entry {
	var out []registry.Entry
	for _, kind := range Kinds() {
		for _, action := range kind.Actions {
			out = append(out, kind.entry(action))
		}
	}
	return out
}

func (k Kind) entry(action Action) registry.Entry {
	entry := registry.Entry{
		Kind: registry.Fault, Name: k.Type + "/" + action.Name, Doc: action.Doc, Witness: action.Witness,
		Parameters: action.Parameters, Settle: action.Settle,
	}
	entry.Compose = func(name string, values registry.Values) ([]byte, error) {
		if err := entry.Check(values); err != nil {
			return nil, err
		}
		return k.compose(action, name, values)
	}
	entry.Requires = func(values registry.Values) []cluster.Ability {
		raw, err := entry.Compose("needs", values)
		if err != nil {
			return nil
		}
		fault, err := Parse("needs", raw)
		if err != nil {
			return nil
		}
		return fault.Needs()
	}
	entry.Cost = func(values registry.Values) time.Duration {
		lasts, _ := values["duration"].(time.Duration)
		return action.Cost + lasts
	}
	return entry
}

// compose writes a fault file.
func (k Kind) compose(action Action, name string, values registry.Values) ([]byte, error) {
	object := action.Object(values)
	object["apiVersion"], object["kind"] = k.APIVersion, k.Type
	set(object, []string{"metadata", "name"}, name)
	for _, p := range action.Parameters {
		if value, given := values.Plain()[p.Name]; given && len(p.Path) > 0 {
			set(object, p.Path, value)
		}
	}
	raw, err := yaml.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("write the fault %s: %w", name, err)
	}
	if _, err := Parse(name, raw); err != nil {
		return nil, err
	}
	return raw, nil
}

// set sets a value in an object.
func set(object map[string]any, path []string, value any) {
	for _, key := range path[:len(path)-1] {
		inner, ok := object[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[key] = inner
		}
		object = inner
	}
	object[path[len(path)-1]] = value
}
