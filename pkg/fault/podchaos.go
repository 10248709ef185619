package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	chaos "github.com/chaos-mesh/chaos-mesh/api/v1alpha1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// TypePod is a fault of processes.
const TypePod = "PodChaos"

var _ = Register(Kind{
	Type: TypePod, APIVersion: chaosVersion, Parse: reading(fromPodChaos),
	Doc: "Kills or freezes processes of a member. Components have the names that kubeadm gives their containers.",
	Actions: []Action{{
		Name: string(chaos.ContainerKillAction), Doc: "Ends processes without warning. They stay down until the fault is healed.",
		Witness: "the process is gone, and another one has taken its place once it is healed",
		Cost:    8 * time.Second,
		Parameters: []registry.Parameter{{
			Name: "components", Path: []string{"spec", "containerNames"}, Doc: "are killed, in this order",
			Domain: registry.OneOf(componentNames()...).List(1, len(containers)),
		}, memberParameter},
		Object: func(registry.Values) map[string]any {
			return map[string]any{"spec": map[string]any{
				"action": string(chaos.ContainerKillAction), "mode": string(chaos.OneMode), "selector": selecting(""),
			}}
		},
	}, {
		Name: string(chaos.PodFailureAction), Doc: "Freezes a process, or all processes of a member. They keep their connections and their memory.",
		Witness: "the kernel holds the processes stopped, and the API server leaves a request unanswered",
		Cost:    2 * time.Second,
		Parameters: []registry.Parameter{{
			Name: "component", Path: []string{"spec", "selector", "labelSelectors", componentLabel}, Optional: true,
			Doc: "is frozen; without it all of the member is", Domain: registry.OneOf(componentNames()...),
		}, durationParameter, memberParameter},
		Object: func(values registry.Values) map[string]any {
			mode := chaos.OneMode
			if values["component"] == nil {
				mode = chaos.AllMode
			}
			return map[string]any{"spec": map[string]any{
				"action": string(chaos.PodFailureAction), "mode": string(mode), "selector": selecting(""),
			}}
		},
	}, {
		Name: string(chaos.PodKillAction), Doc: "Deletes the Pod of a component, which only Chaos Mesh does. The kubelet makes the mirror Pod of a static Pod again and ends no process: of such the fault has no witness.",
		Witness: "the API server is another process than before",
		Cost:    30 * time.Second,
		Parameters: []registry.Parameter{{
			Name: "component", Path: []string{"spec", "selector", "labelSelectors", componentLabel},
			Doc: "is the component whose Pod is deleted", Domain: registry.OneOf(componentNames()...),
		}, memberParameter},
		Object: func(registry.Values) map[string]any {
			return map[string]any{"spec": map[string]any{
				"action": string(chaos.PodKillAction), "mode": string(chaos.OneMode), "selector": selecting(""),
			}}
		},
	}},
})

func fromPodChaos(object *chaos.PodChaos) (*Fault, error) {
	spec := object.Spec
	fault := &Fault{Name: object.Name, Type: TypePod, Action: string(spec.Action), Effect: Freeze{}, Object: object.DeepCopy()}
	var errs []error
	component, member, err := selected(&spec.PodSelector)
	errs = append(errs, err)
	fault.Member, fault.One = member, spec.Mode == chaos.OneMode

	switch spec.Action {
	case chaos.ContainerKillAction:
		fault.Effect = Kill{}
		for _, name := range spec.ContainerNames {
			known, ok := containers[name]
			if !ok {
				errs = append(errs, fmt.Errorf("spec.containerNames has %q; known are: %s", name, knownContainers()))
			}
			fault.Components = append(fault.Components, known)
		}
		if len(spec.ContainerNames) == 0 {
			errs = append(errs, errors.New("spec.containerNames must name the components to kill"))
		}
		spec.ContainerNames = nil
	case chaos.PodFailureAction:
		if component == "" {
			component = cluster.Whole
			errs = append(errs, allOf(spec.Mode))
		}
		if spec.Duration != nil {
			fault.Duration, err = positive("spec.duration", *spec.Duration)
			errs = append(errs, err)
			spec.Duration = nil
		}
		fault.Components = []cluster.Component{component}
	case chaos.PodKillAction:
		fault.Effect, fault.Components = PodKill{}, []cluster.Component{component}
		if component == "" {
			errs = append(errs, fmt.Errorf("spec.selector.labelSelectors must have the label %q of the component whose Pod is deleted", componentLabel))
		}
	default:
		errs = append(errs, fmt.Errorf("spec.action %q cannot be carried out; container-kill, pod-failure and pod-kill can", spec.Action))
	}
	spec.Action, spec.Mode = "", ""
	errs = append(errs, nothingElse("metadata", plainMeta(object.ObjectMeta)), nothingElse("spec", spec), nothingElse("status", object.Status))
	return fault, errors.Join(errs...)
}

// Kill ends processes and leaves them down.
type Kill struct{}

// Does implements Effect.
func (Kill) Does() Does { return Kills }

// Needs implements Effect.
func (Kill) Needs(f *Fault) []cluster.Ability {
	return processNeeds(cluster.Kills, f.Components, cluster.APIServer)
}

// processNeeds are the abilities to operate components, of which those that are seen show from
// outside that they were hit.
func processNeeds(operate cluster.Ability, components []cluster.Component, seen ...cluster.Component) []cluster.Ability {
	if slices.ContainsFunc(components, func(one cluster.Component) bool { return !slices.Contains(seen, one) }) {
		return []cluster.Ability{cluster.SeesProcesses, operate}
	}
	return []cluster.Ability{operate}
}

// Inject implements Effect.
func (Kill) Inject(ctx context.Context, a *Active) (*Injection, error) {
	e := a.executor
	var killed []cluster.Process // of the first components
	injection := &Injection{
		Remove: func(ctx context.Context) error {
			var errs []error
			for i := range killed {
				errs = append(errs, e.cluster.StartComponent(ctx, a.Member, a.Fault.Components[i]))
			}
			return errors.Join(errs...)
		},
		Abandon: func(context.Context) error { return nil },
		Healed: func() {
			for i, before := range killed {
				component := a.Fault.Components[i]
				if now, ok := e.cluster.Process(a.Member, component); ok && now != before {
					a.Witness(0, fmt.Sprintf("%s of %s is another process now: %s before, %s after", component, a.Member, describe(before), describe(now)))
				}
			}
		},
	}
	for _, component := range a.Fault.Components {
		before, ok := e.cluster.Process(a.Member, component)
		if !ok {
			return injection, fmt.Errorf("%w of %s that could be killed", cluster.ErrNoProcess, component)
		}
		a.Injected()
		if err := e.cluster.Kill(ctx, a.Member, component); err != nil {
			return injection, err
		}
		killed = append(killed, before)
		a.witnessGone(ctx, component, before)
	}
	return injection, ctx.Err()
}

// witnessGone proves that a process has ended. Where the provider does not see it, only another
// process in its place does: a server that does not answer may have other reasons.
func (a *Active) witnessGone(ctx context.Context, component cluster.Component, before cluster.Process) {
	if a.executor.ended(ctx, a.Member, component, before) && before.Seen() {
		a.Witness(0, fmt.Sprintf("the process of %s at %s is gone: %s", component, a.Member, describe(before)))
	}
}

// Freeze has a component, or all of a member, stand still.
type Freeze struct{}

// Does implements Effect.
func (Freeze) Does() Does { return Freezes }

// Needs implements Effect.
func (Freeze) Needs(f *Fault) []cluster.Ability {
	return processNeeds(cluster.Pauses, f.Components, cluster.APIServer, cluster.Whole)
}

// Inject implements Effect.
func (Freeze) Inject(ctx context.Context, a *Active) (*Injection, error) {
	e, component := a.executor, a.Fault.Components[0]
	// held is whether its witness says that it was in effect when it was injected.
	held := false
	injection := &Injection{
		Ending: func(context.Context) error {
			if paused, err := e.cluster.Paused(a.Member, component); held && (err != nil || !paused) {
				return errors.Join(errors.New("it was not paused any more when it was to go on"), err)
			}
			return nil
		},
		Remove: func(ctx context.Context) error {
			if paused, err := e.cluster.Paused(a.Member, component); err == nil && !paused {
				return nil
			}
			return e.cluster.Resume(ctx, a.Member, component)
		},
	}
	running := e.processes(a.Member, component)
	if len(running) == 0 {
		return injection, fmt.Errorf("%w of %s that could be paused", cluster.ErrNoProcess, component)
	}
	if e.unseen(a.Member) {
		return injection, a.pauseUnseen(ctx, component)
	}
	a.Injected()
	if err := e.cluster.Pause(ctx, a.Member, component); err != nil {
		return injection, err
	}
	paused, err := e.cluster.Paused(a.Member, component)
	if err != nil || !paused {
		return injection, err
	}
	proof := fmt.Sprintf("the kernel holds what runs at %s stopped: %s", a.Member, strings.Join(running, ", "))
	if component == cluster.APIServer || component == cluster.Whole {
		if !e.silent(ctx, a.Member) {
			return injection, ctx.Err()
		}
		proof += fmt.Sprintf(", and its API left a request unanswered for %s", SilenceBound)
	}
	held = true
	a.Witness(0, proof)
	return injection, nil
}
