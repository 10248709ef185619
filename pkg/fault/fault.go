package fault

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
)

const (
	// MemberLabel selects the member in a fault's selectors. Its value is a
	// member's name or a selector of the scenario, or StepMember.
	MemberLabel = "evenkeel.dev/member"
	// StepMember stands for the member that the scenario's step names.
	StepMember = "@member"
)

// Fault is what a fault file asks for.
type Fault struct {
	Name string
	// Type and Action are the kind of the file and the action of that kind.
	Type, Action string
	// Member is the selector of the member, or StepMember.
	Member string
	// One is whether the fault must hit a single member.
	One bool
	// Components that are hit, cluster.Whole for all of the member; for a fault of a link they
	// are those at its near end.
	Components []cluster.Component
	// Prefixes are those of the keys in etcd that the fault is about, where checks ask for that.
	Prefixes []string
	// Duration after which the fault heals by itself; 0 means not at all.
	Duration time.Duration
	// Effect is what the fault does.
	Effect Effect
	// Object is the object of Chaos Mesh that says the same; nil where that has no such kind.
	Object runtime.Object
}

// Effect is what a fault does to a member.
type Effect interface {
	// Does says in a word what that is for steps, which take some faults only.
	Does() Does
	// Needs are the abilities that a cluster must have for the fault to be injected.
	Needs(f *Fault) []cluster.Ability
	// Inject injects the fault, tells a that it has and what proves that it took effect, and
	// returns how it is taken away. With an error, an Injection undoes what was done.
	Inject(ctx context.Context, a *Active) (*Injection, error)
}

// Does is what a fault does, for steps that take some faults only.
type Does string

// What faults do.
const (
	// Kills ends processes and leaves them down.
	Kills Does = "kills"
	// Freezes has processes stand still.
	Freezes Does = "freezes"
	// Cuts lets nothing pass along a link.
	Cuts Does = "cuts"
	// Delays has a link take longer.
	Delays Does = "delays"
	// Holds leaves requests to etcd unanswered.
	Holds Does = "holds"
	// Fails answers requests with a failure.
	Fails Does = "fails"
	// Hits aborts, delays or answers single HTTP requests, each of which is recorded.
	Hits Does = "hits"
)

// Injection is a fault in effect at one member. Any function but Remove may be nil.
type Injection struct {
	// Ending is called before a fault is healed. It records a witness that only shows by then,
	// and returns an error if the fault was not in effect any more.
	Ending func(ctx context.Context) error
	// Remove takes the fault away, and waits until what it hit is back.
	Remove func(ctx context.Context) error
	// Abandon takes the fault away without waiting for what it hit, as when a run is cut short;
	// nil means Remove.
	Abandon func(ctx context.Context) error
	// Gone waits until the fault that was removed has no effect any more.
	Gone func(ctx context.Context) error
	// Healed records what only shows afterwards.
	Healed func()
	// Met waits until the fault has hit so many requests, and so many of them are over. It
	// returns the context's cause if that ends before.
	Met func(ctx context.Context, came, over int) error
}

// does is what the fault does; empty without an effect.
func (f *Fault) does() Does {
	if f.Effect == nil {
		return ""
	}
	return f.Effect.Does()
}

// Crashes is whether the fault kills processes and leaves them down.
func (f *Fault) Crashes() bool { return f.does() == Kills }

// Pauses is whether the fault freezes a process, or a whole member.
func (f *Fault) Pauses() bool { return f.does() == Freezes }

// Partitions is whether the fault lets nothing pass along a link.
func (f *Fault) Partitions() bool { return f.does() == Cuts }

// Holds is whether the fault leaves requests to etcd unanswered by their keys.
func (f *Fault) Holds() bool { return f.does() == Holds }

// HitsRequests is whether the fault hits requests that a step can wait for.
func (f *Fault) HitsRequests() bool { return f.does() == Hits }

// Needs are the abilities that a cluster must have for the fault to be injected.
func (f *Fault) Needs() []cluster.Ability {
	if f.Effect == nil {
		return nil
	}
	needs := f.Effect.Needs(f)
	meshed, ok := f.Effect.(MeshEffect)
	if !ok || f.Object == nil {
		return needs
	}
	var out []cluster.Ability
	for _, need := range needs {
		out = append(out, need.OrChaosMesh())
	}
	for _, need := range meshed.MeshNeeds(f) {
		out = append(out, need.ByChaosMesh())
	}
	return out
}

// Parse reads a fault; file is what messages call its content. What the object of a kind can say
// and this package cannot do is an error that names it, and never ignored.
func Parse(file string, raw []byte) (*Fault, error) {
	// The kind is looked at first and leniently; the strict reading is that of
	// the kind's own type.
	var lenient map[string]any
	if err := strictyaml.DecodeJSON(file, raw, &lenient); err != nil {
		return nil, err
	}
	kind, known := kinds[fmt.Sprint(lenient["kind"])]
	if !known {
		return nil, fmt.Errorf("%s: a %q cannot be carried out; there are: %s", file, lenient["kind"], kindNames())
	}
	if lenient["apiVersion"] != kind.APIVersion {
		return nil, fmt.Errorf("%s: apiVersion is %q, and must be %q", file, lenient["apiVersion"], kind.APIVersion)
	}
	return kind.Parse(file, raw)
}
