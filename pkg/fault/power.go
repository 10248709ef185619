package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Outage is a power cut of one member that is not over yet.
type Outage struct {
	Member string

	executor *Executor
	id       string
	before   map[cluster.Component]cluster.Process
}

// CutPower cuts the power of a member, looks for the witness, and records both. The witness
// is that every process that ran is gone, and that an API server that answered before no
// longer answers. On an error the member may be off.
func (e *Executor) CutPower(ctx context.Context, member string) (*Outage, error) {
	e.count++
	o := &Outage{Member: member, executor: e, id: fmt.Sprintf("power-cut-%d", e.count), before: map[cluster.Component]cluster.Process{}}
	for _, component := range e.components(member) {
		if process, ok := e.cluster.Process(member, component); ok {
			o.before[component] = process
		}
	}
	answeredIn, errBefore := e.answer(ctx, member)
	o.record(history.PhaseInject, "")
	if err := e.cluster.PowerOff(ctx, member); err != nil {
		return nil, fmt.Errorf("cut the power of %s: %w", member, err)
	}
	if proof, ok := o.gone(ctx); ok && errBefore == nil && e.unreachable(ctx, member) {
		o.record(history.PhaseWitness, fmt.Sprintf("%s; its API server answered within %s before, and cannot be reached now",
			proof, answeredIn.Round(shownTo)))
	}
	return o, ctx.Err()
}

// Restore restores the power, waits until the member is ready, and records that. Rejoined
// returns what shows that the member's etcd has joined the cluster again, or why it has not.
// The fault's last witness is that, and that every process is another one than before.
func (o *Outage) Restore(ctx context.Context, rejoined func(context.Context) (string, error)) error {
	if err := o.executor.cluster.PowerOn(ctx, o.Member); err != nil {
		if undone(err) {
			o.record(history.PhaseHeal, "")
		}
		return fmt.Errorf("restore the power of %s: %w", o.Member, err)
	}
	o.record(history.PhaseHeal, "")
	etcd, err := rejoined(ctx)
	if err != nil {
		return fmt.Errorf("the power of %s is restored: %w", o.Member, err)
	}
	if proof, ok := o.renewed(); ok {
		o.record(history.PhaseWitness, proof+"; "+etcd)
	}
	return nil
}

// gone waits until none of the processes is there any more.
func (o *Outage) gone(ctx context.Context) (proof string, ok bool) {
	if len(o.before) == 0 {
		return "", false
	}
	var gone []string
	for _, component := range o.executor.components(o.Member) {
		before, ran := o.before[component]
		if !ran {
			continue
		}
		if !o.executor.ended(ctx, o.Member, component, before) {
			return "", false
		}
		if now, runs := o.executor.cluster.Process(o.Member, component); runs {
			// Something has started it again: that is no power cut.
			return fmt.Sprintf("%s runs again: %s", component, describe(now)), false
		}
		gone = append(gone, fmt.Sprintf("%s (%s)", component, describe(before)))
	}
	return fmt.Sprintf("all processes of %s are gone: %s", o.Member, strings.Join(gone, ", ")), true
}

// renewed is whether every component has a process, and none its old one.
func (o *Outage) renewed() (proof string, ok bool) {
	var renewed []string
	for _, component := range o.executor.components(o.Member) {
		now, runs := o.executor.cluster.Process(o.Member, component)
		if !runs || now == o.before[component] {
			return "", false
		}
		renewed = append(renewed, fmt.Sprintf("%s (%s)", component, describe(now)))
	}
	return fmt.Sprintf("all processes of %s are others now: %s", o.Member, strings.Join(renewed, ", ")), len(renewed) > 0
}

func (o *Outage) record(phase history.Phase, proof string) {
	o.executor.recorder.Record(history.Event{Kind: history.KindFault, Member: o.Member, Fault: &history.Fault{
		ID: o.id, Type: history.FaultPower, Action: history.FaultPowerCut, Phase: phase, Proof: proof,
	}})
}

// components of a member, in the order in which they start.
func (e *Executor) components(member string) []cluster.Component {
	members := e.cluster.Members()
	at := slices.IndexFunc(members, func(m cluster.Member) bool { return m.Name == member })
	if at < 0 {
		return nil
	}
	return members[at].Components
}

// answer is how long the member's API server takes for an answer; an error means
// that it gave none in time, so that nothing could be told apart later.
func (e *Executor) answer(ctx context.Context, member string) (time.Duration, error) {
	bounded, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	return e.api.RoundTrip(bounded, member)
}

// unreachable returns whether the member's API server does not answer: the connection is
// refused, or no answer arrives within SilenceBound.
func (e *Executor) unreachable(ctx context.Context, member string) bool {
	bounded, cancel := context.WithTimeout(ctx, SilenceBound)
	defer cancel()
	_, err := e.api.RoundTrip(bounded, member)
	return err != nil && !errors.Is(err, errAnswered) && ctx.Err() == nil
}
