package apiserver

import (
	"context"
	"errors"
	"io"
	gort "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdlisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/impl/storageversion"
)

var widgets = schema.GroupResource{Group: "test.dev", Resource: "widgets"}

// customPatience is how long a test waits for what is to come.
const customPatience = 5 * time.Second

func widgetCRD(storageVersion string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.test.dev"}}
	crd.Spec.Group = "test.dev"
	for _, version := range []string{"v1", "v2"} {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: version == "v1", Storage: version == storageVersion})
	}
	crd.Status.AcceptedNames.Plural = "widgets"
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	return crd
}

func TestCustomResource(t *testing.T) {
	got, ok := customResource(widgetCRD("v2"))
	want := storageversion.Resource{Group: "test.dev", Resource: "widgets", Encoding: "test.dev/v2",
		Decodable: []string{"test.dev/v1", "test.dev/v2"}, Served: []string{"test.dev/v1"}}
	if !ok || !equalResource(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, ok, want)
	}
	unborn := widgetCRD("v1")
	unborn.Status.Conditions[0].Type = apiextensionsv1.NamesAccepted
	if _, ok := customResource(unborn); ok {
		t.Error("announced before it is established")
	}
	if _, ok := customResource(widgetCRD("v3")); ok {
		t.Error("announced without a storage version")
	}
}

func TestADoorShutsBehindTheLastOneInside(t *testing.T) {
	doors := newCustomDoors()
	leave, err := doors.enter(t.Context(), widgets)
	if err != nil {
		t.Fatal(err)
	}
	brief, cancel := context.WithCancel(t.Context())
	cancel()
	if err := doors.shut(brief, widgets); !errors.Is(err, context.Canceled) {
		t.Errorf("shut with a write in progress: %v", err)
	}
	if _, err := doors.enter(brief, widgets); !errors.Is(err, context.Canceled) {
		t.Errorf("entered through a shut door: %v", err)
	}
	if _, err := doors.enter(brief, schema.GroupResource{Resource: "others"}); err != nil {
		t.Errorf("another door is shut too: %v", err)
	}
	shut := make(chan error, 1)
	go func() { shut <- doors.shut(t.Context(), widgets) }()
	leave()
	if err := <-shut; err != nil {
		t.Fatal(err)
	}
	entered := make(chan error, 1)
	go func() {
		leave, err := doors.enter(t.Context(), widgets)
		if err == nil {
			leave()
		}
		entered <- err
	}()
	doors.open(widgets)
	if err := <-entered; err != nil {
		t.Fatal(err)
	}
	if _, kept := doors.doors[widgets]; kept {
		t.Error("a door without writes is kept")
	}
}

// register plays the Manager.
type register struct {
	mu       sync.Mutex
	announce map[schema.GroupResource]string
	changed  chan struct{}
	log      []string
	fail     error
	// before is called at the beginning of Publish.
	before func()
}

func newRegister() *register {
	return &register{announce: map[schema.GroupResource]string{}, changed: make(chan struct{})}
}

func (r *register) Publish(_ context.Context, resource storageversion.Resource) error {
	if r.before != nil {
		r.before()
	}
	return r.set(schema.GroupResource{Group: resource.Group, Resource: resource.Resource}, resource.Encoding)
}

func (r *register) Withdraw(_ context.Context, group, resource string) error {
	return r.set(schema.GroupResource{Group: group, Resource: resource}, "")
}

func (r *register) set(resource schema.GroupResource, version string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return r.fail
	}
	r.announce[resource] = version
	r.log = append(r.log, version)
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

func (r *register) read(group, resource string) (string, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.announce[schema.GroupResource{Group: group, Resource: resource}], r.changed
}

func (r *register) MayPersistAs(group, resource, version string) error {
	if got, _ := r.read(group, resource); got != version {
		return storageversion.ErrUnannounced
	}
	return nil
}

func (r *register) WaitAnnounced(ctx context.Context, group, resource, version string) error {
	for {
		got, changed := r.read(group, resource)
		if got == version {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// written plays etcd: it encodes as the library does.
type written struct {
	storage.Interface
	codec    runtime.Encoder
	versions chan string
}

func (w written) Create(_ context.Context, _ string, obj, _ runtime.Object, _ uint64) error {
	if err := w.codec.Encode(obj, io.Discard); err != nil {
		return err
	}
	w.versions <- obj.GetObjectKind().GroupVersionKind().GroupVersion().String()
	return nil
}

func widget(version string) runtime.Object {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "test.dev/" + version, "kind": "Widget"}}
}

func storageOf(r *register, doors *customDoors) (customStorage, chan string) {
	manager := func() announcer { return r }
	versions := make(chan string, 1)
	options, err := customGetter{RESTOptionsGetter: library{versions}, doors: doors, manager: manager}.GetRESTOptions(widgets, nil)
	if err != nil {
		panic(err)
	}
	store, _, err := options.Decorator(options.StorageConfig, "", nil, nil, nil, nil, nil, nil)
	if err != nil {
		panic(err)
	}
	return store.(customStorage), versions
}

// library plays the storage that is opened for a custom resource. It tries its
// codec out, as the watch cache does.
type library struct{ versions chan string }

func (l library) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := &storagebackend.ConfigForResource{GroupResource: resource}
	config.Codec = unstructured.UnstructuredJSONScheme
	return generic.RESTOptions{StorageConfig: config, Decorator: func(config *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error),
		_, _ func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
		if err := config.Codec.Encode(widget("v9"), io.Discard); err != nil {
			return nil, nil, err
		}
		return written{codec: config.Codec, versions: l.versions}, func() {}, nil
	}}, nil
}

func TestACustomResourceIsStoredOnlyAsAnnounced(t *testing.T) {
	r := newRegister()
	store, versions := storageOf(r, newCustomDoors())
	gaveUp, cancel := context.WithCancel(t.Context())
	cancel()
	err := store.Create(gaveUp, "", widget("v1"), nil, 0)
	if !errors.Is(err, storageversion.ErrUnannounced) || !apierrors.IsServiceUnavailable(err) {
		t.Errorf("stored before it is announced: %v", err)
	}
	if seconds, ok := apierrors.SuggestsClientDelay(err); !ok || seconds != storageversion.RetryAfterSeconds {
		t.Errorf("the client is not told to come back: %d, %v", seconds, ok)
	}
	done := make(chan error, 1)
	go func() { done <- store.Create(t.Context(), "", widget("v1"), nil, 0) }()
	if err := r.Publish(t.Context(), storageversion.Resource{Group: "test.dev", Resource: "widgets", Encoding: "test.dev/v1"}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := <-versions; got != "test.dev/v1" {
		t.Errorf("stored %s", got)
	}
	if err := store.Create(gaveUp, "", widget("v2"), nil, 0); !errors.Is(err, storageversion.ErrUnannounced) {
		t.Errorf("stored in another version than the announced one: %v", err)
	}
}

func versionsOf(t *testing.T, r *register, doors *customDoors) (*customAnnouncer, cache.Indexer) {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	v := &customAnnouncer{
		publisher: r, doors: doors, crds: crdlisters.NewCustomResourceDefinitionLister(indexer),
		synced:    func() bool { return true },
		queue:     workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		published: map[string]announcement{}, clock: clock.RealClock{}, troubles: newTroubles(clock.RealClock{}),
	}
	t.Cleanup(v.queue.ShutDown)
	return v, indexer
}

// Both directions of a flip, and the end of the definition.
func TestTheAnnouncementFollowsTheDefinition(t *testing.T) {
	r, doors := newRegister(), newCustomDoors()
	v, indexer := versionsOf(t, r, doors)
	for _, version := range []string{"v1", "v1", "v2", "v1"} {
		if err := indexer.Update(widgetCRD(version)); err != nil {
			t.Fatal(err)
		}
		if err := v.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := indexer.Delete(widgetCRD("v1")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := v.sync(t.Context(), "widgets.test.dev"); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"test.dev/v1", "test.dev/v2", "test.dev/v1", ""}; !slices.Equal(r.log, want) {
		t.Errorf("announced %q, want %q", r.log, want)
	}
}

// An announcement that failed may be in place all the same: it is tried again, also if the
// definition has gone back meanwhile, and taken back when the definition goes.
func TestAnAnnouncementThatFailedIsTriedAgain(t *testing.T) {
	r, doors := newRegister(), newCustomDoors()
	v, indexer := versionsOf(t, r, doors)
	step := stepsOf(t, v, indexer)
	if err := step("v1"); err != nil {
		t.Fatal(err)
	}
	r.fail = errors.New("refused for the test")
	if err := step("v2"); !errors.Is(err, r.fail) {
		t.Errorf("got %v", err)
	}
	if leave, err := doors.enter(t.Context(), widgets); err != nil {
		t.Error(err)
	} else {
		leave()
	}
	r.fail = nil
	if err := step("v1"); err != nil || len(r.log) != 2 {
		t.Errorf("announced %q, %v", r.log, err)
	}
	r.fail = errors.New("refused for the test")
	if err := step("v2"); err == nil {
		t.Error("it did not fail")
	}
	r.fail = nil
	if err := indexer.Delete(widgetCRD("v2")); err != nil {
		t.Fatal(err)
	}
	if err := v.sync(t.Context(), "widgets.test.dev"); err != nil || r.log[len(r.log)-1] != "" {
		t.Errorf("announced %q, %v", r.log, err)
	}
}

// stepsOf gives the definition of widgets another version to store, and has it announced.
func stepsOf(t *testing.T, v *customAnnouncer, indexer cache.Indexer) func(version string) error {
	return func(version string) error {
		if err := indexer.Update(widgetCRD(version)); err != nil {
			return err
		}
		return v.sync(t.Context(), "widgets.test.dev")
	}
}

// A write that does not end holds the worker that announces its resource for customDrain, and
// then the door opens again.
func TestAnAnnouncementWaitsForOlderWritesWithinABound(t *testing.T) {
	r, doors := newRegister(), newCustomDoors()
	v, indexer := versionsOf(t, r, doors)
	fake := clocktesting.NewFakeClock(time.Now())
	v.clock = fake
	step := stepsOf(t, v, indexer)
	if err := step("v1"); err != nil {
		t.Fatal(err)
	}
	leave, err := doors.enter(t.Context(), widgets)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	flipped := make(chan error, 1)
	go func() { flipped <- step("v2") }()
	for !fake.HasWaiters() {
		gort.Gosched()
	}
	fake.Step(customDrain)
	if err := <-flipped; err == nil || !strings.Contains(err.Error(), "have not ended") || len(r.log) != 1 {
		t.Errorf("announced %q, %v", r.log, err)
	}
	after, err := doors.enter(t.Context(), widgets)
	if err != nil {
		t.Fatal(err)
	}
	after()
}

// The last write in the old version ends before the new version is announced,
// and the next write waits for that.
func TestAFlipWaitsForWritesThatAreUnderWay(t *testing.T) {
	r, doors := newRegister(), newCustomDoors()
	v, indexer := versionsOf(t, r, doors)
	step := stepsOf(t, v, indexer)
	if err := step("v1"); err != nil {
		t.Fatal(err)
	}
	leave, err := doors.enter(t.Context(), widgets)
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	r.before = func() {
		select {
		case <-left:
		default:
			t.Error("the new version was announced while an older write was under way")
		}
	}
	flipped := make(chan error, 1)
	go func() { flipped <- step("v2") }()
	store, versions := storageOf(r, doors)
	stored := make(chan error, 1)
	go func() { stored <- store.Create(t.Context(), "", widget("v2"), nil, 0) }()
	close(left)
	leave()
	for _, done := range []chan error{flipped, stored} {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(customPatience):
			t.Fatal("did not come about")
		}
	}
	if got := <-versions; got != "test.dev/v2" {
		t.Errorf("stored %s", got)
	}
}
