// Package svtest plays the API that the storage version machinery talks to, for
// tests: StorageVersions and Leases in memory with what the tracker of a fake
// clientset lacks, which is resourceVersions that are checked, preconditions of
// deletes, a status that only status updates change, and watches that start
// where a list ended. It keeps all revisions, so that a test can say what must
// hold in each of them.
package svtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// Revision is one change of one object.
type Revision struct {
	Number int64
	Type   watch.EventType
	// Object is as the change left it; for a deletion as it was before.
	Object runtime.Object
}

// API is the state that all clients share.
type API struct {
	clock   clock.PassiveClock
	defects defects.Set

	mu       sync.Mutex
	objects  map[string]runtime.Object
	history  []Revision
	watchers map[*watcher]struct{}
}

type watcher struct {
	resource string
	selector labels.Selector
	events   chan watch.Event
	*watch.ProxyWatcher
}

// watchBuffer is how many events a watcher may be behind.
const watchBuffer = 1 << 14

// New returns an empty API. Defects have their effect on validation.
func New(c clock.PassiveClock, d defects.Set) *API {
	return &API{clock: c, defects: d, objects: map[string]runtime.Object{}, watchers: map[*watcher]struct{}{}}
}

// Client returns a client. Before it acts, each hook may fail a request, or run
// something in between; a hook must not use the same client.
func (a *API) Client(hooks ...func(clienttesting.Action) error) *fake.Clientset {
	client := fake.NewSimpleClientset()
	client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		for _, hook := range hooks {
			if err := hook(action); err != nil {
				return true, nil, err
			}
		}
		obj, err := a.serve(action)
		return true, obj, err
	})
	client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		for _, hook := range hooks {
			if err := hook(action); err != nil {
				return true, nil, err
			}
		}
		w, err := a.watch(action)
		return true, w, err
	})
	return client
}

// History returns all revisions so far.
func (a *API) History() []Revision {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Revision(nil), a.history...)
}

// StorageVersion returns an object as it is, or nil.
func (a *API) StorageVersion(name string) *apiserverinternalv1alpha1.StorageVersion {
	a.mu.Lock()
	defer a.mu.Unlock()
	if obj, ok := a.objects["storageversions/"+name]; ok {
		return obj.DeepCopyObject().(*apiserverinternalv1alpha1.StorageVersion)
	}
	return nil
}

// Lease returns an identity Lease as it is, or nil.
func (a *API) Lease(name string) *coordinationv1.Lease {
	a.mu.Lock()
	defer a.mu.Unlock()
	if obj, ok := a.objects["leases/"+storageversion.LeaseNamespace+"/"+name]; ok {
		return obj.DeepCopyObject().(*coordinationv1.Lease)
	}
	return nil
}

// Put stores an object as it stands, new or not, whatever is there.
func (a *API) Put(obj runtime.Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	resource := "storageversions"
	if _, lease := obj.(*coordinationv1.Lease); lease {
		resource = "leases"
	}
	obj = obj.DeepCopyObject()
	object, _ := meta.Accessor(obj)
	key := keyOf(resource, object.GetNamespace(), object.GetName())
	kind := watch.Added
	if old, ok := a.objects[key]; ok {
		before, _ := meta.Accessor(old)
		object.SetUID(before.GetUID())
		kind = watch.Modified
	}
	a.store(key, kind, obj)
}

// Remove deletes an object.
func (a *API) Remove(resource, namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if key := keyOf(resource, namespace, name); a.objects[key] != nil {
		a.drop(key)
	}
}

func keyOf(resource, namespace, name string) string {
	if namespace == "" {
		return resource + "/" + name
	}
	return resource + "/" + namespace + "/" + name
}

// store saves an object under the next revision and notifies the watchers.
func (a *API) store(key string, kind watch.EventType, obj runtime.Object) runtime.Object {
	number := int64(len(a.history)) + 1
	object, _ := meta.Accessor(obj)
	object.SetResourceVersion(strconv.FormatInt(number, 10))
	if object.GetUID() == "" {
		object.SetUID(types.UID("uid-" + strconv.FormatInt(number, 10)))
	}
	if kind == watch.Added && object.GetCreationTimestamp().Time.IsZero() {
		object.SetCreationTimestamp(metav1.NewTime(a.clock.Now()).Rfc3339Copy())
	}
	a.objects[key] = obj
	a.record(key, Revision{Number: number, Type: kind, Object: obj.DeepCopyObject()})
	return obj.DeepCopyObject()
}

func (a *API) drop(key string) {
	number := int64(len(a.history)) + 1
	obj := a.objects[key].DeepCopyObject()
	object, _ := meta.Accessor(obj)
	object.SetResourceVersion(strconv.FormatInt(number, 10))
	delete(a.objects, key)
	a.record(key, Revision{Number: number, Type: watch.Deleted, Object: obj})
}

func (a *API) record(key string, r Revision) {
	a.history = append(a.history, r)
	for w := range a.watchers {
		if strings.HasPrefix(key, w.resource+"/") {
			w.tell(r)
		}
	}
}

func (w *watcher) tell(r Revision) {
	object, _ := meta.Accessor(r.Object)
	if w.Stopping() || !w.selector.Matches(labels.Set(object.GetLabels())) {
		return
	}
	select {
	case w.events <- watch.Event{Type: r.Type, Object: r.Object.DeepCopyObject()}:
	default:
		panic("a watcher is too far behind")
	}
}

func (a *API) watch(action clienttesting.Action) (watch.Interface, error) {
	events := make(chan watch.Event, watchBuffer)
	w := &watcher{resource: action.GetResource().Resource, selector: labels.Everything(), events: events, ProxyWatcher: watch.NewProxyWatcher(events)}
	since := int64(0)
	if restricted, ok := action.(clienttesting.WatchActionImpl); ok {
		if restricted.WatchRestrictions.Labels != nil {
			w.selector = restricted.WatchRestrictions.Labels
		}
		since, _ = strconv.ParseInt(restricted.WatchRestrictions.ResourceVersion, 10, 64)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.history {
		_, lease := r.Object.(*coordinationv1.Lease)
		if r.Number > since && lease == (w.resource == "leases") {
			w.tell(r)
		}
	}
	a.watchers[w] = struct{}{}
	return w, nil
}

func (a *API) serve(action clienttesting.Action) (runtime.Object, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	resource := action.GetResource().GroupResource()
	// By verb: the interfaces of several actions are the same.
	switch action.GetVerb() {
	case "get":
		return a.get(resource, action.GetNamespace(), action.(clienttesting.GetAction).GetName())
	case "list":
		return a.list(resource.Resource), nil
	case "create":
		return a.create(resource, action.(clienttesting.CreateAction))
	case "update":
		return a.update(resource, action.(clienttesting.UpdateAction))
	case "delete":
		return nil, a.delete(resource, action.(clienttesting.DeleteActionImpl))
	}
	return nil, fmt.Errorf("unexpected %s of %s", action.GetVerb(), resource)
}

func (a *API) get(resource schema.GroupResource, namespace, name string) (runtime.Object, error) {
	obj, ok := a.objects[keyOf(resource.Resource, namespace, name)]
	if !ok {
		return nil, apierrors.NewNotFound(resource, name)
	}
	return obj.DeepCopyObject(), nil
}

func (a *API) list(resource string) runtime.Object {
	rv := strconv.Itoa(len(a.history))
	if resource == "leases" {
		list := &coordinationv1.LeaseList{ListMeta: metav1.ListMeta{ResourceVersion: rv}}
		for _, obj := range a.objects {
			if lease, ok := obj.(*coordinationv1.Lease); ok {
				list.Items = append(list.Items, *lease.DeepCopy())
			}
		}
		return list
	}
	list := &apiserverinternalv1alpha1.StorageVersionList{ListMeta: metav1.ListMeta{ResourceVersion: rv}}
	for _, obj := range a.objects {
		if sv, ok := obj.(*apiserverinternalv1alpha1.StorageVersion); ok {
			list.Items = append(list.Items, *sv.DeepCopy())
		}
	}
	return list
}

func (a *API) create(resource schema.GroupResource, action clienttesting.CreateAction) (runtime.Object, error) {
	obj := action.GetObject().DeepCopyObject()
	object, _ := meta.Accessor(obj)
	key := keyOf(resource.Resource, action.GetNamespace(), object.GetName())
	if _, exists := a.objects[key]; exists {
		return nil, apierrors.NewAlreadyExists(resource, object.GetName())
	}
	if sv, ok := obj.(*apiserverinternalv1alpha1.StorageVersion); ok {
		sv.Status = apiserverinternalv1alpha1.StorageVersionStatus{}
		if errs := storageversion.PlantValidateName(a.defects)(sv.Name); len(errs) > 0 {
			return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "StorageVersion"}, sv.Name, errs)
		}
	}
	return a.store(key, watch.Added, obj), nil
}

func (a *API) update(resource schema.GroupResource, action clienttesting.UpdateAction) (runtime.Object, error) {
	obj := action.GetObject().DeepCopyObject()
	object, _ := meta.Accessor(obj)
	key := keyOf(resource.Resource, action.GetNamespace(), object.GetName())
	old, exists := a.objects[key]
	if !exists {
		return nil, apierrors.NewNotFound(resource, object.GetName())
	}
	before, _ := meta.Accessor(old)
	if object.GetResourceVersion() != before.GetResourceVersion() || object.GetUID() != before.GetUID() {
		return nil, apierrors.NewConflict(resource, object.GetName(), errors.New("the object has been modified"))
	}
	if sv, ok := obj.(*apiserverinternalv1alpha1.StorageVersion); ok {
		stored := old.(*apiserverinternalv1alpha1.StorageVersion).DeepCopy()
		if action.GetSubresource() == "status" {
			stored.Status = sv.Status
		} else {
			stored.ObjectMeta = sv.ObjectMeta
		}
		if errs := storageversion.PlantValidateStatus(a.defects)(&stored.Status); len(errs) > 0 {
			return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "StorageVersion"}, sv.Name, errs)
		}
		obj = stored
	}
	return a.store(key, watch.Modified, obj), nil
}

func (a *API) delete(resource schema.GroupResource, action clienttesting.DeleteActionImpl) error {
	key := keyOf(resource.Resource, action.Namespace, action.Name)
	old, exists := a.objects[key]
	if !exists {
		return apierrors.NewNotFound(resource, action.Name)
	}
	before, _ := meta.Accessor(old)
	if p := action.DeleteOptions.Preconditions; p != nil {
		if p.UID != nil && *p.UID != before.GetUID() || p.ResourceVersion != nil && *p.ResourceVersion != before.GetResourceVersion() {
			return apierrors.NewConflict(resource, action.Name, errors.New("a precondition failed"))
		}
	}
	a.drop(key)
	return nil
}
