package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	chaos "github.com/chaos-mesh/chaos-mesh/api/v1alpha1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// TypeNetwork is a fault of links.
const TypeNetwork = "NetworkChaos"

var _ = Register(Kind{
	Type: TypeNetwork, APIVersion: chaosVersion, Parse: reading(fromNetworkChaos),
	Doc: "Delays or cuts the link from a member's API server to its etcd, or cuts a whole member off from all other machines.",
	Actions: []Action{{
		Name: string(chaos.DelayAction), Doc: "Delays all that an API server says to its etcd and hears from it.",
		Witness: "a read that needs etcd takes as long, and the link counts the pieces of data that it delayed",
		Cost:    2 * time.Second,
		Parameters: []registry.Parameter{{
			Name: "latency", Path: []string{"spec", "delay", "latency"}, Doc: "is added to each direction",
			Domain: registry.Between(time.Millisecond, 10*time.Second, 5*time.Millisecond, 25*time.Millisecond, 75*time.Millisecond, 500*time.Millisecond, 3*time.Second),
		}, {
			Name: "jitter", Path: []string{"spec", "delay", "jitter"}, Optional: true, Doc: "is added to the latency at random, up to this",
			Domain: registry.Between(0, 10*time.Second, 5*time.Millisecond, 100*time.Millisecond),
		}, durationParameter, memberParameter},
		Object: func(values registry.Values) map[string]any {
			return map[string]any{"spec": toEtcd(chaos.DelayAction, values)}
		},
	}, {
		Name: string(chaos.PartitionAction), Doc: "Cuts the link to etcd, or cuts a whole member off. What was sent into a cut arrives late if both ends still wait when it heals.",
		Witness: "a read that needs what lies behind the link has no answer, and the link counts what it held back",
		Cost:    2 * time.Second,
		Parameters: []registry.Parameter{{
			Name: "whole", Optional: true, Doc: "has the member cut off from all other machines, which a file says without spec.target and without the label of a component",
			Domain: registry.Flag(),
		}, durationParameter, memberParameter},
		Object: func(values registry.Values) map[string]any {
			if values["whole"] == true {
				return map[string]any{"spec": map[string]any{
					"action": string(chaos.PartitionAction), "mode": string(chaos.AllMode), "direction": string(chaos.To), "selector": selecting(""),
				}}
			}
			return map[string]any{"spec": toEtcd(chaos.PartitionAction, values)}
		},
	}},
})

// toEtcd is the spec of a fault of the link from an API server to its etcd. Both ends are of the
// same member.
func toEtcd(action chaos.NetworkChaosAction, values registry.Values) map[string]any {
	etcd := selecting("etcd")
	if member, given := values["member"]; given {
		set(etcd, []string{"labelSelectors", MemberLabel}, member)
	}
	return map[string]any{
		"action": string(action), "mode": string(chaos.OneMode), "direction": string(chaos.Both), "selector": selecting("kube-apiserver"),
		"target": map[string]any{"mode": string(chaos.OneMode), "selector": etcd},
	}
}

func fromNetworkChaos(object *chaos.NetworkChaos) (*Fault, error) {
	spec := object.Spec
	fault := &Fault{Name: object.Name, Type: TypeNetwork, Action: string(spec.Action), Object: object.DeepCopy()}
	does := LinkFault{Link: cluster.LinkEtcd}
	var errs []error
	from, member, err := selected(&spec.PodSelector)
	errs = append(errs, err)
	fault.Member, fault.One = member, spec.Mode == chaos.OneMode
	fault.Components = []cluster.Component{from}
	direction, why := chaos.Both, "a link is shaped in both directions alike"
	switch {
	case spec.Target == nil && from == "" && spec.Action == chaos.PartitionAction:
		// Without a target the fault is for all other machines. Chaos Mesh allows no other
		// direction then; without answers the member is cut off all the same.
		does.Link, fault.Components = cluster.LinkNode, []cluster.Component{cluster.Whole}
		direction, why = chaos.To, "Chaos Mesh has no other one where there is no target; the member is cut off both ways"
		errs = append(errs, allOf(spec.Mode))
	case spec.Target == nil:
		errs = append(errs, fmt.Errorf("spec.target must select the other end of the link; only a partition of a whole member, without the label %s in its selector, can be without", componentLabel))
	default:
		target := *spec.Target
		to, targetMember, err := selected(&target)
		errs = append(errs, err)
		if from != cluster.APIServer || to != cluster.Etcd || targetMember != member {
			errs = append(errs, errors.New("only the link from a member's kube-apiserver to the etcd of the same member can be shaped"))
		}
		target.Mode = ""
		errs = append(errs, nothingElse("spec.target", target))
		spec.Target = nil
	}
	if spec.Direction != direction {
		errs = append(errs, fmt.Errorf("spec.direction is %q, and must be %q: %s", spec.Direction, direction, why))
	}
	if spec.Duration != nil {
		fault.Duration, err = positive("spec.duration", *spec.Duration)
		errs = append(errs, err)
	}
	switch spec.Action {
	case chaos.DelayAction:
		shape, err := delay(&spec)
		errs = append(errs, err)
		does.Shape = shape
	case chaos.PartitionAction:
		if spec.PartitionBehavior != "" && spec.PartitionBehavior != chaos.DropPartitionBehavior {
			errs = append(errs, fmt.Errorf("spec.partitionBehavior %q cannot be carried out; drop can", spec.PartitionBehavior))
		}
		spec.PartitionBehavior = ""
		does.Shape.Cut = true
	default:
		errs = append(errs, fmt.Errorf("spec.action %q cannot be carried out; delay and partition can", spec.Action))
	}
	fault.Effect = does
	spec.Action, spec.Mode, spec.Direction, spec.Duration = "", "", "", nil
	errs = append(errs, nothingElse("metadata", plainMeta(object.ObjectMeta)), nothingElse("spec", spec), nothingElse("status", object.Status))
	return fault, errors.Join(errs...)
}

// delay reads the latency, and takes what it read out of the spec.
func delay(spec *chaos.NetworkChaosSpec) (cluster.Shape, error) {
	if spec.Delay == nil {
		return cluster.Shape{}, errors.New("spec.delay must be set for the action delay")
	}
	rest := *spec.Delay
	spec.Delay = nil
	shape := cluster.Shape{}
	latency, err := positive("spec.delay.latency", rest.Latency)
	shape.Latency = latency
	errs := []error{err}
	if rest.Jitter != "" {
		shape.Jitter, err = time.ParseDuration(rest.Jitter)
		if err != nil || shape.Jitter < 0 {
			errs = append(errs, fmt.Errorf("spec.delay.jitter %q is no duration", rest.Jitter))
		}
	}
	rest.Latency, rest.Jitter = "", ""
	return shape, errors.Join(append(errs, nothingElse("spec.delay", rest))...)
}

// LinkFault cuts or delays a link of a member.
type LinkFault struct {
	Link  cluster.Link
	Shape cluster.Shape
}

// Does implements Effect.
func (f LinkFault) Does() Does {
	if f.Shape.Cut {
		return Cuts
	}
	return Delays
}

// Needs implements Effect.
func (f LinkFault) Needs(*Fault) []cluster.Ability {
	if f.Link == cluster.LinkNode && f.Shape == (cluster.Shape{Cut: true}) {
		return []cluster.Ability{cluster.CutsOff}
	}
	return []cluster.Ability{cluster.ShapesLinks}
}

// Inject implements Effect.
func (f LinkFault) Inject(ctx context.Context, a *Active) (*Injection, error) {
	e := a.executor
	// held is whether its witness says that it was in effect when it was injected, and last is what
	// the link had carried by then.
	held, last := false, cluster.LinkStats{}
	injection := &Injection{
		Ending: func(context.Context) error {
			now, err := e.cluster.LinkStats(a.Member, f.Link)
			if held && err == nil && (now.Withheld < last.Withheld || now.Delayed < last.Delayed || now.BytesToServer < last.BytesToServer) {
				return errForgotten
			}
			return nil
		},
		Remove: func(ctx context.Context) error { return e.cluster.SetLink(ctx, a.Member, f.Link, cluster.Shape{}) },
	}
	before, errBefore := e.shortest(ctx, a.Member)
	carried, errStats := e.cluster.LinkStats(a.Member, f.Link)
	a.Injected()
	if err := e.cluster.SetLink(ctx, a.Member, f.Link, f.Shape); err != nil {
		return injection, err
	}
	if errors.Is(errStats, cluster.ErrUnsupported) && f.Shape.Cut {
		a.witnessSilence(ctx, before, errBefore)
		return injection, ctx.Err()
	}
	if errBefore != nil || errStats != nil {
		// Nothing answered even before, or the link does not tell what it does:
		// nothing could be told apart.
		return injection, ctx.Err()
	}
	if f.Shape.Cut {
		if !e.silent(ctx, a.Member) {
			return injection, ctx.Err()
		}
		now, err := e.cluster.LinkStats(a.Member, f.Link)
		if withheld := now.Withheld - carried.Withheld; err == nil && withheld > 0 {
			held, last = true, now
			a.Witness(0, fmt.Sprintf("a read of %s that needs %s took %s before, and had no answer within %s during the fault, when the link held back %d pieces of data",
				a.Member, needed(f.Link), before.Round(shownTo), SilenceBound, withheld))
		}
		return injection, ctx.Err()
	}
	during, err := e.shortest(ctx, a.Member)
	now, errNow := e.cluster.LinkStats(a.Member, f.Link)
	delayed := now.Delayed - carried.Delayed
	// Each way of each read takes the latency at least. How long a read took
	// before says nothing: the machine may have been busy then and idle now.
	if err != nil || errNow != nil || during < 2*f.Shape.Latency || delayed < 2*RoundTrips {
		return injection, ctx.Err()
	}
	held, last = true, now
	a.Witness(0, fmt.Sprintf("a read of %s that needs its etcd took %s before and %s during the fault, when the link delayed %d pieces of data by %s or more",
		a.Member, before.Round(shownTo), during.Round(shownTo), delayed, f.Shape.Latency))
	return injection, nil
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

// errForgotten is that the counters of what carries a link have begun anew, as they do
// when its carrier is another one, which knows of no fault.
var errForgotten = errors.New("the link was set up anew meanwhile, and nothing was wrong with it from then on")
