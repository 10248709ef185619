package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/evenkeel/evenkeel/impl/apiserver/registry"
)

// emptierRetry and emptierRetryMax bound the time until a namespace that could not be
// emptied, or had something in it still, is tried again.
const (
	emptierRetry    = 100 * time.Millisecond
	emptierRetryMax = 10 * time.Second
)

// emptier deletes what is in a namespace that is being deleted, and lets the namespace
// go when nothing is left. In Kubernetes a controller does that; here every API server
// does it, with its own rights, so that a controller manager needs none to delete
// things. That several do it at a time is no harm.
type emptier struct {
	client   kubernetes.Interface
	contents metadata.Interface
	queue    workqueue.TypedRateLimitingInterface[string]
}

func newEmptier(client kubernetes.Interface, contents metadata.Interface) *emptier {
	return &emptier{client: client, contents: contents, queue: workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](emptierRetry, emptierRetryMax))}
}

// run works until the context ends.
func (e *emptier) run(ctx context.Context) {
	factory := informers.NewSharedInformerFactory(e.client, 0)
	see := func(obj any) {
		if namespace, ok := obj.(*corev1.Namespace); ok && namespace.DeletionTimestamp != nil {
			e.queue.Add(namespace.Name)
		}
	}
	// Adding a handler fails only once an informer was stopped.
	_, _ = factory.Core().V1().Namespaces().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: see, UpdateFunc: func(_, obj any) { see(obj) },
	})
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	defer context.AfterFunc(ctx, e.queue.ShutDown)()
	for {
		name, over := e.queue.Get()
		if over {
			return
		}
		if err := e.empty(ctx, name); err != nil {
			if ctx.Err() == nil {
				utilruntime.HandleError(fmt.Errorf("empty namespace %s: %w", name, err))
			}
			e.queue.AddRateLimited(name)
		} else {
			e.queue.Forget(name)
		}
		e.queue.Done(name)
	}
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
	// What is not known to be empty is not let go: a group that cannot be listed now may
	// have something in it.
	lists, err := discovery.ServerPreferredNamespacedResources(e.client.Discovery())
	if err != nil {
		return err
	}
	resources, err := discovery.GroupVersionResources(discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "deletecollection"}}, lists))
	if err != nil {
		return err
	}
	var errs []error
	for resource := range resources {
		errs = append(errs, e.clear(ctx, resource, name))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	namespace.Finalizers = slices.DeleteFunc(namespace.Finalizers, func(f string) bool { return f == registry.ContentsFinalizer })
	_, err = namespaces.Update(ctx, namespace, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil // Another server has.
	}
	return err
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
