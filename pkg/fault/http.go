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
)

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
	fault := &Fault{Name: object.Name, Type: TypeHTTP}
	component, member, err := selected(&spec.PodSelector)
	errs := []error{err}
	fault.Member, fault.One = member, spec.Mode == chaos.OneMode
	fault.Components, fault.Link = []cluster.Component{component}, cluster.LinkComponents
	if component != cluster.ControllerManager && component != cluster.Scheduler {
		errs = append(errs, fmt.Errorf("the label %s must select kube-controller-manager or kube-scheduler, whose requests to their API server can be hit", componentLabel))
	}
	if spec.Port != apiServerPort {
		errs = append(errs, fmt.Errorf("spec.port is %d, and must be %d, the API server's: no other port can be hit", spec.Port, apiServerPort))
	}
	switch spec.Target {
	case chaos.PodHttpRequest:
	case chaos.PodHttpResponse:
		fault.HTTP.Answers = true
	default:
		errs = append(errs, fmt.Errorf("spec.target is %q, and must be %s or %s", spec.Target, chaos.PodHttpRequest, chaos.PodHttpResponse))
	}
	if spec.Path != nil {
		fault.HTTP.Path = *spec.Path
	}
	if spec.Method != nil {
		fault.HTTP.Method = *spec.Method
	}
	meta := object.ObjectMeta
	fault.HTTP.Every, err = every(&meta)
	errs = append(errs, err, harmed(&spec.PodHttpChaosActions, fault))
	if spec.Duration != nil {
		fault.Duration, err = positive("spec.duration", *spec.Duration)
		errs = append(errs, err)
	}
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
func harmed(actions *chaos.PodHttpChaosActions, fault *Fault) error {
	var errs []error
	if actions.Abort != nil {
		fault.Action, fault.HTTP.Abort = history.FaultHTTPAbort, *actions.Abort
	}
	if actions.Delay != nil {
		delay, err := positive("spec.delay", *actions.Delay)
		errs = append(errs, err)
		fault.Action, fault.HTTP.Delay = history.FaultHTTPDelay, delay
	}
	if actions.Replace != nil && actions.Replace.Code != nil {
		fault.Action, fault.HTTP.Code = history.FaultHTTPReplace, int(*actions.Replace.Code)
		actions.Replace.Code = nil
		errs = append(errs, nothingElse("spec.replace", *actions.Replace))
		actions.Replace = nil
	}
	actions.Abort, actions.Delay = nil, nil
	return errors.Join(append(errs, fault.HTTP.Validate())...)
}

// met is what is known of the requests that a fault of HTTP hit.
type met struct {
	mu sync.Mutex
	// came, over and sent count requests; change is closed and replaced when they
	// do.
	came, over, sent int
	change           chan struct{}
	heal             func()
}

// disturb has the link fault requests, and each of them is recorded. The first one is the
// witness: the harness cannot send a request for it, because the fault selects the
// requests of a controller.
func (a *Active) disturb() error {
	faulter, ok := a.executor.cluster.(cluster.HTTPFaultInjector)
	if !ok {
		return fmt.Errorf("its links do not understand HTTP: %w", cluster.ErrUnsupported)
	}
	a.met = &met{change: make(chan struct{})}
	a.record(history.PhaseInject, "")
	heal, err := faulter.FaultHTTP(a.Member, a.Fault.Components[0], a.Fault.HTTP, a.take)
	a.met.heal = heal
	return err
}

// take records a request that was hit.
func (a *Active) take(x cluster.HTTPExchange) {
	recorder := a.executor.recorder
	if x.Over {
		at := recorder.Now()
		recorder.Record(history.Event{Kind: history.KindInterceptedRequest, Member: a.Member, From: max(1, at-int64(x.Took)), InterceptedRequest: &history.InterceptedRequest{
			Fault: a.id, Component: string(a.Fault.Components[0]), Method: x.Method, Path: x.Path, Watch: x.Watch,
			Held: int64(x.Held), Sent: x.Sent, Code: x.Code,
		}})
	}
	first := a.met.count(x)
	if first {
		a.record(history.PhaseWitness, fmt.Sprintf("the link of the %s at %s hit a request of it: %s %s", a.Fault.Components[0], a.Member, x.Method, x.Path))
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

// Met waits until the fault has hit so many requests, and so many of them are
// over.
func (a *Active) Met(ctx context.Context, came, over int) error {
	if a.met == nil {
		return fmt.Errorf("the fault %s hits no requests that could be waited for", a.Fault.Name)
	}
	for {
		a.met.mu.Lock()
		done, change := a.met.came >= came && a.met.over >= over, a.met.change
		a.met.mu.Unlock()
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
