package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	chaos "github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// TypeHTTP is a fault of single requests of a controller.
const TypeHTTP = history.FaultHTTP

var _ = Register(Kind{
	Type: TypeHTTP, APIVersion: chaosVersion, Parse: reading(fromHTTPChaos),
	Doc: "Hits single requests of a controller manager or scheduler to its API server, which it selects by method and path. The history has a line for each.",
	Actions: []Action{
		httpAction(history.FaultHTTPAbort, "Breaks the connection in the place of an answer.", map[string]any{"abort": true}, targetParameter),
		httpAction(history.FaultHTTPDelay, "Holds the request or the answer back.", nil, targetParameter, registry.Parameter{
			Name: "delay", Path: []string{"spec", "delay"}, Doc: "is how long it is held back",
			Domain: registry.Between(time.Millisecond, time.Minute, 15*time.Millisecond, time.Second, 3*time.Second, 12*time.Second),
		}),
		httpAction(history.FaultHTTPReplace, "Puts another status in the place of the one that the API server answered with. What was asked for is done.",
			map[string]any{"target": string(chaos.PodHttpResponse)}, registry.Parameter{
				Name: "code", Path: []string{"spec", "replace", "code"}, Doc: "is the status that the controller gets",
				Domain: registry.Count(400, 599, 403, 404, 409, 429, 500, 503, 504),
			}),
	},
})

var targetParameter = registry.Parameter{
	Name: "target", Path: []string{"spec", "target"}, Doc: "says whether the request is hit, so that nothing is done, or the answer",
	Domain: registry.OneOf(string(chaos.PodHttpRequest), string(chaos.PodHttpResponse)),
}

// httpAction is an action with the parameters that all of them have.
func httpAction(name, doc string, spec map[string]any, parameters ...registry.Parameter) Action {
	selected := []registry.Parameter{{
		Name: "component", Path: []string{"spec", "selector", "labelSelectors", componentLabel}, Doc: "is the component that sends the requests",
		Domain: registry.OneOf("kube-controller-manager", "kube-scheduler"),
	}, {
		Name: "method", Path: []string{"spec", "method"}, Optional: true, Doc: "is the method of the requests; the default is all",
		Domain: registry.OneOf("GET", "POST", "PUT", "PATCH", "DELETE"),
	}, {
		Name: "path", Path: []string{"spec", "path"}, Optional: true, Doc: "is the path of the requests, in which * stands for anything; the default is all",
		Domain: registry.AnyText("/apis/coordination.k8s.io/v1/*leases*", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/*",
			"/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/*", "/apis/storagemigration.k8s.io/*", "/apis/stores.evenkeel.dev/*/crates/*"),
	}, {
		Name: "every", Optional: true, Doc: "has only every n-th of these requests hit, which a file says by the annotation " + EveryAnnotation,
		Domain: registry.Count(2, 1000, 2, 10, 47),
	}, durationParameter, memberParameter}
	return Action{
		Name: name, Doc: doc, Witness: "the link has hit a request; the first one is recorded as such", Cost: time.Second,
		Parameters: append(parameters, selected...),
		Object: func(values registry.Values) map[string]any {
			object := map[string]any{"spec": map[string]any{"mode": string(chaos.OneMode), "port": apiServerPort, "selector": selecting("")}}
			for key, value := range spec {
				set(object, []string{"spec", key}, value)
			}
			if every, given := values["every"]; given {
				set(object, []string{"metadata", "annotations", EveryAnnotation}, fmt.Sprint(every))
			}
			return object
		},
	}
}

// EveryAnnotation has an HTTPChaos fault only every n-th of the requests that it selects,
// such as "10" for every tenth. Chaos Mesh has no field for a share of the requests.
const EveryAnnotation = "evenkeel.dev/every"

// apiServerPort is the port that an HTTPChaos must name: controllers send their requests to
// their API server, which has this port on clusters that kubeadm made.
const apiServerPort = 6443

// fromHTTPChaos reads a fault of the requests that the selected controller sends
// to the API server of its member.
func fromHTTPChaos(object *chaos.HTTPChaos) (*Fault, error) {
	spec := object.Spec
	fault, does := &Fault{Name: object.Name, Type: TypeHTTP}, cluster.HTTPFault{}
	component, member, err := selected(&spec.PodSelector)
	errs := []error{err}
	fault.Member, fault.One = member, spec.Mode == chaos.OneMode
	fault.Components = []cluster.Component{component}
	if component != cluster.ControllerManager && component != cluster.Scheduler {
		errs = append(errs, fmt.Errorf("the label %s must select kube-controller-manager or kube-scheduler, whose requests to their API server can be hit", componentLabel))
	}
	if spec.Port != apiServerPort {
		errs = append(errs, fmt.Errorf("spec.port is %d, and must be %d, the API server's: no other port can be hit", spec.Port, apiServerPort))
	}
	switch spec.Target {
	case chaos.PodHttpRequest:
	case chaos.PodHttpResponse:
		does.Answers = true
	default:
		errs = append(errs, fmt.Errorf("spec.target is %q, and must be %s or %s", spec.Target, chaos.PodHttpRequest, chaos.PodHttpResponse))
	}
	if spec.Path != nil {
		does.Path = *spec.Path
	}
	if spec.Method != nil {
		does.Method = *spec.Method
	}
	meta := object.ObjectMeta
	does.Every, err = every(&meta)
	errs = append(errs, err, harmed(&spec.PodHttpChaosActions, fault, &does))
	if spec.Duration != nil {
		fault.Duration, err = positive("spec.duration", *spec.Duration)
		errs = append(errs, err)
	}
	fault.Effect = HTTPRequests{does}
	spec.Mode, spec.Port, spec.Target, spec.Path, spec.Method, spec.Duration = "", 0, "", nil, nil, nil
	errs = append(errs, nothingElse("metadata", plainMeta(meta)), nothingElse("spec", spec), nothingElse("status", object.Status))
	return fault, errors.Join(errs...)
}

// every reads how many requests there are to each one that is hit, and takes it
// out of the metadata; 0 means that all are.
func every(meta *metav1.ObjectMeta) (int, error) {
	text, ok := meta.Annotations[EveryAnnotation]
	if !ok {
		return 0, nil
	}
	meta.Annotations = maps.Clone(meta.Annotations)
	if delete(meta.Annotations, EveryAnnotation); len(meta.Annotations) == 0 {
		meta.Annotations = nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 2 {
		return 0, fmt.Errorf("the annotation %s is %q, and must be a number from 2 on; leave it out to hit all requests", EveryAnnotation, text)
	}
	return n, nil
}

// harmed reads what is done to requests, and takes what it read out of the object.
func harmed(actions *chaos.PodHttpChaosActions, fault *Fault, does *cluster.HTTPFault) error {
	var errs []error
	if actions.Abort != nil {
		fault.Action, does.Abort = history.FaultHTTPAbort, *actions.Abort
	}
	if actions.Delay != nil {
		delay, err := positive("spec.delay", *actions.Delay)
		errs = append(errs, err)
		fault.Action, does.Delay = history.FaultHTTPDelay, delay
	}
	if actions.Replace != nil && actions.Replace.Code != nil {
		fault.Action, does.Code = history.FaultHTTPReplace, int(*actions.Replace.Code)
		actions.Replace.Code = nil
		errs = append(errs, nothingElse("spec.replace", *actions.Replace))
		actions.Replace = nil
	}
	actions.Abort, actions.Delay = nil, nil
	return errors.Join(append(errs, does.Validate())...)
}

// HTTPRequests hits single requests of a controller to its API server.
type HTTPRequests struct{ cluster.HTTPFault }

// Does implements Effect.
func (HTTPRequests) Does() Does { return Hits }

// Needs implements Effect.
func (HTTPRequests) Needs(*Fault) []cluster.Ability { return []cluster.Ability{cluster.FaultsHTTP} }

// Inject implements Effect: the link faults requests, and each of them is recorded. The first one
// is the witness: the harness cannot send a request for it, because the fault selects the
// requests of a controller.
func (h HTTPRequests) Inject(_ context.Context, a *Active) (*Injection, error) {
	faulter, ok := a.executor.cluster.(cluster.HTTPFaultInjector)
	if !ok {
		return nil, fmt.Errorf("its links do not understand HTTP: %w", cluster.ErrUnsupported)
	}
	met := &met{change: make(chan struct{})}
	a.Injected()
	heal, err := faulter.FaultHTTP(a.Member, a.Fault.Components[0], h.HTTPFault, func(x cluster.HTTPExchange) { a.take(met, x) })
	return &Injection{
		Remove: func(context.Context) error {
			if heal != nil {
				heal()
			}
			return nil
		},
		Healed: func() {
			if did := met.tally(h.HTTPFault); did != "" {
				a.Witness(0, did)
			}
		},
		Met: met.await,
	}, err
}

// met is what is known of the requests that a fault of HTTP hit.
type met struct {
	mu sync.Mutex
	// came, over and sent count requests; change is closed and replaced when they
	// do.
	came, over, sent int
	change           chan struct{}
}

// take records a request that was hit.
func (a *Active) take(met *met, x cluster.HTTPExchange) {
	recorder := a.executor.recorder
	if x.Over {
		at := recorder.Now()
		recorder.Record(history.Event{Kind: history.KindInterceptedRequest, Member: a.Member, From: max(1, at-int64(x.Took)), InterceptedRequest: &history.InterceptedRequest{
			Fault: a.id, Component: string(a.Fault.Components[0]), Method: x.Method, Path: x.Path, Watch: x.Watch,
			Held: int64(x.Held), Sent: x.Sent, Code: x.Code,
		}})
	}
	first := met.count(x)
	if first {
		a.Witness(0, fmt.Sprintf("the link of the %s at %s hit a request of it: %s %s", a.Fault.Components[0], a.Member, x.Method, x.Path))
	}
}

func (m *met) count(x cluster.HTTPExchange) (first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x.Over {
		m.over++
		if x.Sent {
			m.sent++
		}
	} else {
		m.came++
		first = m.came == 1
	}
	close(m.change)
	m.change = make(chan struct{})
	return first
}

// await waits until there were so many requests, and so many of them are over.
func (m *met) await(ctx context.Context, came, over int) error {
	for {
		m.mu.Lock()
		done, change := m.came >= came && m.over >= over, m.change
		m.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tally says what a fault of HTTP has done, if anything.
func (m *met) tally(what cluster.HTTPFault) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.came == 0 {
		return ""
	}
	did := "broke off"
	switch {
	case what.Delay > 0:
		did = fmt.Sprintf("held back for %s", what.Delay.Round(time.Millisecond))
	case what.Code != 0:
		did = fmt.Sprintf("had answered with %d", what.Code)
	}
	return fmt.Sprintf("it %s %d requests, of which %d reached the API server", did, m.came, m.sent)
}
