package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/apiserver/registry"
	"github.com/evenkeel/evenkeel/impl/follow"
	"github.com/evenkeel/evenkeel/impl/retry"
)

const (
	// emptierWorkers is how many namespaces are emptied at a time.
	emptierWorkers = 4
	// emptierAttempt is for how long one attempt holds a worker: a namespace that cannot be
	// emptied has its next attempt after others have had theirs.
	emptierAttempt = 30 * time.Second
	// emptierRetry and emptierRetryMax bound the time until a namespace that could not be
	// emptied, or had something in it still, is tried again.
	emptierRetry    = 100 * time.Millisecond
	emptierRetryMax = 10 * time.Second
)

// emptier deletes what is in a namespace that is being deleted, and lets the namespace
// go when nothing is left. In Kubernetes a controller does that; here every API server
// does it, with its own rights, so that a controller manager needs none to delete
// things. That several do it at a time is no harm.
//
// A namespace is tried for as long as it is being deleted. Its conditions tell what keeps it, under
// the names that Kubernetes has for them.
type emptier struct {
	client   kubernetes.Interface
	contents metadata.Interface
	// discover lists what is served in namespaces; beside an error, what is known.
	discover func() ([]*metav1.APIResourceList, error)
	queue    workqueue.TypedRateLimitingInterface[string]
	clock    clock.Clock
	troubles *retry.Troubles
}

func newEmptier(client kubernetes.Interface, contents metadata.Interface, c clock.WithTicker, troubles *retry.Troubles) *emptier {
	limits := workqueue.NewTypedItemExponentialFailureRateLimiter[string](emptierRetry, emptierRetryMax)
	return &emptier{client: client, contents: contents, clock: c, troubles: troubles,
		discover: func() ([]*metav1.APIResourceList, error) {
			return discovery.ServerPreferredNamespacedResources(client.Discovery())
		},
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(limits, workqueue.TypedRateLimitingQueueConfig[string]{Clock: c})}
}

// run works until the context ends.
func (e *emptier) run(ctx context.Context) {
	terminating := func(namespace *corev1.Namespace) bool { return namespace != nil && namespace.DeletionTimestamp != nil }
	namespaces := follow.New(e.client, e.client.CoreV1().Namespaces(), nil, func(before, after *corev1.Namespace) {
		// A later change is one of the conditions, and what failed is in the queue already.
		if terminating(after) && !terminating(before) {
			e.queue.Add(after.Name)
		}
	})
	defer context.AfterFunc(ctx, e.queue.ShutDown)()
	var workers sync.WaitGroup
	workers.Go(func() { namespaces.Run(ctx) })
	for range emptierWorkers {
		workers.Go(func() {
			for e.next(ctx) {
			}
		})
	}
	workers.Wait()
}

// next is one attempt at one namespace. It is false when the queue has ended.
func (e *emptier) next(ctx context.Context) bool {
	name, over := e.queue.Get()
	if over {
		return false
	}
	defer e.queue.Done(name)
	attempt, cancel := context.WithTimeout(ctx, emptierAttempt)
	defer cancel()
	what := "emptying namespace " + name
	if err := e.empty(attempt, name); err != nil {
		if ctx.Err() == nil {
			e.troubles.Failed(what, err)
			utilruntime.HandleError(fmt.Errorf("%s: %w", what, err))
		}
		e.queue.AddRateLimited(name)
		return true
	}
	e.troubles.Over(what)
	e.queue.Forget(name)
	return true
}

// empty deletes what is in a namespace, and then lets it go.
func (e *emptier) empty(ctx context.Context, name string) error {
	namespaces := e.client.CoreV1().Namespaces()
	namespace, err := namespaces.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && namespace.DeletionTimestamp == nil {
		return nil
	}
	if err != nil {
		return err
	}
	if namespace.Status.Phase != corev1.NamespaceTerminating {
		// Any update makes it that.
		if namespace, err = namespaces.Update(ctx, namespace, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	left, err := e.clearAll(ctx, name)
	if err != nil {
		return errors.Join(err, e.tell(ctx, namespace, left))
	}
	namespace.Finalizers = slices.DeleteFunc(namespace.Finalizers, func(f string) bool { return f == registry.ContentsFinalizer })
	_, err = namespaces.Update(ctx, namespace, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil // Another server has.
	}
	return err
}

// clearAll deletes all that is known to be in a namespace, and returns what keeps the namespace.
// What is not known to be empty is not let go: a group that cannot be listed now may have
// something in it.
func (e *emptier) clearAll(ctx context.Context, name string) (keeps, error) {
	var left keeps
	var errs []error
	lists, err := e.discover()
	var silent *discovery.ErrGroupDiscoveryFailed
	switch {
	case errors.As(err, &silent):
		for version := range silent.Groups {
			left.undiscovered = append(left.undiscovered, version.String())
		}
		errs = append(errs, err)
	case err != nil:
		return left, err
	}
	resources, err := discovery.GroupVersionResources(discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "deletecollection"}}, lists))
	if err != nil {
		return left, errors.Join(append(errs, err)...)
	}
	for resource := range resources {
		err := e.clear(ctx, resource, name)
		switch {
		case errors.Is(err, errNotEmpty):
			left.remaining = append(left.remaining, resource.GroupResource().String())
		case err != nil:
			left.failing = append(left.failing, resource.GroupResource().String())
		}
		errs = append(errs, err)
	}
	return left, errors.Join(errs...)
}

// errNotEmpty: deleted objects exist until their finalizers are removed.
var errNotEmpty = errors.New("some objects still exist")

// clear deletes what a namespace has of one resource.
func (e *emptier) clear(ctx context.Context, resource schema.GroupVersionResource, namespace string) error {
	things := e.contents.Resource(resource).Namespace(namespace)
	left, err := things.List(ctx, metav1.ListOptions{Limit: 1})
	if err == nil && len(left.Items) > 0 {
		if err = things.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err == nil {
			left, err = things.List(ctx, metav1.ListOptions{Limit: 1})
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil // The resource is not served any more.
	case err != nil:
		return fmt.Errorf("%s: %w", resource.GroupResource(), err)
	case len(left.Items) > 0:
		return fmt.Errorf("%s: %w", resource.GroupResource(), errNotEmpty)
	}
	return nil
}
