package storageversion_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/defects"
	sv "github.com/evenkeel/evenkeel/impl/storageversion"
	"github.com/evenkeel/evenkeel/impl/storageversion/svtest"
)

// patience is how long a test waits for what is to come.
const patience = 8 * time.Second

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("did not come about: %s", what)
		}
	}
}

// persistedAll takes everything but the groups of reviews and example.com for
// built in.
type persistedAll struct{}

func (persistedAll) IsBuiltInPersisted(group, _ string) bool {
	return group != "authorization.k8s.io" && group != "example.com"
}

func resources(encoding string) []sv.Resource {
	list := []sv.Resource{{Resource: "secrets", Encoding: "v1", Decodable: []string{"v1"}, Served: []string{"v1"}}}
	for i := range 19 {
		list = append(list, sv.Resource{Group: "test.dev", Resource: fmt.Sprintf("things%d", i), Encoding: encoding,
			Decodable: []string{"test.dev/v1", "test.dev/v2"}, Served: []string{"test.dev/v1"}})
	}
	return list
}

type options struct {
	encoding string
	defects  defects.Set
	clock    clock.WithTicker
	duration time.Duration
	hooks    []func(clienttesting.Action) error
	silent   bool
	// drop is how many resources the server does not host.
	drop int
	// custom are published before the server runs, and then before is called.
	custom []sv.Resource
	before func()
}

// boot starts a server; stop ends it and waits.
func boot(t *testing.T, api *svtest.API, id string, o options) (m *sv.Manager, stop func()) {
	t.Helper()
	if o.encoding == "" {
		o.encoding = "test.dev/v1"
	}
	logger := klog.NewKlogr()
	list := resources(o.encoding)
	m, err := sv.New(sv.Config{ServerID: id, Hostname: "host-" + id, Resources: list[:len(list)-o.drop], Classifier: persistedAll{},
		Clock: o.clock, Rand: rand.New(rand.NewPCG(uint64(len(api.History())), uint64(len(id))+uint64(id[0]))), LeaseDuration: o.duration, Silent: o.silent, Defects: o.defects, Logger: &logger})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	for _, resource := range o.custom {
		if err := m.Publish(ctx, resource); err != nil {
			t.Fatal(err)
		}
	}
	if o.before != nil {
		o.before()
	}
	var running sync.WaitGroup
	client := api.Client(o.hooks...)
	running.Go(func() {
		if err := m.RunWith(ctx, client); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return m, stop
}

func await(t *testing.T, m *sv.Manager) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.WaitRegistered(ctx); err != nil {
		t.Fatal(err)
	}
}

func healthy(m *sv.Manager) bool { return m.HealthCheck().Check(nil) == nil }

// versions yields the revisions of storage versions, each with the identity
// Leases as they were.
func versions(api *svtest.API, visit func(r svtest.Revision, before, sv *apiserverinternalv1alpha1.StorageVersion, leases map[string]*coordinationv1.Lease)) {
	leases := map[string]*coordinationv1.Lease{}
	objects := map[string]*apiserverinternalv1alpha1.StorageVersion{}
	for _, r := range api.History() {
		switch obj := r.Object.(type) {
		case *coordinationv1.Lease:
			leases[obj.Name] = obj
			if r.Type == watch.Deleted {
				delete(leases, obj.Name)
			}
		case *apiserverinternalv1alpha1.StorageVersion:
			visit(r, objects[obj.Name], obj, leases)
			objects[obj.Name] = obj
		}
	}
}

func encodingOf(object *apiserverinternalv1alpha1.StorageVersion, id string) string {
	if object == nil {
		return ""
	}
	for _, entry := range object.Status.StorageVersions {
		if entry.APIServerID == id {
			return entry.EncodingVersion
		}
	}
	return ""
}

// judge checks what must hold in every revision of an honest run.
func judge(t *testing.T, api *svtest.API) {
	t.Helper()
	versions(api, func(r svtest.Revision, before, object *apiserverinternalv1alpha1.StorageVersion, leases map[string]*coordinationv1.Lease) {
		if errs := sv.ValidateStatus(&object.Status); len(errs) > 0 {
			t.Errorf("revision %d of %s: %v", r.Number, object.Name, errs)
		}
		for _, entry := range object.Status.StorageVersions {
			if leases[entry.APIServerID] == nil && encodingOf(before, entry.APIServerID) == "" {
				t.Errorf("revision %d of %s: %s reports before it joined", r.Number, object.Name, entry.APIServerID)
			}
		}
		if before == nil {
			return
		}
		for _, entry := range before.Status.StorageVersions {
			if leases[entry.APIServerID] != nil && (r.Type == watch.Deleted || encodingOf(object, entry.APIServerID) == "") {
				t.Errorf("revision %d of %s: the entry of %s, which takes part, is lost", r.Number, object.Name, entry.APIServerID)
			}
		}
	})
}

func TestConcurrentBoot(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	start := time.Now()
	var servers []*sv.Manager
	for _, id := range []string{"a", "bb", "ccc"} {
		m, _ := boot(t, api, id, options{})
		servers = append(servers, m)
	}
	for _, m := range servers {
		await(t, m)
		if !healthy(m) {
			t.Error("registered but not healthy")
		}
	}
	t.Logf("took %v, %d revisions", time.Since(start), len(api.History()))
	for _, resource := range resources("test.dev/v1") {
		object := api.StorageVersion(resource.Name())
		if object == nil || len(object.Status.StorageVersions) != 3 || ptr.Deref(object.Status.CommonEncodingVersion, "") != resource.Encoding {
			t.Errorf("%s: %+v", resource.Name(), object)
		}
	}
	for _, id := range []string{"a", "bb", "ccc"} {
		if lease := api.Lease(id); lease == nil || !sv.Registered(lease) || !strings.HasPrefix(*lease.Spec.HolderIdentity, id+"_") {
			t.Errorf("lease of %s: %+v", id, lease)
		}
	}
	judge(t, api)
}

func svRevisions(api *svtest.API) (count int) {
	versions(api, func(svtest.Revision, *apiserverinternalv1alpha1.StorageVersion, *apiserverinternalv1alpha1.StorageVersion, map[string]*coordinationv1.Lease) {
		count++
	})
	return count
}

func TestRestart(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	for _, id := range []string{"a", "b"} {
		m, stop := boot(t, api, id, options{})
		await(t, m)
		stop()
		if !healthy(m) || api.Lease(id) == nil {
			t.Error("a server that shuts down stays a participant")
		}
	}
	before := svRevisions(api)
	m, stop := boot(t, api, "a", options{})
	await(t, m)
	stop()
	if after := svRevisions(api); after != before {
		t.Errorf("a restart without a change made %d revisions", after-before)
	}
	m, stop = boot(t, api, "a", options{encoding: "test.dev/v2"})
	await(t, m)
	stop()
	if object := api.StorageVersion("test.dev.things0"); object.Status.CommonEncodingVersion != nil || object.Status.StorageVersions[0].EncodingVersion != "test.dev/v2" {
		t.Errorf("after the upgrade of one: %+v", object.Status)
	}
	m, _ = boot(t, api, "b", options{encoding: "test.dev/v2"})
	await(t, m)
	if object := api.StorageVersion("test.dev.things0"); ptr.Deref(object.Status.CommonEncodingVersion, "") != "test.dev/v2" {
		t.Errorf("after the upgrade of both: %+v", object.Status)
	}
	judge(t, api)
}

// A server of a release that lacks a resource takes its report back.
func TestWithdraw(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	for _, drop := range []int{0, 1} {
		m, stop := boot(t, api, "a", options{drop: drop})
		await(t, m)
		stop()
	}
	if object := api.StorageVersion("test.dev.things18"); len(object.Status.StorageVersions) != 0 || object.Status.CommonEncodingVersion != nil {
		t.Errorf("got %+v", object.Status)
	}
	if object := api.StorageVersion("test.dev.things17"); len(object.Status.StorageVersions) != 1 {
		t.Errorf("got %+v", object.Status)
	}
}

// A participant that has neither reported nor registered forbids agreement, and
// entries of servers that are gone are removed at boot, expired ones too.
func TestOthers(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	expired := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "old", Labels: map[string]string{sv.IdentityLabel: sv.IdentityValue}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("old_1"), LeaseDurationSeconds: ptr.To[int32](10),
			RenewTime: ptr.To(metav1.NewMicroTime(time.Now().Add(-time.Minute)))},
	}
	booting := expired.DeepCopy()
	booting.Name, booting.Spec.HolderIdentity, booting.Spec.RenewTime = "booting", ptr.To("booting_1"), ptr.To(metav1.NowMicro())
	api.Put(expired)
	api.Put(booting)
	entry := apiserverinternalv1alpha1.ServerStorageVersion{APIServerID: "old", EncodingVersion: "test.dev/v0", DecodableVersions: []string{"test.dev/v0"}}
	gone := entry
	gone.APIServerID = "gone"
	api.Put(&apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: "test.dev.things0"},
		Status: apiserverinternalv1alpha1.StorageVersionStatus{StorageVersions: []apiserverinternalv1alpha1.ServerStorageVersion{entry, gone}}})
	m, _ := boot(t, api, "a", options{})
	await(t, m)
	object := api.StorageVersion("test.dev.things0")
	if len(object.Status.StorageVersions) != 1 || object.Status.CommonEncodingVersion != nil {
		t.Errorf("got %+v", object.Status)
	}
	if api.Lease("old") != nil || api.Lease("booting") == nil {
		t.Error("the expired Lease goes and the other one stays")
	}
}

func TestRepair(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	m, _ := boot(t, api, "a", options{})
	await(t, m)
	api.Remove("storageversions", "", "test.dev.things0")
	eventually(t, "a deleted object is back", func() bool { return encodingOf(api.StorageVersion("test.dev.things0"), "a") != "" })
	edited := api.StorageVersion("test.dev.things1")
	edited.Status = apiserverinternalv1alpha1.StorageVersionStatus{}
	api.Put(edited)
	eventually(t, "an emptied object is repaired", func() bool { return encodingOf(api.StorageVersion("test.dev.things1"), "a") != "" })
	if !healthy(m) {
		t.Error("damage to objects must not fence the server")
	}
}

// Another client writes between every read and every write of the server, many times.
func TestConflictsEnd(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	other, _ := boot(t, api, "other", options{})
	await(t, other)
	adversary := api.Client()
	var hits atomic.Int32
	m, _ := boot(t, api, "a", options{hooks: []func(clienttesting.Action) error{func(action clienttesting.Action) error {
		if action.Matches("update", "storageversions/status") && hits.Add(1) <= 40 {
			name := action.(clienttesting.UpdateAction).GetObject().(*apiserverinternalv1alpha1.StorageVersion).Name
			object, err := adversary.InternalV1alpha1().StorageVersions().Get(context.Background(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			object.Annotations = map[string]string{"hit": fmt.Sprint(hits.Load())}
			_, err = adversary.InternalV1alpha1().StorageVersions().Update(context.Background(), object, metav1.UpdateOptions{})
			return err
		}
		return nil
	}}})
	await(t, m)
	judge(t, api)
}

func probe(m *sv.Manager, method, group, resource string) *httptest.ResponseRecorder {
	verb := map[string]string{http.MethodPost: "create", http.MethodGet: "list"}[method]
	info := &request.RequestInfo{IsResourceRequest: true, Verb: verb, APIGroup: group, APIVersion: "v1", Resource: resource, Namespace: "default"}
	req := httptest.NewRequest(method, "/x", nil)
	ctx := request.WithRequestInfo(req.Context(), info)
	req = req.WithContext(request.WithUser(ctx, &user.DefaultInfo{Name: "someone"}))
	w := httptest.NewRecorder()
	m.Barrier(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })).ServeHTTP(w, req)
	return w
}

func TestBarrier(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	var held atomic.Bool
	held.Store(true)
	m, _ := boot(t, api, "a", options{hooks: []func(clienttesting.Action) error{func(action clienttesting.Action) error {
		if held.Load() && action.Matches("update", "storageversions/status") {
			return errors.New("held")
		}
		return nil
	}}})
	eventually(t, "the server has joined", func() bool { return api.Lease("a") != nil })
	refused := probe(m, http.MethodPost, "apps", "deployments")
	if refused.Code != http.StatusServiceUnavailable || refused.Header().Get("Retry-After") != "1" ||
		!strings.Contains(refused.Body.String(), `"message":"storage version registration is not complete`) || !strings.Contains(refused.Body.String(), `"reason":"ServiceUnavailable"`) {
		t.Errorf("got %d %v %s", refused.Code, refused.Header(), refused.Body)
	}
	for _, pass := range [][3]string{{http.MethodGet, "apps", "deployments"}, {http.MethodPost, "authorization.k8s.io", "subjectaccessreviews"}, {http.MethodPost, "example.com", "things"}} {
		if got := probe(m, pass[0], pass[1], pass[2]); got.Code != http.StatusOK {
			t.Errorf("%v: %d", pass, got.Code)
		}
	}
	if healthy(m) || m.MayPersist("apps", "deployments") == nil || m.MayPersist("coordination.k8s.io", "leases") != nil {
		t.Error("before registration a server is not ready and stores nothing but Leases and storage versions")
	}
	held.Store(false)
	await(t, m)
	if got := probe(m, http.MethodPost, "apps", "deployments"); got.Code != http.StatusOK || !healthy(m) {
		t.Errorf("after registration: %d", got.Code)
	}
}

// A server that cannot renew is fenced when the time comes, by the first thing
// that asks and before any goroutine of its own has noticed; once it can renew
// again, it marks itself unregistered, registers again, and only then opens.
func TestFence(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Now())
	api := svtest.New(fake, nil)
	var cut atomic.Bool
	m, _ := boot(t, api, "a", options{clock: fake, duration: 12 * time.Second, hooks: []func(clienttesting.Action) error{func(action clienttesting.Action) error {
		if cut.Load() {
			return errors.New("cut off")
		}
		return nil
	}}})
	await(t, m)
	cut.Store(true)
	fake.Step(11 * time.Second)
	if !healthy(m) || probe(m, http.MethodPost, "apps", "deployments").Code != http.StatusOK {
		t.Error("fenced too early")
	}
	fake.Step(time.Second)
	if healthy(m) || probe(m, http.MethodPost, "apps", "deployments").Code != http.StatusServiceUnavailable {
		t.Error("not fenced in time")
	}
	before := len(api.History())
	cut.Store(false)
	eventually(t, "the server is back", func() bool {
		fake.Step(100 * time.Millisecond)
		return healthy(m)
	})
	revisions := api.History()[before:]
	if len(revisions) < 2 || sv.Registered(revisions[0].Object.(*coordinationv1.Lease)) || !sv.Registered(revisions[len(revisions)-1].Object.(*coordinationv1.Lease)) {
		t.Errorf("%d revisions, the first must void the mark and the last renew it", len(revisions))
	}
}

func TestLeaseDeleted(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	var joins atomic.Int32
	gate := make(chan struct{})
	m, _ := boot(t, api, "a", options{hooks: []func(clienttesting.Action) error{func(action clienttesting.Action) error {
		if action.Matches("create", "leases") && joins.Add(1) == 2 {
			<-gate
		}
		return nil
	}}})
	await(t, m)
	api.Remove("leases", "kube-system", "a")
	eventually(t, "the loss is noticed through the watch", func() bool { return !healthy(m) })
	if got := probe(m, http.MethodPost, "apps", "deployments"); got.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d", got.Code)
	}
	object := api.StorageVersion("test.dev.things0")
	object.Status = apiserverinternalv1alpha1.StorageVersionStatus{}
	api.Put(object)
	close(gate)
	eventually(t, "the server is back", func() bool { return healthy(m) })
	if encodingOf(api.StorageVersion("test.dev.things0"), "a") == "" || !sv.Registered(api.Lease("a")) {
		t.Error("it must have registered again")
	}
}

// Of two processes with one ID the younger takes over at once and the older
// stands aside, for good as long as the younger renews.
func TestTwins(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Now())
	api := svtest.New(fake, nil)
	older, _ := boot(t, api, "a", options{clock: fake, duration: 12 * time.Second})
	await(t, older)
	younger, stop := boot(t, api, "a", options{clock: fake, duration: 12 * time.Second, encoding: "test.dev/v2"})
	await(t, younger)
	eventually(t, "the older one is fenced", func() bool { return !healthy(older) })
	holder := *api.Lease("a").Spec.HolderIdentity
	for range 60 {
		// Let the younger one renew before its time is up. A timer that is set after the
		// clock has gone on would wait for the next time.
		eventually(t, "each has set both its timers", func() bool { return fake.Waiters() >= 4 })
		renewed := api.Lease("a").Spec.RenewTime.Time
		fake.Step(5 * time.Second)
		eventually(t, "a renewal", func() bool { return api.Lease("a").Spec.RenewTime.After(renewed) })
		if *api.Lease("a").Spec.HolderIdentity != holder || healthy(older) || !healthy(younger) {
			t.Fatal("they take turns")
		}
	}
	stop()
	eventually(t, "the older one takes part again once the younger has not renewed", func() bool {
		fake.Step(500 * time.Millisecond)
		return healthy(older)
	})
	if encodingOf(api.StorageVersion("test.dev.things0"), "a") != "test.dev/v1" {
		t.Error("without reporting again")
	}
}

func TestPublish(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	m, _ := boot(t, api, "a", options{})
	await(t, m)
	late := sv.Resource{Group: "late.dev", Resource: "things", Encoding: "late.dev/v1", Decodable: []string{"late.dev/v1"}}
	if err := m.Publish(context.Background(), late); err != nil {
		t.Fatal(err)
	}
	if encodingOf(api.StorageVersion("late.dev.things"), "a") != "late.dev/v1" {
		t.Error("not in place")
	}
	api.Remove("storageversions", "", "late.dev.things")
	eventually(t, "it is maintained", func() bool { return encodingOf(api.StorageVersion("late.dev.things"), "a") != "" })
	if m.Publish(context.Background(), sv.Resource{Group: "late.dev", Resource: "things"}) == nil {
		t.Error("a resource without versions is accepted")
	}
	flipped := late
	flipped.Encoding, flipped.Decodable = "late.dev/v2", []string{"late.dev/v1", "late.dev/v2"}
	for _, next := range []sv.Resource{flipped, late} {
		if err := m.MayPersistAs("late.dev", "things", next.Encoding); !errors.Is(err, sv.ErrUnannounced) {
			t.Errorf("%s may be stored before it is announced: %v", next.Encoding, err)
		}
		if err := m.Publish(context.Background(), next); err != nil {
			t.Fatal(err)
		}
		if err := m.MayPersistAs("late.dev", "things", next.Encoding); err != nil {
			t.Error(err)
		}
		if got := encodingOf(api.StorageVersion("late.dev.things"), "a"); got != next.Encoding {
			t.Errorf("the entry says %s, want %s", got, next.Encoding)
		}
	}
	if err := m.Withdraw(context.Background(), "late.dev", "things"); err != nil {
		t.Fatal(err)
	}
	if got := encodingOf(api.StorageVersion("late.dev.things"), "a"); got != "" {
		t.Errorf("withdrawn, and the entry says %s", got)
	}
	if m.MayPersistAs("late.dev", "things", late.Encoding) == nil {
		t.Error("withdrawn, and may be stored")
	}
}

// What is known before a server registers is announced before everything else,
// and again under each membership.
func TestPublishedBeforeRunComesFirst(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	logger := klog.NewKlogr()
	m, err := sv.New(sv.Config{ServerID: "a", Hostname: "h", Resources: resources("test.dev/v1"), Classifier: persistedAll{}, Logger: &logger})
	if err != nil {
		t.Fatal(err)
	}
	early := sv.Resource{Group: "early.dev", Resource: "things", Encoding: "early.dev/v1", Decodable: []string{"early.dev/v1"}}
	if err := m.Publish(t.Context(), early); err != nil {
		t.Fatal(err)
	}
	if m.MayPersistAs("early.dev", "things", early.Encoding) == nil {
		t.Error("may be stored before the server has joined")
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	// Workers run in parallel, so their order is not exact. The API refuses all other
	// objects until this one exists: if it is not among the first ones, it never will.
	othersWait := func(action clienttesting.Action) error {
		create, ok := action.(clienttesting.CreateAction)
		if !ok || action.GetResource().Resource != "storageversions" || api.StorageVersion("early.dev.things") != nil {
			return nil
		}
		if object := create.GetObject().(*apiserverinternalv1alpha1.StorageVersion); object.Name != "early.dev.things" {
			return apierrors.NewServiceUnavailable("others come first")
		}
		return nil
	}
	running.Go(func() { _ = m.RunWith(ctx, api.Client(othersWait)) })
	defer running.Wait()
	defer cancel()
	await(t, m)
	if err := m.MayPersistAs("early.dev", "things", early.Encoding); err != nil {
		t.Error(err)
	}
	api.Remove("leases", "kube-system", "a")
	eventually(t, "it is announced again under the next membership", func() bool {
		return api.Lease("a") != nil && m.MayPersistAs("early.dev", "things", early.Encoding) == nil
	})
}

func TestConfig(t *testing.T) {
	good := sv.Config{ServerID: "a", Hostname: "h", Classifier: persistedAll{}}
	if _, err := sv.New(good); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*sv.Config){
		"no ID":             func(c *sv.Config) { c.ServerID = "" },
		"long host name":    func(c *sv.Config) { c.Hostname = strings.Repeat("h", 64) },
		"no classifier":     func(c *sv.Config) { c.Classifier = nil },
		"half a second":     func(c *sv.Config) { c.LeaseDuration = 1500 * time.Millisecond },
		"renews too seldom": func(c *sv.Config) { c.LeaseDuration, c.RenewInterval = time.Second, time.Second },
		"listed twice":      func(c *sv.Config) { c.Resources = append(resources("test.dev/v1"), resources("test.dev/v1")...) },
		"undecodable":       func(c *sv.Config) { c.Resources = resources("test.dev/v9") },
	} {
		config := good
		change(&config)
		if _, err := sv.New(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Each defect shows in what the API or a client gets to see.
func TestDefects(t *testing.T) {
	lost := func(api *svtest.API) (count int) {
		versions(api, func(_ svtest.Revision, before, object *apiserverinternalv1alpha1.StorageVersion, _ map[string]*coordinationv1.Lease) {
			if before != nil && len(object.Status.StorageVersions) < len(before.Status.StorageVersions) {
				count++
			}
		})
		return count
	}
	set := func(id defects.ID) (defects.Set, *svtest.API) {
		d := defects.Of(id)
		return d, svtest.New(clock.RealClock{}, d)
	}
	t.Run("SV-01", func(t *testing.T) {
		d, api := set(defects.SV01SkipsAResource)
		m, _ := boot(t, api, "a", options{defects: d})
		await(t, m)
		if api.StorageVersion("core.secrets") != nil {
			t.Error("published")
		}
	})
	t.Run("SV-02", func(t *testing.T) {
		d, api := set(defects.SV02NamelessCore)
		m, _ := boot(t, api, "a", options{defects: d})
		await(t, m)
		if api.StorageVersion("core.secrets") == nil || api.StorageVersion("secrets") == nil {
			t.Error("not published twice")
		}
	})
	t.Run("SV-03", func(t *testing.T) {
		d, api := set(defects.SV03DuplicateEntry)
		m, _ := boot(t, api, "a", options{defects: d})
		await(t, m)
		if len(api.StorageVersion("core.secrets").Status.StorageVersions) != 2 {
			t.Error("no duplicate")
		}
	})
	t.Run("SV-09", func(t *testing.T) {
		// Each goes over the resources in an order of its own, so that once in many
		// thousand times two of them meet nowhere.
		for range 3 {
			d, api := set(defects.SV09BlindWrite)
			a, _ := boot(t, api, "a", options{defects: d})
			b, _ := boot(t, api, "b", options{defects: d})
			await(t, a)
			await(t, b)
			if lost(api) > 0 || slices.ContainsFunc(resources("test.dev/v1"), func(r sv.Resource) bool {
				return len(api.StorageVersion(r.Name()).Status.StorageVersions) < 2
			}) {
				return
			}
		}
		t.Error("nothing was lost")
	})
	t.Run("SV-11", func(t *testing.T) {
		d, api := set(defects.SV11LateJoin)
		m, _ := boot(t, api, "a", options{defects: d})
		await(t, m)
		if _, lease := api.History()[1].Object.(*coordinationv1.Lease); lease || encodingOf(api.StorageVersion("core.secrets"), "a") == "" {
			t.Error("joined first")
		}
	})
	t.Run("SV-12", func(t *testing.T) {
		d, api := set(defects.SV12WrongRefusal)
		m, _ := boot(t, api, "a", options{defects: d, hooks: []func(clienttesting.Action) error{func(clienttesting.Action) error { return errors.New("cut off") }}})
		if got := probe(m, http.MethodPost, "apps", "deployments"); got.Code != http.StatusForbidden {
			t.Errorf("got %d", got.Code)
		}
	})
	t.Run("SV-14", func(t *testing.T) {
		d, api := set(defects.SV14ReadyEarly)
		m, _ := boot(t, api, "a", options{defects: d})
		if !healthy(m) || probe(m, http.MethodPost, "apps", "deployments").Code != http.StatusServiceUnavailable {
			t.Error("not ready early")
		}
		d, api = set(defects.SV14BarrierLingers)
		m, _ = boot(t, api, "b", options{defects: d})
		await(t, m)
		if !healthy(m) || probe(m, http.MethodPost, "apps", "deployments").Code != http.StatusServiceUnavailable {
			t.Error("does not linger")
		}
	})
	t.Run("SV-17", func(t *testing.T) {
		d, api := set(defects.SV17KeepsStaleAtBoot)
		first, stop := boot(t, api, "gone", options{})
		await(t, first)
		stop()
		api.Remove("leases", "kube-system", "gone")
		m, _ := boot(t, api, "a", options{defects: d})
		await(t, m)
		if encodingOf(api.StorageVersion("core.secrets"), "gone") == "" {
			t.Error("not kept")
		}
	})
	t.Run("SV-21", func(t *testing.T) {
		d, api := set(defects.SV21VanishingEntry)
		m, stop := boot(t, api, "a", options{})
		await(t, m)
		stop()
		m, _ = boot(t, api, "a", options{defects: d})
		await(t, m)
		if lost(api) == 0 || encodingOf(api.StorageVersion("core.secrets"), "a") == "" {
			t.Error("did not vanish, or did not return")
		}
	})
	t.Run("SV-23", func(t *testing.T) {
		d := defects.Of(defects.SV23Touches)
		fake := clocktesting.NewFakeClock(time.Now())
		api := svtest.New(fake, d)
		m, _ := boot(t, api, "a", options{defects: d, clock: fake})
		await(t, m)
		before := svRevisions(api)
		eventually(t, "a round of touches", func() bool {
			fake.Step(time.Second)
			return svRevisions(api) >= before+20
		})
	})
}

// A registered server writes nothing, however many rounds it makes.
func TestQuiet(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Now())
	api := svtest.New(fake, nil)
	var rounds atomic.Int32
	m, _ := boot(t, api, "a", options{clock: fake, hooks: []func(clienttesting.Action) error{func(action clienttesting.Action) error {
		if action.Matches("list", "storageversions") {
			rounds.Add(1)
		}
		return nil
	}}})
	await(t, m)
	before := svRevisions(api)
	eventually(t, "ten rounds", func() bool {
		fake.Step(20 * time.Second)
		return rounds.Load() > 12
	})
	if after := svRevisions(api); after != before {
		t.Errorf("%d revisions in quiet", after-before)
	}
}
