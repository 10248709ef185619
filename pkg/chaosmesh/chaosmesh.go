// Package chaosmesh has the Chaos Mesh of a cluster inject a fault, and take it away again. It
// waits for the conditions of Chaos Mesh, which say that the fault was injected or recovered, and
// not that it had an effect: that has to show at the control plane.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package chaosmesh

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	chaos "github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// Namespace is where Chaos Mesh runs by default. Its objects lie there.
// https://chaos-mesh.org/docs/production-installation-using-helm/
const Namespace = "chaos-mesh"

// APIPath is where an API server serves the kinds of Chaos Mesh.
const APIPath = "/apis/chaos-mesh.org/v1alpha1"

// Managed is a label of every object of Evenkeel, by which a user finds what a killed run has left.
const Managed, managedBy = "app.kubernetes.io/managed-by", "evenkeel"

// Bounds of waiting for Chaos Mesh.
const (
	// InjectBound is how long Chaos Mesh may take until it reports a fault as injected.
	InjectBound = 30 * time.Second
	// RecoverBound is how long it may take until it has recovered a fault and let its object go.
	RecoverBound = 60 * time.Second
	// LookInterval is the pause between two looks at an object.
	LookInterval = 100 * time.Millisecond
	// LongestFault is when Chaos Mesh ends by itself a fault that says no duration, such as that of
	// a run that was killed.
	LongestFault = 10 * time.Minute
)

// resources are those of the kinds that are injected.
var resources = map[string]string{"PodChaos": "podchaos", "NetworkChaos": "networkchaos"}

// Engine asks the Chaos Mesh of one cluster.
type Engine struct {
	client    dynamic.Interface
	namespace string
	clock     clock.WithTicker
	bounds    bounds
}

type bounds struct{ inject, recover time.Duration }

// New makes an engine whose objects lie in a namespace. The configuration reaches an API server
// that the faults do not hit.
func New(config *rest.Config, namespace string, clk clock.WithTicker) (*Engine, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reach Chaos Mesh: %w", err)
	}
	return &Engine{client: client, namespace: namespace, clock: clk, bounds: bounds{InjectBound, RecoverBound}}, nil
}

// NotInjectedError says that Chaos Mesh has taken a fault and does not report it as injected.
type NotInjectedError struct {
	// Reason in half a sentence, with what Chaos Mesh says itself.
	Reason string
}

// Error implements error.
func (e *NotInjectedError) Error() string {
	return "Chaos Mesh has not injected the fault: " + e.Reason
}

// Applied is a fault that Chaos Mesh was given.
type Applied struct {
	engine   *Engine
	resource dynamic.ResourceInterface
	kind     string
	name     string
}

// Apply gives Chaos Mesh an object of one of its kinds under a name, and waits until it reports
// the fault as injected. With a *NotInjectedError the object is there, as it is with the error of a
// context that ended; Remove takes it away. Otherwise Applied is nil.
func (e *Engine) Apply(ctx context.Context, object runtime.Object, name string) (*Applied, error) {
	given, err := e.prepare(object, name)
	if err != nil {
		return nil, err
	}
	kind := given.GetKind()
	one := &Applied{engine: e, kind: kind, name: name, resource: e.client.Resource(schema.GroupVersionResource{
		Group: chaos.SchemeGroupVersion.Group, Version: chaos.SchemeGroupVersion.Version, Resource: resources[kind],
	}).Namespace(e.namespace)}
	_, err = one.resource.Create(ctx, given, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		// A run that was killed has left it.
		if err := one.Remove(ctx); err != nil {
			return one, err
		}
		_, err = one.resource.Create(ctx, given, metav1.CreateOptions{})
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("the cluster takes no %s in the namespace %s: install Chaos Mesh there, or name its namespace with spec.external.faults.namespace: %w", kind, e.namespace, err)
	case err != nil && ctx.Err() != nil:
		return one, err // it may have been made
	case err != nil:
		return nil, fmt.Errorf("give Chaos Mesh the %s %s: %w", kind, name, err)
	}
	return one, one.awaitInjected(ctx)
}

// prepare makes of a fault's object what is created.
func (e *Engine) prepare(object runtime.Object, name string) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("write the object for Chaos Mesh: %w", err)
	}
	given := &unstructured.Unstructured{Object: content}
	if resources[given.GetKind()] == "" {
		return nil, fmt.Errorf("a %s is not left to Chaos Mesh", given.GetKind())
	}
	unstructured.RemoveNestedField(content, "status")
	given.SetName(name)
	given.SetNamespace(e.namespace)
	given.SetLabels(map[string]string{Managed: managedBy})
	return given, nil
}

// status is that of an object.
func (a *Applied) status(ctx context.Context) (*chaos.ChaosStatus, error) {
	found, err := a.resource.Get(ctx, a.name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	var read struct {
		Status chaos.ChaosStatus `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, &read); err != nil {
		return nil, fmt.Errorf("read the %s %s: %w", a.kind, a.name, err)
	}
	return &read.Status, nil
}

// holds is whether a condition of Chaos Mesh is true.
func holds(status *chaos.ChaosStatus, condition chaos.ChaosConditionType) bool {
	for _, one := range status.Conditions {
		if one.Type == condition {
			return one.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (a *Applied) awaitInjected(ctx context.Context) error {
	last := &chaos.ChaosStatus{}
	var unanswered error
	done, err := a.until(ctx, a.engine.bounds.inject, func(ctx context.Context) bool {
		status, err := a.status(ctx)
		if unanswered = err; err != nil {
			return false
		}
		last = status
		return holds(status, chaos.ConditionSelected) && holds(status, chaos.ConditionAllInjected)
	})
	if done || err != nil {
		return err
	}
	return &NotInjectedError{Reason: fmt.Sprintf("%s within %s", whyNot(last, unanswered), a.engine.bounds.inject)}
}

// whyNot says in half a sentence what Chaos Mesh says of a fault that is not injected.
func whyNot(status *chaos.ChaosStatus, unanswered error) string {
	for _, record := range status.Experiment.Records {
		for i := len(record.Events) - 1; i >= 0; i-- {
			if event := record.Events[i]; event.Type == chaos.TypeFailed && event.Operation == chaos.Apply {
				return fmt.Sprintf("it says of %s: %s", record.Id, strings.TrimSuffix(event.Message, "."))
			}
		}
	}
	switch {
	case unanswered != nil:
		return fmt.Sprintf("its object could not be read (%v)", unanswered)
	case len(status.Conditions) == 0:
		return "its controller has set no condition"
	case !holds(status, chaos.ConditionSelected):
		return "it has selected no Pod"
	}
	return "the condition AllInjected is not true"
}

// Remove has Chaos Mesh recover the fault: it deletes the object, and waits until Chaos Mesh has
// let it go, which it does when AllRecovered holds. It is no error if the object is gone already.
func (a *Applied) Remove(ctx context.Context) error {
	last := &chaos.ChaosStatus{}
	var unanswered error
	gone, err := a.until(ctx, a.engine.bounds.recover, func(ctx context.Context) bool {
		// Deleting it once more is no harm, and the API server that was asked first may be gone.
		if unanswered = a.resource.Delete(ctx, a.name, metav1.DeleteOptions{}); apierrors.IsNotFound(unanswered) {
			return true
		}
		if status, err := a.status(ctx); err == nil {
			last = status
		}
		return false
	})
	if gone {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("it was still there after %s, with AllRecovered %v", a.engine.bounds.recover, holds(last, chaos.ConditionAllRecovered))
		err = errors.Join(err, unanswered)
	}
	return fmt.Errorf("the %s %s of Chaos Mesh was not taken away: %w; see `kubectl describe %s %s -n %s`, and delete it",
		a.kind, a.name, err, resources[a.kind], a.name, a.engine.namespace)
}

// until looks again and again until something holds; done is whether it does. The error is that of
// the context, and no error where only the bound is over.
func (a *Applied) until(ctx context.Context, bound time.Duration, look func(context.Context) bool) (done bool, err error) {
	end := a.engine.clock.NewTimer(bound)
	defer end.Stop()
	again := a.engine.clock.NewTicker(LookInterval)
	defer again.Stop()
	for {
		if look(ctx) {
			return true, nil
		}
		select {
		case <-again.C():
		case <-end.C():
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}
