package apiserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apiextensionshelpers "k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	crdlisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/retry"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

const (
	// customWorkers is how many custom resources are announced at a time: one
	// whose older writes do not end must not hold up the others.
	customWorkers = 4
	// customRetry and customRetryMax bound the pause after a failure.
	customRetry    = 50 * time.Millisecond
	customRetryMax = 5 * time.Second
	// customDrain is how long an announcement waits for older writes to end before its
	// worker turns to other resources. A write ends with its request, after a minute at most.
	customDrain = 30 * time.Second
)

// publisher is the part of storageversion.Manager that announces.
type publisher interface {
	Publish(ctx context.Context, resource storageversion.Resource) error
	Withdraw(ctx context.Context, group, resource string) error
}

// customAnnouncer announces in which version each custom resource is stored, as
// the definitions come, change and go.
type customAnnouncer struct {
	publisher publisher
	doors     *customDoors
	crds      crdlisters.CustomResourceDefinitionLister
	synced    cache.InformerSynced
	queue     workqueue.TypedRateLimitingInterface[string]
	troubles  *retry.Troubles
	clock     clock.WithTicker

	mu sync.Mutex
	// published is the last announcement, by name of the definition.
	published map[string]announcement
}

// announcement is what was published of a custom resource.
type announcement struct {
	what storageversion.Resource
	// certain: the attempt has succeeded. After one that has failed, the entry may say what was
	// there before or what is here.
	certain bool
}

func newCustomAnnouncer(publisher publisher, doors *customDoors, crds crdinformers.CustomResourceDefinitionInformer, c clock.WithTicker) (*customAnnouncer, error) {
	v := &customAnnouncer{
		publisher: publisher, doors: doors, clock: c, troubles: newTroubles(c),
		crds: crds.Lister(), synced: crds.Informer().HasSynced,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](customRetry, customRetryMax),
			workqueue.TypedRateLimitingQueueConfig[string]{Clock: c}),
		published: map[string]announcement{},
	}
	enqueue := func(obj any) {
		if name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			v.queue.Add(name)
		}
	}
	_, err := crds.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, obj any) { enqueue(obj) },
		DeleteFunc: enqueue,
	})
	return v, err
}

// begin announces the definitions that exist. It runs before the server registers:
// a server that restarts must confirm or replace its earlier entries. Otherwise it
// would withdraw them as entries of resources that it does not host.
func (v *customAnnouncer) begin(ctx context.Context) error {
	if !cache.WaitForCacheSync(ctx.Done(), v.synced) {
		return fmt.Errorf("read the custom resource definitions: %w", ctx.Err())
	}
	crds, err := v.crds.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("read the custom resource definitions: %w", err)
	}
	for _, crd := range crds {
		if err := v.sync(ctx, crd.Name); err != nil {
			return err
		}
	}
	return nil
}

// run keeps the announcements up to date until the context ends.
func (v *customAnnouncer) run(ctx context.Context) {
	defer context.AfterFunc(ctx, v.queue.ShutDown)()
	var workers sync.WaitGroup
	for range customWorkers {
		workers.Go(func() {
			for v.next(ctx) {
			}
		})
	}
	workers.Wait()
}

func (v *customAnnouncer) next(ctx context.Context) bool {
	name, shutdown := v.queue.Get()
	if shutdown {
		return false
	}
	defer v.queue.Done(name)
	err := v.sync(ctx, name)
	what := "announcing custom resource " + name
	switch {
	case err == nil:
		v.troubles.Over(what)
		v.queue.Forget(name)
	case ctx.Err() == nil:
		v.troubles.Failed(what, err)
		klog.ErrorS(err, "Cannot announce the storage version of a custom resource, trying again", "customResourceDefinition", name)
		v.queue.AddRateLimited(name)
	}
	return true
}

// sync announces what one definition says now.
func (v *customAnnouncer) sync(ctx context.Context, name string) error {
	crd, err := v.crds.Get(name)
	switch {
	case apierrors.IsNotFound(err):
		return v.withdraw(ctx, name)
	case err != nil:
		return fmt.Errorf("read custom resource definition %s: %w", name, err)
	}
	wanted, ok := customResource(crd)
	if !ok {
		return nil
	}
	last, known := v.last(name)
	if known && last.certain && equalResource(last.what, wanted) {
		return nil
	}
	resource := schema.GroupResource{Group: wanted.Group, Resource: wanted.Resource}
	if known && last.what.Encoding != wanted.Encoding {
		defer v.doors.open(resource)
		if err := v.drain(ctx, resource); err != nil {
			return err
		}
	}
	err = v.publisher.Publish(ctx, wanted)
	v.mu.Lock()
	v.published[name] = announcement{wanted, err == nil}
	v.mu.Unlock()
	if err != nil {
		return fmt.Errorf("announce the storage version of %s: %w", resource, err)
	}
	return nil
}

// drain shuts the door of a resource and waits for the writes inside to end, for customDrain.
func (v *customAnnouncer) drain(ctx context.Context, resource schema.GroupResource) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := v.clock.NewTimer(customDrain)
	defer timer.Stop()
	go func() {
		select {
		case <-timer.C():
			cancel(fmt.Errorf("they have not ended for %v", customDrain))
		case <-ctx.Done():
		}
	}()
	if err := v.doors.shut(ctx, resource); err != nil {
		return fmt.Errorf("wait for writes of %s to end: %w", resource, context.Cause(ctx))
	}
	return nil
}

// withdraw takes an announcement back once the definition is gone.
func (v *customAnnouncer) withdraw(ctx context.Context, name string) error {
	last, known := v.last(name)
	if !known {
		return nil
	}
	resource := schema.GroupResource{Group: last.what.Group, Resource: last.what.Resource}
	defer v.doors.open(resource)
	if err := v.drain(ctx, resource); err != nil {
		return err
	}
	if err := v.publisher.Withdraw(ctx, last.what.Group, last.what.Resource); err != nil {
		return fmt.Errorf("withdraw the storage version of %s: %w", resource, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.published, name)
	return nil
}

func (v *customAnnouncer) last(name string) (announcement, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	resource, known := v.published[name]
	return resource, known
}

// customResource returns how the objects of a definition are stored. It is false until
// the resource is established, which is when discovery begins to list it: a server
// does not announce a resource that it does not host yet. The library accepts writes
// some seconds earlier, when the names are accepted; these wait (customstorage.go).
func customResource(crd *apiextensionsv1.CustomResourceDefinition) (storageversion.Resource, bool) {
	encoding, err := apiextensionshelpers.GetCRDStorageVersion(crd)
	if err != nil || !apiextensionshelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
		return storageversion.Resource{}, false
	}
	resource := storageversion.Resource{
		Group: crd.Spec.Group, Resource: crd.Status.AcceptedNames.Plural,
		Encoding: schema.GroupVersion{Group: crd.Spec.Group, Version: encoding}.String(),
	}
	for _, version := range crd.Spec.Versions {
		name := schema.GroupVersion{Group: crd.Spec.Group, Version: version.Name}.String()
		resource.Decodable = append(resource.Decodable, name)
		if version.Served {
			resource.Served = append(resource.Served, name)
		}
	}
	slices.SortFunc(resource.Decodable, strings.Compare)
	slices.SortFunc(resource.Served, strings.Compare)
	return resource, true
}

func equalResource(a, b storageversion.Resource) bool {
	return a.Group == b.Group && a.Resource == b.Resource && a.Encoding == b.Encoding &&
		slices.Equal(a.Decodable, b.Decodable) && slices.Equal(a.Served, b.Served)
}
