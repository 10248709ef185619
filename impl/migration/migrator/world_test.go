package migrator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensionsfake "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/published"
)

const svName = "test.dev.widgets"

var widgets = schema.GroupResource{Group: "test.dev", Resource: "widgets"}

// patience is virtual time: it costs nothing.
const patience = time.Hour

// world is a control plane in memory, with the custom resource widgets.
type world struct {
	// alter changes a Migrator before it runs, if it is set.
	alter      func(*Migrator)
	t          *testing.T
	client     *fake.Clientset
	extensions *extensionsfake.Clientset

	mu sync.Mutex
	// stored are the widgets, encoding what servers store them in.
	stored   map[string]*stored
	encoding string
	revision int
	// writes counts what was written to each.
	writes map[string]int
	// before is called before each write with the count of writes so far; an
	// error is the answer.
	before func(ctx context.Context, n int, name string) error
	// listing is called before each list.
	listing func(metav1.ListOptions) error
	lists   []metav1.ListOptions
	attempt int
	// gadgets are a resource of a built-in server, with whether each was written.
	gadgets map[string]bool
	// unserved: no server offers widgets.
	unserved atomic.Bool
	// shared is another group that widgets are in; empty for none.
	shared string
}

type stored struct {
	version  string
	uid      types.UID
	revision int
}

func newWorld(t *testing.T, count int) *world {
	w := &world{t: t, stored: map[string]*stored{}, encoding: "test.dev/v1", writes: map[string]int{}, revision: 100}
	for i := range count {
		w.store(fmt.Sprintf("w%03d", i))
	}
	w.encoding = "test.dev/v2"
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.test.dev", Generation: 2, ResourceVersion: "5"}}
	crd.Spec.Group = "test.dev"
	crd.Spec.Names.Plural = "widgets"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}, {Name: "v2", Served: true, Storage: true}}
	crd.Status.StoredVersions = []string{"v1", "v2"}
	w.extensions = extensionsfake.NewClientset(crd)
	// The tracker has no conflicts of definitions, which two write.
	definitions := apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	w.extensions.PrependReactor("update", definitions.Resource, func(action clienttesting.Action) (bool, runtime.Object, error) {
		next := action.(clienttesting.UpdateAction).GetObject().(*apiextensionsv1.CustomResourceDefinition).DeepCopy()
		w.mu.Lock()
		defer w.mu.Unlock()
		found, err := w.extensions.Tracker().Get(definitions, "", next.Name)
		if err != nil {
			return true, nil, err
		}
		now := found.(*apiextensionsv1.CustomResourceDefinition).ResourceVersion
		if next.ResourceVersion != now {
			return true, nil, apierrors.NewConflict(definitions.GroupResource(), next.Name, fmt.Errorf("%s is not %s", next.ResourceVersion, now))
		}
		w.revision++
		next.ResourceVersion = strconv.Itoa(w.revision)
		return true, next, w.extensions.Tracker().Update(definitions, next, "")
	})
	w.client = fake.NewClientset(storageVersion("50", "test.dev/v2", "test.dev/v2"))
	// The tracker knows no revisions of objects, which checkpoints need.
	versions := map[string]int{}
	w.client.PrependReactor("*", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
		update, ok := action.(clienttesting.UpdateAction)
		if !ok {
			return false, nil, nil
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		record := update.GetObject().(*corev1.ConfigMap)
		if now := strconv.Itoa(versions[record.Name]); action.GetVerb() == "update" && record.ResourceVersion != now && record.ResourceVersion != "" {
			return true, nil, apierrors.NewConflict(corev1.Resource("configmaps"), record.Name, fmt.Errorf("%s is not %s", record.ResourceVersion, now))
		}
		if _, err := w.client.Tracker().Get(action.GetResource(), action.GetNamespace(), record.Name); err == nil && action.GetVerb() == "create" {
			return false, nil, nil // It will be refused.
		}
		versions[record.Name]++
		record.ResourceVersion = strconv.Itoa(versions[record.Name])
		return false, nil, nil
	})
	uids := 0
	w.client.PrependReactor("create", "storageversionmigrations", func(action clienttesting.Action) (bool, runtime.Object, error) {
		svm := action.(clienttesting.CreateAction).GetObject().(*storagemigrationv1.StorageVersionMigration)
		w.mu.Lock()
		defer w.mu.Unlock()
		uids++
		svm.UID, svm.Generation = types.UID(fmt.Sprintf("svm-%d", uids)), 1
		if svm.CreationTimestamp.IsZero() {
			svm.CreationTimestamp = metav1.Now()
		}
		return false, nil, nil
	})
	return w
}

// storageVersion is an object in which servers encode as given.
func storageVersion(revision, agreed string, encodings ...string) *apiserverinternalv1alpha1.StorageVersion {
	sv := &apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: svName, UID: "sv", ResourceVersion: revision}}
	for i, encoding := range encodings {
		sv.Status.StorageVersions = append(sv.Status.StorageVersions, apiserverinternalv1alpha1.ServerStorageVersion{
			APIServerID: fmt.Sprintf("s%d", i), EncodingVersion: encoding, DecodableVersions: []string{"test.dev/v1", "test.dev/v2"}})
	}
	if agreed != "" {
		sv.Status.CommonEncodingVersion = &agreed
	}
	return sv
}

func (w *world) announce(sv *apiserverinternalv1alpha1.StorageVersion) {
	if _, err := w.client.InternalV1alpha1().StorageVersions().Update(context.Background(), sv, metav1.UpdateOptions{}); err != nil {
		w.t.Error(err)
	}
}

// retire has the servers of widgets go, and their entries with them.
func (w *world) retire() {
	if err := w.client.InternalV1alpha1().StorageVersions().Delete(context.Background(), svName, metav1.DeleteOptions{}); err != nil {
		w.t.Error(err)
	}
}

// waits wants a migration not to end for longer than an unknown resource may take to appear.
func (w *world) waits(name string) {
	w.t.Helper()
	time.Sleep(10 * migration.UnknownGrace)
	if svm := w.get(name); migration.Finished(svm) {
		w.t.Errorf("%s has ended: %+v", name, svm.Status)
	}
}

// store writes a widget as a user does; the caller holds the lock once there
// are others.
func (w *world) store(name string) {
	w.revision++
	if o, ok := w.stored[name]; ok {
		o.version, o.revision = w.encoding, w.revision
		return
	}
	w.stored[name] = &stored{version: w.encoding, uid: types.UID(fmt.Sprint(w.revision)), revision: w.revision}
}

// addGadgets adds another resource, with so many objects.
func (w *world) addGadgets(count int) {
	sv := storageVersion("49", "test.dev/v2", "test.dev/v2")
	sv.Name, sv.UID = "test.dev.gadgets", "sv-gadgets"
	if err := w.client.Tracker().Add(sv); err != nil {
		w.t.Fatal(err)
	}
	w.gadgets = map[string]bool{}
	for i := range count {
		w.gadgets[fmt.Sprintf("g%03d", i)] = false
	}
}

func (w *world) askForGadgets(name string) {
	svm := &storagemigrationv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	svm.Spec.Resource = metav1.GroupResource{Group: "test.dev", Resource: "gadgets"}
	w.create(svm)
}

func (w *world) list(_ context.Context, resource schema.GroupVersionResource, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if resource.Resource == "gadgets" {
		list := &unstructured.UnstructuredList{}
		list.SetResourceVersion(strconv.Itoa(w.revision))
		for _, name := range slices.Sorted(maps.Keys(w.gadgets)) {
			object := unstructured.Unstructured{Object: map[string]any{}}
			object.SetName(name)
			list.Items = append(list.Items, object)
		}
		return list, nil
	}
	w.lists = append(w.lists, options)
	if w.listing != nil {
		if err := w.listing(options); err != nil {
			return nil, err
		}
	}
	list := &unstructured.UnstructuredList{}
	list.SetResourceVersion(strconv.Itoa(w.revision))
	names := slices.Sorted(maps.Keys(w.stored))
	for i, name := range names {
		if name <= options.Continue {
			continue
		}
		if int64(len(list.Items)) == options.Limit {
			list.SetContinue(list.Items[len(list.Items)-1].GetName())
			rest := int64(len(names) - i)
			list.SetRemainingItemCount(&rest)
			break
		}
		object := unstructured.Unstructured{Object: map[string]any{}}
		object.SetName(name)
		object.SetUID(w.stored[name].uid)
		object.SetResourceVersion(strconv.Itoa(w.stored[name].revision))
		list.Items = append(list.Items, object)
	}
	return list, nil
}

// latency is how long a write takes; what is watched is seen meanwhile.
const latency = 10 * time.Millisecond

func (w *world) update(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured) error {
	time.Sleep(latency)
	w.mu.Lock()
	defer w.mu.Unlock()
	name := object.GetName()
	if resource.Resource == "gadgets" {
		w.gadgets[name] = true
		return nil
	}
	w.attempt++
	if w.before != nil {
		if err := w.before(ctx, w.attempt, name); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	o, ok := w.stored[name]
	switch {
	case !ok:
		return apierrors.NewNotFound(widgets, name)
	case o.uid != object.GetUID() || strconv.Itoa(o.revision) != object.GetResourceVersion():
		return apierrors.NewConflict(widgets, name, fmt.Errorf("it was changed"))
	}
	w.writes[name]++
	if o.version != w.encoding {
		w.store(name)
	}
	return nil
}

func (w *world) clients() clients {
	return clients{Interface: w.client, migrations: published.For(w.client), extensions: w.extensions, objects: w, targets: func(context.Context) (migration.Targets, error) {
		if w.unserved.Load() {
			return migration.Discover([]*metav1.APIResourceList{{GroupVersion: "test.dev/v2", APIResources: []metav1.APIResource{
				{Name: "gadgets", Verbs: metav1.Verbs{"list", "update"}}}}}, nil, nil, nil), nil
		}
		lists := []*metav1.APIResourceList{{GroupVersion: "test.dev/v2", APIResources: []metav1.APIResource{
			{Name: "widgets", Verbs: metav1.Verbs{"list", "update"}}, {Name: "gadgets", Verbs: metav1.Verbs{"list", "update"}}}}}
		if w.shared != "" {
			lists[0].APIResources[0].StorageVersionHash = "widgets"
			lists = append(lists, &metav1.APIResourceList{GroupVersion: w.shared + "/v2", APIResources: lists[0].APIResources[:1]})
		}
		return migration.Discover(lists, nil, sets.New(widgets), nil), nil
	}}
}

// start runs a Migrator; stop ends it and waits.
func (w *world) start(options Options) (stop func()) {
	logger := klog.NewKlogr()
	options.ChunkSize, options.Logger = 10, &logger
	if err := options.complete(); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	c := w.clients()
	c.objects = plantObjects(c.objects, nil, options.Defects)
	m := newMigrator(options, c)
	if w.alter != nil {
		w.alter(m)
	}
	running.Go(func() { m.run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

func (w *world) ask(name string) {
	svm := &storagemigrationv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	svm.Spec.Resource = metav1.GroupResource{Group: widgets.Group, Resource: widgets.Resource}
	w.create(svm)
}

func (w *world) create(svm *storagemigrationv1.StorageVersionMigration) {
	if _, err := w.client.StoragemigrationV1().StorageVersionMigrations().Create(context.Background(), svm, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(name string) *storagemigrationv1.StorageVersionMigration {
	svm, err := w.client.StoragemigrationV1().StorageVersionMigrations().Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return svm
}

// until waits for what is to come.
func (w *world) until(what string, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(250 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("did not come about: %s", what)
		}
	}
}

// succeeds waits until a migration has ended, which has to have left nothing in the old version.
func (w *world) succeeds(name string) {
	w.t.Helper()
	if got := w.ended(name); got.Reason != migration.ReasonSucceeded || w.old() > 0 {
		w.t.Errorf("ended with %+v, %d left in the old version", got, w.old())
	}
}

// ended waits for the outcome of a migration, and gives its condition.
func (w *world) ended(name string) metav1.Condition {
	w.t.Helper()
	w.until(name+" ends", func() bool {
		svm, err := w.client.StoragemigrationV1().StorageVersionMigrations().Get(context.Background(), name, metav1.GetOptions{})
		return err == nil && migration.Finished(svm)
	})
	synctest.Wait()
	svm := w.get(name)
	if errs := migration.ValidateStatus(&svm.Status); len(errs) > 0 {
		w.t.Errorf("the status would be refused: %v", errs)
	}
	for _, kind := range []storagemigrationv1.MigrationConditionType{storagemigrationv1.MigrationSucceeded, storagemigrationv1.MigrationFailed} {
		if condition := meta.FindStatusCondition(svm.Status.Conditions, string(kind)); condition != nil {
			return *condition
		}
	}
	w.t.Fatalf("%s has no outcome", name)
	return metav1.Condition{}
}

// attempts is how many writes were tried so far.
func (w *world) attempts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.attempt
}

// old is how many objects are not stored in the version that is agreed on.
func (w *world) old() (count int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.stored {
		if o.version != "test.dev/v2" {
			count++
		}
	}
	return count
}

func (w *world) storedVersions() []string {
	crd, err := w.extensions.ApiextensionsV1().CustomResourceDefinitions().Get(context.Background(), "widgets.test.dev", metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return crd.Status.StoredVersions
}

// marked is whether the definition says that widgets are being migrated.
func (w *world) marked() bool {
	found, err := w.extensions.Tracker().Get(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"), "", "widgets.test.dev")
	if err != nil {
		w.t.Fatal(err)
	}
	return apihelpers.IsCRDConditionTrue(found.(*apiextensionsv1.CustomResourceDefinition), apiextensionsv1.StorageMigrating)
}

// records are the ConfigMaps of a kind.
func (w *world) records(kind string) []corev1.ConfigMap {
	list, err := w.client.CoreV1().ConfigMaps(migration.RecordNamespace).List(context.Background(), metav1.ListOptions{LabelSelector: migration.RecordLabel + "=" + kind})
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

func (w *world) state() migration.State {
	for _, record := range w.records(migration.StateRecord) {
		if record.Name == migration.StateName(svName) {
			state, err := migration.DecodeState(record.Data[migration.RecordKey])
			if err != nil {
				w.t.Fatal(err)
			}
			return state
		}
	}
	return migration.State{}
}
