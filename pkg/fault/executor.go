package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/interrupt"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// API answers questions about one member's API server; the executor's
// witnesses are taken from it.
type API interface {
	// RoundTrip is how long a read takes that the API server must ask etcd for;
	// an error means that no answer came before the context ended.
	RoundTrip(ctx context.Context, member string) (time.Duration, error)
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

	executor *Executor
	id       string
	before   []cluster.Process // of Fault.Components, for a crash
	met      *met              // for an HTTPChaos
	metKeys  int64             // by faults of keys before this one
	// held is whether its witness says that it was in effect when it was injected, and
	// carried what the link had carried by then.
	held    bool
	carried cluster.LinkStats
	// deniedBefore is what API servers had denied when all of them knew of the policy.
	deniedBefore map[string]int64
}

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
	switch {
	case fault.Type == TypeKeys:
		err = active.hold()
	case fault.Type == TypeAdmission:
		err = active.deny(ctx)
	case fault.Type == TypeHTTP:
		err = active.disturb()
	case fault.Type == TypeNetwork:
		err = active.shape(ctx)
	case fault.Pauses():
		err = active.pause(ctx)
	default:
		err = active.kill(ctx)
	}
	if err != nil {
		err = fmt.Errorf("inject %s at %s: %w", fault.Name, member, err)
		if ctx.Err() != nil {
			// The run is being given up. Healing must not fail with its context, nor
			// wait for components to come back.
			orderly, leave := interrupt.Shelter(ctx)
			defer leave()
			return nil, errors.Join(err, active.Undo(orderly))
		}
		return nil, errors.Join(err, active.undo(ctx))
	}
	return active, nil
}

func (e *Executor) has(member string, component cluster.Component) bool {
	return slices.ContainsFunc(e.cluster.Members(), func(m cluster.Member) bool {
		return m.Name == member && (component == cluster.Whole || slices.Contains(m.Components, component))
	})
}

// Heal takes the fault away, waits until what it hit is back, and records it.
// A crash is healed by starting the component again at the member's release.
func (a *Active) Heal(ctx context.Context) error {
	switch a.Fault.Type {
	case TypeKeys:
		a.witnessKeys()
	case TypeAdmission:
		a.witnessDenied(ctx)
	}
	// Also what has gone by itself is taken away, for the sake of what is left of it.
	err := errors.Join(a.lasted(), a.undo(ctx))
	if err == nil && a.Fault.Type == TypeAdmission {
		err = a.awaitPolicy(ctx, false)
	}
	if err != nil {
		if undone(err) {
			a.record(history.PhaseHeal, "")
		}
		return fmt.Errorf("heal %s at %s: %w", a.Fault.Name, a.Member, err)
	}
	a.record(history.PhaseHeal, "")
	if a.met != nil {
		if did := a.met.tally(a.Fault.HTTP); did != "" {
			a.record(history.PhaseWitness, did)
		}
	}
	for i, before := range a.before {
		component := a.Fault.Components[i]
		if now, ok := a.executor.cluster.Process(a.Member, component); ok && now != before {
			a.record(history.PhaseWitness, fmt.Sprintf("%s of %s is another process now: %s before, %s after", component, a.Member, describe(before), describe(now)))
		}
	}
	return nil
}

// undone is whether the error of taking a fault away says only that what it hit does not
// become ready again: the fault is gone all the same.
func undone(err error) bool {
	switch one := err.(type) {
	case *cluster.Unready:
		return true
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(one.Unwrap(), func(each error) bool { return !undone(each) })
	}
	inner := errors.Unwrap(err)
	return inner != nil && undone(inner)
}

// lasted is an error if the fault that had its witness was not there any more when it
// was to be taken away: what was seen since then was seen without it.
func (a *Active) lasted() error {
	e := a.executor
	switch {
	case a.Fault.Type == TypeKeys:
		if met, err := a.keysMet(); err == nil && met < 0 {
			return errForgotten
		}
	case !a.held:
	case a.Fault.Pauses():
		if paused, err := e.cluster.Paused(a.Member, a.Fault.Components[0]); err != nil || !paused {
			return errors.Join(errors.New("it was not paused any more when it was to go on"), err)
		}
	case a.Fault.Type == TypeNetwork:
		now, err := e.cluster.LinkStats(a.Member, a.Fault.Link)
		if err == nil && (now.Withheld < a.carried.Withheld || now.Delayed < a.carried.Delayed || now.BytesToServer < a.carried.BytesToServer) {
			return errForgotten
		}
	}
	return nil
}

// errForgotten is that the counters of what carries a link have begun anew, as they do
// when its carrier is another one, which knows of no fault.
var errForgotten = errors.New("the link was set up anew meanwhile, and nothing was wrong with it from then on")

// Undo takes the fault away without waiting or recording, as when a run is cut
// short. Crashed components are left down.
func (a *Active) Undo(ctx context.Context) error {
	if a.Fault.Crashes() {
		return nil
	}
	return a.undo(ctx)
}

func (a *Active) undo(ctx context.Context) error {
	e := a.executor
	switch a.Fault.Type {
	case TypeHTTP:
		if a.met != nil && a.met.heal != nil {
			a.met.heal()
		}
		return nil
	case TypeKeys:
		keyed, err := e.keyed()
		if err != nil {
			return nil // nothing was done either
		}
		return keyed.SetKeyFault(a.Member, cluster.KeyFault{})
	case TypeAdmission:
		policies, err := e.policies()
		if err != nil {
			return nil // nothing was done either
		}
		return policies.Allow(ctx, a.Member, a.policyName())
	case TypeNetwork:
		return e.cluster.SetLink(ctx, a.Member, a.Fault.Link, cluster.Shape{})
	}
	var errs []error
	for i, component := range a.Fault.Components {
		if a.Fault.Crashes() {
			if i < len(a.before) {
				errs = append(errs, e.cluster.StartComponent(ctx, a.Member, component))
			}
			continue
		}
		if paused, err := e.cluster.Paused(a.Member, component); err != nil || paused {
			errs = append(errs, e.cluster.Resume(ctx, a.Member, component))
		}
	}
	return errors.Join(errs...)
}

func (a *Active) record(phase history.Phase, proof string) { a.tell(phase, 0, proof) }

// tell is record with how often the fault bit.
func (a *Active) tell(phase history.Phase, count int64, proof string) {
	component := a.Fault.Components[0]
	if component == cluster.Whole {
		component = "" // as for a power cut: it is the member that was hit
	}
	a.executor.recorder.Record(history.Event{Kind: history.KindFault, Member: a.Member, Fault: &history.Fault{
		ID: a.id, Type: a.Fault.Type, Action: a.Fault.Action, Component: string(component), Prefixes: slices.Concat(a.Fault.Keys.Prefixes, a.Fault.Deny.prefixes()),
		Phase: phase, Count: count, Proof: proof,
	}})
}

func (a *Active) kill(ctx context.Context) error {
	e := a.executor
	for _, component := range a.Fault.Components {
		before, ok := e.cluster.Process(a.Member, component)
		if !ok {
			return fmt.Errorf("%w of %s that could be killed", cluster.ErrNoProcess, component)
		}
		a.record(history.PhaseInject, "")
		if err := e.cluster.Kill(ctx, a.Member, component); err != nil {
			return err
		}
		a.before = append(a.before, before)
		// Where the provider does not see the process, only another process in its place
		// proves that it has ended. A server that does not answer may have other reasons.
		if e.ended(ctx, a.Member, component, before) && before.Seen() {
			a.record(history.PhaseWitness, fmt.Sprintf("the process of %s at %s is gone: %s", component, a.Member, describe(before)))
		}
	}
	return ctx.Err()
}

// ended waits until the process is no longer that of the component.
func (e *Executor) ended(ctx context.Context, member string, component cluster.Component, before cluster.Process) bool {
	ctx, cancel := context.WithTimeout(ctx, EndedTimeout)
	defer cancel()
	for {
		if now, ok := e.cluster.Process(member, component); !ok || now != before {
			return true
		}
		timer := e.clock.NewTimer(LookInterval)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
}

func (a *Active) pause(ctx context.Context) error {
	e, component := a.executor, a.Fault.Components[0]
	held := e.processes(a.Member, component)
	if len(held) == 0 {
		return fmt.Errorf("%w of %s that could be paused", cluster.ErrNoProcess, component)
	}
	if e.unseen(a.Member) {
		return a.pauseUnseen(ctx, component)
	}
	a.record(history.PhaseInject, "")
	if err := e.cluster.Pause(ctx, a.Member, component); err != nil {
		return err
	}
	paused, err := e.cluster.Paused(a.Member, component)
	if err != nil {
		return err
	}
	if !paused {
		return nil
	}
	proof := fmt.Sprintf("the kernel holds what runs at %s stopped: %s", a.Member, strings.Join(held, ", "))
	if component == cluster.APIServer || component == cluster.Whole {
		if !e.silent(ctx, a.Member) {
			return ctx.Err()
		}
		proof += fmt.Sprintf(", and its API left a request unanswered for %s", SilenceBound)
	}
	a.held = true
	a.record(history.PhaseWitness, proof)
	return nil
}

// processes describes those of a component that run, or of all components.
func (e *Executor) processes(member string, component cluster.Component) []string {
	components := []cluster.Component{component}
	if component == cluster.Whole {
		components = e.components(member)
	}
	var found []string
	for _, one := range components {
		if process, ok := e.cluster.Process(member, one); ok {
			found = append(found, fmt.Sprintf("%s (%s)", one, describe(process)))
		}
	}
	return found
}

// silent is whether the member's API server leaves a request unanswered.
func (e *Executor) silent(ctx context.Context, member string) bool {
	bounded, cancel := context.WithTimeout(ctx, SilenceBound)
	defer cancel()
	_, err := e.api.RoundTrip(bounded, member)
	return errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
}

func (a *Active) shape(ctx context.Context) error {
	e, fault := a.executor, a.Fault
	before, errBefore := e.shortest(ctx, a.Member)
	carried, errStats := e.cluster.LinkStats(a.Member, fault.Link)
	a.record(history.PhaseInject, "")
	if err := e.cluster.SetLink(ctx, a.Member, fault.Link, fault.Shape); err != nil {
		return err
	}
	if errors.Is(errStats, cluster.ErrUnsupported) && fault.Shape.Cut {
		a.witnessSilence(ctx, before, errBefore)
		return ctx.Err()
	}
	if errBefore != nil || errStats != nil {
		// Nothing answered even before, or the link does not tell what it does:
		// nothing could be told apart.
		return ctx.Err()
	}
	if fault.Shape.Cut {
		if !e.silent(ctx, a.Member) {
			return ctx.Err()
		}
		now, err := e.cluster.LinkStats(a.Member, fault.Link)
		if withheld := now.Withheld - carried.Withheld; err == nil && withheld > 0 {
			a.held, a.carried = true, now
			a.record(history.PhaseWitness, fmt.Sprintf("a read of %s that needs %s took %s before, and had no answer within %s during the fault, when the link held back %d pieces of data",
				a.Member, needed(fault.Link), before.Round(shownTo), SilenceBound, withheld))
		}
		return ctx.Err()
	}
	during, err := e.shortest(ctx, a.Member)
	now, errNow := e.cluster.LinkStats(a.Member, fault.Link)
	delayed := now.Delayed - carried.Delayed
	// Each way of each read takes the latency at least. How long a read took
	// before says nothing: the machine may have been busy then and idle now.
	if err != nil || errNow != nil || during < 2*fault.Shape.Latency || delayed < 2*RoundTrips {
		return ctx.Err()
	}
	a.held, a.carried = true, now
	a.record(history.PhaseWitness, fmt.Sprintf("a read of %s that needs its etcd took %s before and %s during the fault, when the link delayed %d pieces of data by %s or more",
		a.Member, before.Round(shownTo), during.Round(shownTo), delayed, fault.Shape.Latency))
	return nil
}

// needed is what lies behind a link that the witness's read needs. A member that
// is cut off has its own etcd still, which alone is no majority: a cluster of
// one gives no witness.
func needed(link cluster.Link) string {
	if link == cluster.LinkNode {
		return "a majority of etcd"
	}
	return "its etcd"
}

// shortest is the shortest of a few round trips.
func (e *Executor) shortest(ctx context.Context, member string) (time.Duration, error) {
	var shortest time.Duration
	for i := range RoundTrips {
		took, err := e.api.RoundTrip(ctx, member)
		if err != nil {
			return 0, err
		}
		if i == 0 || took < shortest {
			shortest = took
		}
	}
	return shortest, nil
}

func describe(p cluster.Process) string {
	if !p.Seen() {
		return fmt.Sprintf("started at %s by its own word", time.UnixMilli(p.StartTime*10).UTC().Format(time.RFC3339Nano))
	}
	return fmt.Sprintf("pid %d, started at tick %d", p.PID, p.StartTime)
}
