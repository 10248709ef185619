package fault

import (
	"context"
	"errors"
	"fmt"

	chaos "github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/evenkeel/evenkeel/pkg/chaosmesh"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Faults that are objects of Chaos Mesh are left to it where the cluster says so. The witness is
// taken from the system under test as for all faults: that Chaos Mesh reports a fault as injected
// proves nothing.

// MeshEffect is an Effect that Chaos Mesh can have.
type MeshEffect interface {
	// MeshNeeds are the abilities that a cluster must have for Chaos Mesh to inject the fault, and
	// for its witness.
	MeshNeeds(f *Fault) []cluster.Ability
	// InjectByMesh is Inject where Chaos Mesh injects.
	InjectByMesh(ctx context.Context, a *Active) (*Injection, error)
}

// never is a need that no cluster with Chaos Mesh fulfills.
func never(why string) []cluster.Ability {
	return []cluster.Ability{{Name: "another engine than Chaos Mesh", Lack: func(cluster.Cluster) string { return why }}}
}

// inject injects the fault by what the cluster has for it.
func (a *Active) inject(ctx context.Context) (*Injection, error) {
	meshed, ok := a.Fault.Effect.(MeshEffect)
	if ok && a.Fault.Object != nil && cluster.LeavesFaults(a.executor.cluster) {
		return meshed.InjectByMesh(ctx, a)
	}
	return a.Fault.Effect.Inject(ctx, a)
}

// noteOf is the note of a phase. It is told at the end, when it is known.
func (a *Active) noteOf(phase history.Phase) string {
	if phase != history.PhaseHeal {
		return ""
	}
	return a.note
}

// mesh gives Chaos Mesh the fault's object through the API server of a member that is not hit, if
// there is one, and returns what takes it away. Where Chaos Mesh does not inject it, that is the
// fault's note, and no error: then it has no witness.
func (a *Active) mesh(ctx context.Context) (*chaosmesh.Applied, error) {
	e := a.executor
	meshed, _ := e.cluster.(cluster.ChaosMeshed)
	namespace, _ := meshed.ChaosMesh()
	through, node := a.Member, ""
	for _, m := range e.cluster.Members() {
		if m.Name == a.Member {
			node = m.Host
		} else if through == a.Member {
			through = m.Name
		}
	}
	config, err := e.api.Config(through)
	if err != nil {
		return nil, err
	}
	engine, err := chaosmesh.New(config, namespace, e.clock)
	if err != nil {
		return nil, err
	}
	object, err := atNode(a.Fault.Object, node)
	if err != nil {
		return nil, err
	}
	applied, err := engine.Apply(ctx, object, "evenkeel-"+a.id)
	var refused *chaosmesh.NotInjectedError
	if errors.As(err, &refused) {
		a.note, err = refused.Error(), nil
	}
	return applied, err
}

// atNode is the object as Chaos Mesh takes it: the label that says which member is meant becomes
// the name of its node, and a fault that lasts ends by itself some time.
func atNode(object runtime.Object, node string) (runtime.Object, error) {
	switch one := object.DeepCopyObject().(type) {
	case *chaos.PodChaos:
		onNode(&one.Spec.PodSelector, node)
		// Of a container Chaos Mesh needs the Pod, which a fault need not name.
		if names := one.Spec.ContainerNames; one.Spec.Action == chaos.ContainerKillAction && len(names) == 1 {
			one.Spec.Selector.LabelSelectors[componentLabel] = names[0]
		}
		return one, nil
	case *chaos.NetworkChaos:
		onNode(&one.Spec.PodSelector, node)
		if one.Spec.Target != nil {
			onNode(one.Spec.Target, node)
		}
		if one.Spec.Duration == nil {
			longest := chaosmesh.LongestFault.String()
			one.Spec.Duration = &longest
		}
		return one, nil
	}
	return nil, fmt.Errorf("a %T is not left to Chaos Mesh", object)
}

// onNode has a selector mean the Pods of a node.
func onNode(pods *chaos.PodSelector, node string) {
	delete(pods.Selector.LabelSelectors, MemberLabel)
	pods.Selector.Nodes = []string{node}
}

// onlyServers are the abilities for a fault of the components: of others than API servers nothing
// shows from outside that they were hit.
func onlyServers(components []cluster.Component) []cluster.Ability {
	for _, one := range components {
		if one != cluster.APIServer {
			return never("only of an API server it shows that Chaos Mesh has hit it")
		}
	}
	return nil
}

// noHit says why a fault that Chaos Mesh reports as injected may have ended no process.
const noHit = "Chaos Mesh reports it as injected, and the same process of the API server answers"

// strikeByMesh has Chaos Mesh end the API server.
func (a *Active) strikeByMesh(ctx context.Context, why string) (*Injection, error) {
	e := a.executor
	meshed, _ := e.cluster.(cluster.ChaosMeshed)
	before, ok := e.cluster.Process(a.Member, cluster.APIServer)
	if !ok {
		return nil, fmt.Errorf("%w of %s that could be killed", cluster.ErrNoProcess, cluster.APIServer)
	}
	var applied *chaosmesh.Applied
	hit := false
	injection := &Injection{
		Remove: func(ctx context.Context) error {
			var errs []error
			if applied != nil {
				errs = append(errs, applied.Remove(ctx))
			}
			if hit {
				errs = append(errs, e.cluster.StartComponent(ctx, a.Member, cluster.APIServer))
			}
			return errors.Join(errs...)
		},
		Abandon: func(ctx context.Context) error {
			if applied == nil {
				return nil
			}
			return applied.Remove(ctx)
		},
		Healed: func() {
			if now, ok := e.cluster.Process(a.Member, cluster.APIServer); ok && now != before {
				a.Witness(0, fmt.Sprintf("%s of %s is another process now: %s before, %s after", cluster.APIServer, a.Member, describe(before), describe(now)))
			}
		},
	}
	a.Injected()
	hit, err := meshed.Strike(ctx, a.Member, cluster.APIServer, func(ctx context.Context) (err error) {
		applied, err = a.mesh(ctx)
		return err
	})
	switch {
	case hit && applied != nil:
		a.witnessGone(ctx, cluster.APIServer, before)
		// It has done what it was for, and must not do it again.
		err = errors.Join(err, applied.Remove(ctx))
	case !hit && a.note == "":
		a.note = noHit + why
	}
	return injection, err
}

// InjectByMesh implements MeshEffect.
func (Kill) InjectByMesh(ctx context.Context, a *Active) (*Injection, error) {
	return a.strikeByMesh(ctx, "")
}

// MeshNeeds implements MeshEffect.
func (Kill) MeshNeeds(f *Fault) []cluster.Ability { return onlyServers(f.Components) }

// PodKill deletes the Pod of a component.
type PodKill struct{}

// Does implements Effect.
func (PodKill) Does() Does { return Kills }

// Needs implements Effect.
func (PodKill) Needs(*Fault) []cluster.Ability { return []cluster.Ability{cluster.LeavesToChaosMesh} }

// Inject implements Effect.
func (PodKill) Inject(context.Context, *Active) (*Injection, error) {
	return nil, fmt.Errorf("only Chaos Mesh deletes Pods: %w", cluster.ErrUnsupported)
}

// MeshNeeds implements MeshEffect.
func (PodKill) MeshNeeds(f *Fault) []cluster.Ability { return onlyServers(f.Components) }

// InjectByMesh implements MeshEffect.
// https://kubernetes.io/docs/tasks/configure-pod-container/static-pod/
func (PodKill) InjectByMesh(ctx context.Context, a *Active) (*Injection, error) {
	return a.strikeByMesh(ctx, ": it deletes a Pod of the API, and of a static Pod that is the mirror, which the kubelet makes again")
}

// MeshNeeds implements MeshEffect. https://github.com/chaos-mesh/chaos-mesh/issues/3851
func (Freeze) MeshNeeds(*Fault) []cluster.Ability {
	return never("pod-failure of Chaos Mesh changes the image of a Pod, which freezes no process and of a static Pod changes the mirror alone")
}

// InjectByMesh implements MeshEffect.
func (Freeze) InjectByMesh(context.Context, *Active) (*Injection, error) {
	return nil, fmt.Errorf("no process is frozen by Chaos Mesh: %w", cluster.ErrUnsupported)
}

// MeshNeeds implements MeshEffect. chaos-daemon of a node that is cut off cannot be told to take
// the cut back.
func (f LinkFault) MeshNeeds(*Fault) []cluster.Ability {
	if f.Link == cluster.LinkNode {
		return never("Chaos Mesh could not take back that a whole member is cut off: its daemon on the node would be cut off too")
	}
	return nil
}

// hostNetwork says why a fault of a link may have had no effect.
const hostNetwork = "Chaos Mesh reports it as injected, and it does not show: API server and etcd of a member are on the host's network, where they speak over the loopback, which Chaos Mesh does not touch"

// InjectByMesh implements MeshEffect. The link has no counters, so that a delay is shown by three
// measurements: a read is faster than the latency before and afterwards, and takes it both ways
// during the fault.
func (f LinkFault) InjectByMesh(ctx context.Context, a *Active) (*Injection, error) {
	e := a.executor
	var applied *chaosmesh.Applied
	before, errBefore := e.shortest(ctx, a.Member)
	injection := &Injection{Remove: func(ctx context.Context) error {
		if applied == nil {
			return nil
		}
		return applied.Remove(ctx)
	}}
	a.Injected()
	var err error
	if applied, err = a.mesh(ctx); err != nil || a.note != "" {
		return injection, err
	}
	if f.Shape.Cut {
		if !a.witnessSilence(ctx, before, errBefore) {
			a.note = hostNetwork
		}
		return injection, ctx.Err()
	}
	during, errDuring := e.shortest(ctx, a.Member)
	if errBefore != nil || errDuring != nil || before >= f.Shape.Latency || during < 2*f.Shape.Latency {
		a.note = hostNetwork
		return injection, ctx.Err()
	}
	injection.Healed = func() {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), AnswerTimeout)
		defer cancel()
		after, err := e.shortest(asking, a.Member)
		if err == nil && after < f.Shape.Latency {
			a.Witness(0, fmt.Sprintf("a read of %s that needs its etcd took %s before, %s during the fault and %s afterwards",
				a.Member, before.Round(shownTo), during.Round(shownTo), after.Round(shownTo)))
		}
	}
	return injection, ctx.Err()
}
