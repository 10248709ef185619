package controllermanager

import (
	"context"
	"errors"
	"fmt"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/storageversion"
	"github.com/evenkeel/evenkeel/impl/storageversion/svtest"
)

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

func lease(id string, registered bool) *coordinationv1.Lease {
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: storageversion.LeaseNamespace, Name: id, Labels: map[string]string{storageversion.IdentityLabel: storageversion.IdentityValue}},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To(id + "_1"), LeaseDurationSeconds: ptr.To[int32](3600)},
	}
	if registered {
		l.Annotations = map[string]string{storageversion.RegisteredAnnotation: id + "_1/abc"}
	}
	return l
}

func object(name string, created time.Time, entries ...string) *apiserverinternalv1alpha1.StorageVersion {
	sv := &apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(created)}}
	for pair := range slices.Chunk(entries, 2) {
		sv.Status.StorageVersions = append(sv.Status.StorageVersions, apiserverinternalv1alpha1.ServerStorageVersion{
			APIServerID: pair[0], EncodingVersion: pair[1], DecodableVersions: []string{"v1", "v2"}})
	}
	return sv
}

func agreed(api *svtest.API, name string) string {
	sv := api.StorageVersion(name)
	if sv == nil {
		return "deleted"
	}
	return ptr.Deref(sv.Status.CommonEncodingVersion, "none")
}

func optionsFor(c clock.WithTicker, d defects.Set) Options {
	logger := klog.NewKlogr()
	return Options{Identity: "test", Clock: c, Defects: d, Logger: &logger}
}

func start(t *testing.T, api *svtest.API, c clock.WithTicker, d defects.Set, hooks ...func(clienttesting.Action) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	client := api.Client(hooks...)
	running.Go(func() { collect(ctx, client, optionsFor(c, d), func() error { return nil }) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

func TestCollector(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	api.Put(lease("a", true))
	api.Put(lease("b", true))
	api.Put(object("core.x", time.Now(), "a", "v1", "b", "v2"))
	start(t, api, clock.RealClock{}, nil)
	eventually(t, "the condition is filled in", func() bool { return len(api.StorageVersion("core.x").Status.Conditions) == 1 })

	api.Remove("leases", storageversion.LeaseNamespace, "b")
	eventually(t, "the departed server is removed", func() bool { return agreed(api, "core.x") == "v1" })
	api.Put(lease("c", false))
	eventually(t, "who joined forbids agreement", func() bool { return agreed(api, "core.x") == "none" })
	api.Put(lease("c", true))
	eventually(t, "who registered without a report does not", func() bool { return agreed(api, "core.x") == "v1" })

	edited := api.StorageVersion("core.x")
	edited.Status.StorageVersions = append(edited.Status.StorageVersions, object("", time.Time{}, "invented", "v1").Status.StorageVersions...)
	api.Put(edited)
	eventually(t, "an invented server is removed", func() bool { return len(api.StorageVersion("core.x").Status.StorageVersions) == 1 })
	api.Remove("leases", storageversion.LeaseNamespace, "a")
	eventually(t, "an object without entries is deleted", func() bool { return agreed(api, "core.x") == "deleted" })
}

// A Lease that lost its label still stands for its server.
func TestUnlabeled(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	bare := lease("a", true)
	bare.Labels = nil
	api.Put(bare)
	api.Put(object("core.x", time.Now(), "a", "v1", "gone", "v2"))
	start(t, api, clock.RealClock{}, nil)
	eventually(t, "only the other one is removed", func() bool {
		sv := api.StorageVersion("core.x")
		return sv != nil && len(sv.Status.StorageVersions) == 1 && sv.Status.StorageVersions[0].APIServerID == "a"
	})
}

func TestGrace(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Now())
	api := svtest.New(fake, nil)
	var looked atomic.Int32
	api.Put(object("core.x", fake.Now()))
	start(t, api, fake, nil, func(action clienttesting.Action) error {
		if action.Matches("get", "storageversions") {
			looked.Add(1)
		}
		return nil
	})
	eventually(t, "a look", func() bool { return looked.Load() > 0 })
	eventually(t, "the collector waits", func() bool { return fake.Waiters() >= 2 })
	fake.Step(storageversion.EmptyGrace - 2*time.Second)
	if agreed(api, "core.x") != "none" {
		t.Error("deleted too early")
	}
	eventually(t, "the object is deleted in the end", func() bool {
		fake.Step(time.Second)
		return agreed(api, "core.x") == "deleted"
	})
}

// While the collector cannot list the participants, or cannot get one of them, it
// removes no entry; with the defect it removes all of them.
func TestUnsure(t *testing.T) {
	for _, verb := range []string{"list", "get"} {
		t.Run(verb, func(t *testing.T) {
			api := svtest.New(clock.RealClock{}, nil)
			api.Put(lease("a", true))
			api.Put(object("core.x", time.Now(), "a", "v1", "gone", "v2"))
			var failed atomic.Int32
			var healed atomic.Bool
			start(t, api, clock.RealClock{}, nil, func(action clienttesting.Action) error {
				if action.Matches(verb, "leases") && !healed.Load() {
					// The informer's own list accepts the server's cached state.
					if list, ok := action.(clienttesting.ListActionImpl); ok && list.ListOptions.ResourceVersion != "" {
						return nil
					}
					failed.Add(1)
					return errors.New("forbidden")
				}
				return nil
			})
			eventually(t, "several attempts", func() bool { return failed.Load() > 3 })
			if len(api.StorageVersion("core.x").Status.StorageVersions) != 2 {
				t.Error("stripped on an error")
			}
			healed.Store(true)
			eventually(t, "it is done afterwards", func() bool { return agreed(api, "core.x") == "v1" })
		})
	}
}

// Objects that are as they should be cost no requests, however many there are.
func TestCollectorAtRestSendsNothing(t *testing.T) {
	const objects = 3000
	fake := clocktesting.NewFakeClock(time.Now())
	api := svtest.New(fake, nil)
	api.Put(lease("a", true))
	for i := range objects {
		api.Put(object(fmt.Sprintf("core.x%d", i), fake.Now(), "a", "v1"))
	}
	var requests atomic.Int32
	start(t, api, fake, nil, func(clienttesting.Action) error {
		requests.Add(1)
		return nil
	})
	eventually(t, "all are settled", func() bool {
		for i := range objects {
			if agreed(api, fmt.Sprintf("core.x%d", i)) != "v1" {
				return false
			}
		}
		return true
	})
	// Each write shows in a watch, after which the object is looked at once more.
	before, quiet := requests.Load(), 0
	eventually(t, "nothing is sent any more", func() bool {
		last := before
		if before = requests.Load(); before != last {
			quiet = 0
		}
		quiet++
		return quiet == 50
	})
	for range 10 {
		eventually(t, "the collector waits", fake.HasWaiters)
		fake.Step(CollectorResync)
	}
	api.Put(object("core.y", fake.Now(), "a", "v1"))
	eventually(t, "a new object is settled", func() bool { return agreed(api, "core.y") == "v1" })
	if sent := requests.Load() - before; sent > 20 {
		t.Errorf("%d requests for %d objects at rest, in %s", sent, objects, 10*CollectorResync)
	}
}

// With the defect, every server counts as departed.
// An object that cannot be cleaned up is tried again after others, and shown until it has been.
func TestCollector_ShowsWhatFails(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Now())
	api := svtest.New(fake, nil)
	api.Put(lease("a", true))
	api.Put(object("core.x", fake.Now(), "a", "v1", "gone", "v2"))
	api.Put(object("core.y", fake.Now(), "a", "v1", "gone", "v2"))
	fails := true
	c := newCollector(api.Client(func(action clienttesting.Action) error {
		if update, ok := action.(clienttesting.UpdateAction); ok && fails && update.GetObject().(*apiserverinternalv1alpha1.StorageVersion).Name == "core.x" {
			return errors.New("refused for the test")
		}
		return nil
	}), optionsFor(fake, nil), func() error { return nil })
	defer c.queue.ShutDown()
	for _, name := range []string{"core.x", "core.y"} {
		c.queue.Add(name)
	}
	c.next(t.Context())
	c.next(t.Context())
	if trouble := c.troubles.Longest(); trouble == nil || !strings.Contains(trouble.Error(), "storage version core.x has failed 1 times") || agreed(api, "core.y") != "v1" {
		t.Errorf("it shows %v, and the other one is agreed on %s", trouble, agreed(api, "core.y"))
	}
	fails = false
	eventually(t, "it waits", fake.HasWaiters)
	fake.Step(CollectorRetryMax)
	c.next(t.Context())
	if trouble := c.troubles.Longest(); trouble != nil || agreed(api, "core.x") != "v1" {
		t.Errorf("it shows %v, and the object is agreed on %s", trouble, agreed(api, "core.x"))
	}
}

func TestStripsOnError(t *testing.T) {
	d := defects.Of(defects.SV20StripsOnError)
	api := svtest.New(clock.RealClock{}, d)
	api.Put(lease("a", true))
	api.Put(object("core.x", time.Now(), "a", "v1"))
	start(t, api, clock.RealClock{}, d, func(action clienttesting.Action) error {
		if action.Matches("list", "leases") {
			return errors.New("forbidden")
		}
		return nil
	})
	eventually(t, "all entries are removed", func() bool { return agreed(api, "core.x") == "deleted" })
}

// A server that reports between the collector's read and its write loses
// nothing, except to the defects.
func TestPreconditions(t *testing.T) {
	for _, tc := range []struct {
		name    string
		defects defects.Set
		verb    string
		entries []string
		lost    bool
	}{
		{"update", nil, "update", []string{"a", "v1", "gone", "v2"}, false},
		{"delete", nil, "delete", []string{"gone", "v2"}, false},
		{"update by defect", defects.Of(defects.SV19UnconditionalUpdate), "update", []string{"a", "v1", "gone", "v2"}, true},
		{"delete by defect", defects.Of(defects.SV19UnconditionalDelete), "delete", []string{"gone", "v2"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := svtest.New(clock.RealClock{}, tc.defects)
			api.Put(lease("a", true))
			api.Put(object("core.x", time.Now(), tc.entries...))
			var once, written atomic.Bool
			start(t, api, clock.RealClock{}, tc.defects, func(action clienttesting.Action) error {
				if action.Matches(tc.verb, "storageversions") || action.Matches(tc.verb, "storageversions/status") {
					if once.CompareAndSwap(false, true) {
						api.Put(lease("late", true))
						sv := api.StorageVersion("core.x")
						sv.Status.StorageVersions = append(sv.Status.StorageVersions, object("", time.Time{}, "late", "v1").Status.StorageVersions...)
						api.Put(sv)
					} else {
						written.Store(true)
					}
				}
				return nil
			})
			if tc.lost {
				eventually(t, "the entry is lost", func() bool {
					sv := api.StorageVersion("core.x")
					return sv == nil || len(sv.Status.StorageVersions) == 1 && sv.Status.StorageVersions[0].APIServerID == "a"
				})
				return
			}
			eventually(t, "the entry is there and the stale one is not", func() bool { return agreed(api, "core.x") == "v1" })
			sv := api.StorageVersion("core.x")
			if last := sv.Status.StorageVersions[len(sv.Status.StorageVersions)-1]; last.APIServerID != "late" {
				t.Errorf("got %+v", sv.Status)
			}
		})
	}
}

// One of two managers leads. When its Lease is taken from it, it stops and
// stands again; when it shuts down, it releases the Lease and the other follows.
func TestLeadership(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	type running struct {
		m    *ControllerManager
		stop func()
	}
	run := func(identity string) running {
		o := optionsFor(clock.RealClock{}, nil)
		o.Identity, o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = identity, 2*time.Second, time.Second, 50*time.Millisecond
		m := newFor(o, api.Client(), api.Client())
		ctx, cancel := context.WithCancel(context.Background())
		var wait sync.WaitGroup
		wait.Go(func() {
			if err := m.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		stop := func() {
			cancel()
			wait.Wait()
		}
		t.Cleanup(stop)
		return running{m, stop}
	}
	holder := func() string {
		if l := api.Lease(LeaseName); l != nil {
			return ptr.Deref(l.Spec.HolderIdentity, "")
		}
		return ""
	}
	first := run("first")
	eventually(t, "the first leads", func() bool { return holder() == "first" })
	run("second")
	api.Put(object("core.x", time.Now(), "gone", "v1"))
	eventually(t, "the leader collects", func() bool { return agreed(api, "core.x") == "deleted" })

	usurped := api.Lease(LeaseName)
	usurped.Spec.HolderIdentity, usurped.Spec.LeaseDurationSeconds = ptr.To("usurper"), ptr.To[int32](1)
	usurped.Spec.RenewTime = ptr.To(metav1.NowMicro())
	api.Put(usurped)
	eventually(t, "first or second leads again", func() bool { return holder() == "first" || holder() == "second" })
	first.stop()
	eventually(t, "the second leads", func() bool { return holder() == "second" })
	api.Put(object("core.x", time.Now(), "gone", "v1"))
	eventually(t, "the new leader collects", func() bool { return agreed(api, "core.x") == "deleted" })

	for _, path := range []string{"/healthz", "/readyz", "/livez"} {
		w := httptest.NewRecorder()
		first.m.Healthz().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestOptions(t *testing.T) {
	if _, err := New(Options{Kubeconfig: "/nowhere", Identity: "x"}); err == nil {
		t.Error("a kubeconfig that is not there is accepted")
	}
	if _, err := New(Options{}); err == nil {
		t.Error("no identity is accepted")
	}
}
