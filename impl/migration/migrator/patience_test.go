package migrator

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/evenkeel/evenkeel/impl/migration"
)

var notServed = apierrors.NewGenericServerResponse(http.StatusNotFound, "", widgets, "", "404 page not found", 0, true)

// delaysNoOther has a resource migrated beside one whose migration gets nowhere, and gives when
// that was asked for.
func (w *world) delaysNoOther() (asked time.Time) {
	w.t.Helper()
	w.addGadgets(20)
	w.ask("bad")
	time.Sleep(5 * time.Second)
	w.askForGadgets("good")
	asked = time.Now()
	if got := w.ended("good"); got.Reason != migration.ReasonSucceeded || time.Since(asked) > 2*migration.GiveWay {
		w.t.Errorf("the other one ended with %+v after %s", got, time.Since(asked))
	}
	return asked
}

// A resource that cannot be read delays no other one, and its own migration ends or tells
// why it does not.
func TestResourceThatCannotBeReadDelaysNoOther(t *testing.T) {
	for name, test := range map[string]struct {
		answer error
		// within is how long the migration may take to fail; 0 is that it goes on.
		within time.Duration
	}{
		"conversion webhook is down":   {apierrors.NewInternalError(errors.New("conversion webhook failed")), migration.ObjectPatience + time.Minute},
		"aggregated server forbids":    {apierrors.NewForbidden(widgets, "", errors.New("no")), time.Minute},
		"aggregated server is down":    {apierrors.NewServiceUnavailable("no endpoints"), 0},
		"aggregated server is removed": {notServed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 15, func(t *testing.T, w *world) {
				w.listing = func(metav1.ListOptions) error { return test.answer }
				defer w.start(Options{})()
				asked := w.delaysNoOther()
				if test.within == 0 {
					time.Sleep(20 * time.Minute)
					running := meta.FindStatusCondition(w.get("bad").Status.Conditions, string(storagemigrationv1.MigrationRunning))
					if migration.Finished(w.get("bad")) || (running == nil || running.Reason != migration.ReasonRetrying) && name != "aggregated server is removed" {
						t.Errorf("the status is %+v", w.get("bad").Status)
					}
					return
				}
				if got := w.ended("bad"); got.Reason != migration.ReasonUnreadable || time.Since(asked) > test.within {
					t.Errorf("ended with %+v after %s", got, time.Since(asked))
				}
			})
		})
	}
}

// A worker that gives way leaves while the loop looks at the migrations: the next worker is
// for the one that has waited, though the loop looked at it before.
func TestWorkerThatLeavesDuringAPass(t *testing.T) {
	inWorld(t, 15, func(t *testing.T, w *world) {
		w.listing = func(metav1.ListOptions) error { return apierrors.NewServiceUnavailable("no endpoints") }
		w.alter = func(m *Migrator) {
			gave, sound := false, m.decide
			m.decide.givesWay = func(stuck error) bool {
				gave = gave || stuck != nil
				return sound.givesWay(stuck)
			}
			m.decide.busy = func(svm, at types.UID) bool {
				for gave && at != "" && m.crew.busy() == at {
					time.Sleep(time.Millisecond)
				}
				gave = false
				return sound.busy(svm, at)
			}
		}
		defer w.start(Options{})()
		w.delaysNoOther()
	})
}

// The server of a resource that was unreachable comes back.
func TestOutageDelays(t *testing.T) {
	inWorld(t, 15, func(t *testing.T, w *world) {
		back := time.Now().Add(time.Hour)
		w.listing = func(metav1.ListOptions) error {
			if time.Now().Before(back) {
				return apierrors.NewServiceUnavailable("no endpoints")
			}
			return nil
		}
		w.ask("m")
		defer w.start(Options{})()
		time.Sleep(30 * time.Minute)
		if got := w.ended("m"); got.Reason != migration.ReasonSucceeded || w.old() > 0 {
			t.Errorf("ended with %+v", got)
		}
	})
}

func TestOutageThatDoesNotEndFails(t *testing.T) {
	inWorld(t, 15, func(t *testing.T, w *world) {
		w.listing = func(metav1.ListOptions) error { return apierrors.NewServiceUnavailable("no endpoints") }
		w.ask("m")
		defer w.start(Options{})()
		time.Sleep(migration.OutagePatience - time.Hour)
		if migration.Finished(w.get("m")) {
			t.Fatalf("the status is %+v", w.get("m").Status)
		}
		time.Sleep(2 * time.Hour)
		if got := w.ended("m"); got.Reason != migration.ReasonUnreadable {
			t.Errorf("ended with %+v", got)
		}
	})
}

// An object that the server cannot store delays no other resource, and worker after worker
// goes on being patient where the one before it ended.
func TestObjectThatCannotBeWrittenDelaysNoOtherResource(t *testing.T) {
	inWorld(t, 15, func(t *testing.T, w *world) {
		w.before = func(_ context.Context, _ int, name string) error {
			if name == "w003" {
				return apierrors.NewInternalError(errors.New("a webhook is down"))
			}
			return nil
		}
		w.addGadgets(20)
		w.ask("bad")
		asked := time.Now()
		defer w.start(Options{})()
		for n := range 5 {
			name := "good" + string(rune('a'+n))
			time.Sleep(time.Minute)
			w.askForGadgets(name)
			began := time.Now()
			if got := w.ended(name); got.Reason != migration.ReasonSucceeded || time.Since(began) > 2*migration.GiveWay {
				t.Errorf("%s ended with %+v after %s", name, got, time.Since(began))
			}
		}
		if got := w.ended("bad"); got.Reason != migration.ReasonObjectsRefused || !strings.Contains(got.Message, "w003") || time.Since(asked) > migration.ObjectPatience+3*time.Minute {
			t.Errorf("ended with %+v after %s", got, time.Since(asked))
		}
		if w.old() != 1 {
			t.Errorf("%d left in the old version", w.old())
		}
	})
}

// A webhook that is down for all objects of a resource is not waited for object by object.
func TestPatienceWithObjectsIsNotSpentForEach(t *testing.T) {
	inWorld(t, 15, func(t *testing.T, w *world) {
		w.before = func(context.Context, int, string) error {
			return apierrors.NewInternalError(errors.New("a webhook is down"))
		}
		w.ask("m")
		asked := time.Now()
		defer w.start(Options{})()
		if got := w.ended("m"); got.Reason != migration.ReasonObjectsRefused || time.Since(asked) > 2*migration.ObjectPatience+5*time.Minute {
			t.Errorf("ended with %+v after %s", got, time.Since(asked))
		}
	})
}

// When an APIService or a definition is deleted, the server answers 404 for each object,
// as it does for objects that were deleted.
func TestResourceThatWentIsNotTakenForDeletedObjects(t *testing.T) {
	inWorld(t, 35, func(t *testing.T, w *world) {
		gone := false
		w.before = func(_ context.Context, n int, _ string) error {
			if n == 15 {
				gone = true
				w.unserved.Store(true)
			}
			if gone {
				return notServed
			}
			return nil
		}
		w.listing = func(metav1.ListOptions) error {
			if gone {
				return notServed
			}
			return nil
		}
		w.ask("m")
		defer w.start(Options{})()
		// Its servers announce it all the same.
		w.waits("m")
		w.retire()
		if got := w.ended("m"); got.Reason != migration.ReasonNotFound {
			t.Errorf("ended with %+v, %d left in the old version", got, w.old())
		}
	})
}

// ...and the resource comes back, also after long: every object is migrated.
func TestResourceThatReturnsLateIsMigrated(t *testing.T) {
	inWorld(t, 35, func(t *testing.T, w *world) {
		w.before = func(_ context.Context, n int, _ string) error {
			if n == 15 {
				w.unserved.Store(true)
			}
			if w.unserved.Load() {
				return notServed
			}
			return nil
		}
		w.ask("m")
		defer w.start(Options{})()
		w.waits("m")
		w.unserved.Store(false)
		w.succeeds("m")
	})
}

// ...or soon.
func TestResourceThatReturnsIsMigrated(t *testing.T) {
	inWorld(t, 35, func(t *testing.T, w *world) {
		until := time.Time{}
		w.before = func(_ context.Context, n int, _ string) error {
			if n == 15 {
				until = time.Now().Add(2 * time.Second)
			}
			if time.Now().Before(until) {
				return notServed
			}
			return nil
		}
		w.ask("m")
		defer w.start(Options{})()
		w.succeeds("m")
	})
}

// A short circuit follows from what the API server has, not from what a watch showed.
func TestShortCircuitIsReadFromTheServer(t *testing.T) {
	inWorld(t, 15, func(t *testing.T, w *world) {
		only := storageVersion("55", "test.dev/v2", "test.dev/v2")
		only.Status.StorageVersions[0].DecodableVersions = []string{"test.dev/v2"}
		w.announce(only)
		crd, err := w.extensions.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), "widgets.test.dev", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		crd.Spec.Versions, crd.Status.StoredVersions = crd.Spec.Versions[1:], []string{"v2"}
		if _, err := w.extensions.ApiextensionsV1().CustomResourceDefinitions().Update(t.Context(), crd, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.client.PrependReactor("get", "storageversions", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, storageVersion("60", "", "test.dev/v2", "test.dev/v1"), nil
		})
		w.ask("m")
		defer w.start(Options{})()
		time.Sleep(10 * time.Minute)
		if migration.Finished(w.get("m")) || w.state().Settled("test.dev/v2") {
			t.Errorf("the status is %+v, the state %+v", w.get("m").Status, w.state())
		}
	})
}

// A chunk that takes long is told of before it is done.
func TestSlowChunkIsToldOf(t *testing.T) {
	inWorld(t, 10, func(t *testing.T, w *world) {
		w.before = func(context.Context, int, string) error {
			w.mu.Unlock()
			time.Sleep(3 * time.Second)
			w.mu.Lock()
			return nil
		}
		w.ask("m")
		defer w.start(Options{})()
		w.until("the first half is told of", func() bool {
			running := meta.FindStatusCondition(w.get("m").Status.Conditions, string(storagemigrationv1.MigrationRunning))
			return running != nil && running.Message != "0 objects migrated to test.dev/v2." && w.attempts() < 10
		})
		if got := w.ended("m"); got.Reason != migration.ReasonSucceeded || got.Message != "10 of 10 objects migrated to test.dev/v2." {
			t.Errorf("ended with %+v", got)
		}
	})
}
