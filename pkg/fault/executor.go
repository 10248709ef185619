package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/interrupt"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// API leads to the members' API servers. It answers questions about one, from which the executor's
// witnesses are taken.
type API interface {
	// RoundTrip is how long a read takes that the API server must ask etcd for;
	// an error means that no answer came before the context ended.
	RoundTrip(ctx context.Context, member string) (time.Duration, error)
	// Config is how faults that are objects are given to the member's API server: what is created
	// through it belongs to the run.
	Config(member string) (*rest.Config, error)
}

// Executor injects faults into a cluster and records their phases.
type Executor struct {
	cluster  cluster.Cluster
	api      API
	recorder observe.Recorder
	clock    clock.WithTicker
	count    int
}

// NewExecutor makes an executor. It injects from one goroutine at a time.
func NewExecutor(c cluster.Cluster, api API, recorder observe.Recorder, clk clock.WithTicker) *Executor {
	return &Executor{cluster: c, api: api, recorder: recorder, clock: clk}
}

// Active is a fault that was injected and not healed yet.
type Active struct {
	Fault  *Fault
	Member string

	executor  *Executor
	id        string
	injection *Injection
	// note says why the fault may have no effect; empty where nothing speaks for that.
	note string
}

// Cluster is where the fault is injected.
func (a *Active) Cluster() cluster.Cluster { return a.executor.cluster }

// Inject injects the fault at the member, looks for its witness, and records
// both. A fault without a witness is no error here: the verdicts that need one
// will not be given. On an error whatever was done so far has been healed.
func (e *Executor) Inject(ctx context.Context, fault *Fault, member string) (*Active, error) {
	e.count++
	active := &Active{Fault: fault, Member: member, executor: e, id: fmt.Sprintf("%s-%d", fault.Name, e.count)}
	for _, component := range fault.Components {
		if !e.has(member, component) {
			return nil, fmt.Errorf("inject %s: %s has no %s", fault.Name, member, component)
		}
	}
	var err error
	active.injection, err = active.inject(ctx)
	if err == nil {
		return active, nil
	}
	err = fmt.Errorf("inject %s at %s: %w", fault.Name, member, err)
	switch {
	case active.injection == nil:
		return nil, err
	case ctx.Err() != nil:
		// The run is being given up. Healing must not fail with its context, nor
		// wait for components to come back.
		orderly, leave := interrupt.Shelter(ctx)
		defer leave()
		return nil, errors.Join(err, active.Undo(orderly))
	}
	return nil, errors.Join(err, active.injection.Remove(ctx))
}

func (e *Executor) has(member string, component cluster.Component) bool {
	return slices.ContainsFunc(e.cluster.Members(), func(m cluster.Member) bool {
		return m.Name == member && (component == cluster.Whole || slices.Contains(m.Components, component))
	})
}

// Heal takes the fault away, waits until what it hit is back, and records it.
// A crash is healed by starting the component again at the member's release.
func (a *Active) Heal(ctx context.Context) error {
	// Also what has gone by itself is taken away, for the sake of what is left of it.
	var err error
	if a.injection.Ending != nil {
		err = a.injection.Ending(ctx)
	}
	err = errors.Join(err, a.injection.Remove(ctx))
	if err == nil && a.injection.Gone != nil {
		err = a.injection.Gone(ctx)
	}
	if err != nil {
		if undone(err) {
			a.record(history.PhaseHeal, 0, "")
		}
		return fmt.Errorf("heal %s at %s: %w", a.Fault.Name, a.Member, err)
	}
	a.record(history.PhaseHeal, 0, "")
	if a.injection.Healed != nil {
		a.injection.Healed()
	}
	return nil
}

// undone is whether the error of taking a fault away says only that what it hit does not
// become ready again: the fault is gone all the same.
func undone(err error) bool {
	switch one := err.(type) { //nolint:errorlint // It unwraps each cause by itself, since one error can have several.
	case *cluster.Unready:
		return true
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(one.Unwrap(), func(each error) bool { return !undone(each) })
	}
	inner := errors.Unwrap(err)
	return inner != nil && undone(inner)
}

// Undo takes the fault away without waiting or recording, as when a run is cut
// short. Crashed components are left down.
func (a *Active) Undo(ctx context.Context) error {
	if a.injection.Abandon != nil {
		return a.injection.Abandon(ctx)
	}
	return a.injection.Remove(ctx)
}

// Met waits until the fault has hit so many requests, and so many of them are over.
func (a *Active) Met(ctx context.Context, came, over int) error {
	if a.injection.Met == nil {
		return fmt.Errorf("the fault %s hits no requests that could be waited for", a.Fault.Name)
	}
	return a.injection.Met(ctx, came, over)
}

// Injected records that the fault is injected. An Effect calls it right before it begins.
func (a *Active) Injected() { a.record(history.PhaseInject, 0, "") }

// Witness records what proves that the fault took effect, and how often; 0 where that is not
// counted.
func (a *Active) Witness(count int64, proof string) { a.record(history.PhaseWitness, count, proof) }

func (a *Active) record(phase history.Phase, count int64, proof string) {
	component := a.Fault.Components[0]
	if component == cluster.Whole {
		component = "" // as for a power cut: it is the member that was hit
	}
	a.executor.recorder.Record(history.Event{Kind: history.KindFault, Member: a.Member, Fault: &history.Fault{
		ID: a.id, Type: a.Fault.Type, Action: a.Fault.Action, Component: string(component), Prefixes: a.Fault.Prefixes,
		Phase: phase, Count: count, Proof: proof, Note: a.noteOf(phase),
	}})
}
