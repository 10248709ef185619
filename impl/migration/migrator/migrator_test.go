package migrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// inWorld runs a test in virtual time.
func inWorld(t *testing.T, objects int, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newWorld(t, objects)) })
}

func TestEverythingIsMigrated(t *testing.T) {
	inWorld(t, 35, func(t *testing.T, w *world) {
		w.ask("m")
		defer w.start(Options{})()
		if got := w.ended("m"); got.Reason != migration.ReasonSucceeded || got.Message != "35 of 35 objects migrated to test.dev/v2." {
			t.Errorf("ended with %+v", got)
		}
		if w.old() > 0 {
			t.Errorf("%d objects are stored in the old version", w.old())
		}
		if got := w.storedVersions(); !slices.Equal(got, []string{"v2"}) {
			t.Errorf("storedVersions is %v", got)
		}
		if got := w.get("m").Status.ResourceVersion; got != "135" {
			t.Errorf("the recorded resourceVersion is %s", got)
		}
		w.until("the state is written down", func() bool { return w.state().Settled("test.dev/v2") })
		if s := w.state(); s.Generation != 1 || s.ObservedGeneration != 1 || s.CompletedGeneration != 1 || s.Reason == "" {
			t.Errorf("the state is %+v", s)
		}
		if left := w.records(migration.CheckpointRecord); len(left) > 0 {
			t.Errorf("the checkpoint is left over: %v", left[0].Data)
		}
	})
}

func TestAgreementIsWaitedFor(t *testing.T) {
	inWorld(t, 5, func(t *testing.T, w *world) {
		w.announce(storageVersion("51", "", "test.dev/v2", "test.dev/v1"))
		w.ask("m")
		defer w.start(Options{})()
		time.Sleep(10 * time.Minute)
		svm := w.get("m")
		if len(w.writes) > 0 || migration.Finished(svm) || len(svm.Status.Conditions) != 1 || svm.Status.Conditions[0].Reason != migration.ReasonAwaitingAgreement {
			t.Errorf("while the servers disagree: %v, %+v", w.writes, svm.Status)
		}
		w.announce(storageVersion("52", "test.dev/v2", "test.dev/v2", "test.dev/v2"))
		if got := w.ended("m"); got.Reason != migration.ReasonSucceeded {
			t.Errorf("ended with %+v", got)
		}
	})
}

// The story of one server that is rolled back in the middle of a migration.
func TestLossOfAgreementAborts(t *testing.T) {
	inWorld(t, 35, func(t *testing.T, w *world) {
		w.before = func(_ context.Context, n int, _ string) error {
			if n == 15 {
				w.announce(storageVersion("60", "", "test.dev/v2", "test.dev/v1"))
				w.encoding = "test.dev/v1"
			}
			return nil
		}
		w.ask("m")
		defer w.start(Options{})()
		if got := w.ended("m"); got.Type != string(storagemigrationv1.MigrationFailed) || got.Reason != migration.ReasonAgreementLost {
			t.Errorf("ended with %+v", got)
		}
		if w.attempts() >= 35 {
			t.Errorf("%d objects were written although the agreement was lost at the 15th", w.attempts())
		}
		if got := w.storedVersions(); len(got) != 2 {
			t.Errorf("storedVersions was trimmed to %v", got)
		}
		w.until("the state is written down", func() bool { return slices.Contains(w.state().Persisted, "test.dev/v1") })
	})
}

// Without the object there is no agreement, and nothing to remember.
func TestAStorageVersionThatGoesAborts(t *testing.T) {
	inWorld(t, 35, func(t *testing.T, w *world) {
		w.before = func(_ context.Context, n int, _ string) error {
			if n == 15 {
				w.retire()
			}
			return nil
		}
		defer w.start(Options{})()
		w.until("the state is written down", func() bool { return len(w.records(migration.StateRecord)) > 0 })
		w.ask("m")
		if got := w.ended("m"); got.Type != string(storagemigrationv1.MigrationFailed) || got.Reason != migration.ReasonAgreementLost {
			t.Errorf("ended with %+v", got)
		}
		if w.attempts() >= 35 {
			t.Errorf("%d objects were written although the storage version went at the 15th", w.attempts())
		}
		w.until("the state is forgotten", func() bool { return len(w.records(migration.StateRecord)) == 0 })
	})
}

// A leader that cannot record an outcome any more leaves that to the next one.
func TestAnOutcomeThatCannotBeRecordedHoldsNobodyUp(t *testing.T) {
	inWorld(t, 35, func(t *testing.T, w *world) {
		mute := atomic.Bool{}
		w.client.PrependReactor("update", "storageversionmigrations", func(clienttesting.Action) (bool, runtime.Object, error) {
			return mute.Load(), nil, errors.New("no answer")
		})
		w.before = func(_ context.Context, n int, _ string) error {
			if n == 15 {
				mute.Store(true)
				w.announce(storageVersion("60", "", "test.dev/v2", "test.dev/v1"))
			}
			return nil
		}
		w.ask("m")
		stop := w.start(Options{})
		w.until("the worker is stopped", func() bool { return w.attempts() >= 15 })
		time.Sleep(time.Minute)
		stop()
		mute.Store(false)
		defer w.start(Options{})()
		if got := w.ended("m"); got.Reason != migration.ReasonAgreementLost {
			t.Errorf("ended with %+v", got)
		}
	})
}

// An agreement that was lost and formed again between two reads is not the same.
func TestAnAgreementThatMovedMeansAnotherPass(t *testing.T) {
	inWorld(t, 35, func(t *testing.T, w *world) {
		w.before = func(_ context.Context, n int, _ string) error {
			if n == 15 {
				w.announce(storageVersion("60", "test.dev/v2", "test.dev/v2", "test.dev/v2"))
				w.stored["w001"].version = "test.dev/v1"
				w.stored["w001"].revision = 1
			}
			return nil
		}
		w.ask("m")
		defer w.start(Options{})()
		if got := w.ended("m"); got.Reason != migration.ReasonSucceeded || !strings.Contains(got.Message, "in pass 2") {
			t.Errorf("ended with %+v", got)
		}
		if w.old() > 0 {
			t.Errorf("%d objects are stored in the old version", w.old())
		}
	})
}

// crashAt asks for a migration, whose worker is killed at a write.
func (w *world) crashAt(write int) {
	reached := make(chan struct{})
	w.before = func(ctx context.Context, n int, _ string) error {
		if n != write {
			return nil
		}
		close(reached)
		w.mu.Unlock()
		<-ctx.Done()
		w.mu.Lock()
		return ctx.Err()
	}
	w.ask("m")
	stop := w.start(Options{})
	<-reached
	stop()
}

// Killed at any write, the next worker repeats no more than the chunk in hand.
func TestACrashCostsOneChunkAtMost(t *testing.T) {
	for crash := 1; crash <= 35; crash++ {
		t.Run(fmt.Sprint(crash), func(t *testing.T) {
			inWorld(t, 35, func(t *testing.T, w *world) {
				w.crashAt(crash)
				if migration.Finished(w.get("m")) {
					t.Fatal("an outcome was told by a worker that crashed")
				}
				checkpoint := w.get("m").Status.ResourceVersion
				defer w.start(Options{})()
				if got := w.ended("m"); got.Reason != migration.ReasonSucceeded {
					t.Errorf("ended with %+v", got)
				}
				if w.old() > 0 || w.attempts() > 35+10 {
					t.Errorf("%d left in the old version, %d attempts", w.old(), w.attempts())
				}
				if got := w.get("m").Status.ResourceVersion; got != checkpoint || got == "" {
					t.Errorf("the recorded resourceVersion was %s and is %s", checkpoint, got)
				}
			})
		})
	}
}

func TestPassingErrorsDelay(t *testing.T) {
	inWorld(t, 30, func(t *testing.T, w *world) {
		answers := []error{
			apierrors.NewTooManyRequests("slow down", 3), apierrors.NewInternalError(errors.New("x")), apierrors.NewServiceUnavailable("x"),
			apierrors.NewTimeoutError("x", 1), errors.New("connection reset by peer"),
		}
		w.before = func(_ context.Context, n int, _ string) error {
			if n%3 == 0 {
				return answers[n/3%len(answers)]
			}
			return nil
		}
		failures := 5
		w.listing = func(metav1.ListOptions) error {
			if failures--; failures >= 0 && failures%2 == 0 {
				return apierrors.NewServiceUnavailable("x")
			}
			return nil
		}
		w.ask("m")
		defer w.start(Options{})()
		w.succeeds("m")
	})
}

// What users do meanwhile stays as they did it.
func TestUsersComeFirst(t *testing.T) {
	inWorld(t, 30, func(t *testing.T, w *world) {
		w.before = func(_ context.Context, n int, name string) error {
			switch n % 3 {
			case 0:
				delete(w.stored, name)
			case 1:
				w.store(name)
			}
			return nil
		}
		w.ask("m")
		defer w.start(Options{})()
		w.succeeds("m")
		if len(w.stored) != 20 || len(w.writes) != 10 {
			t.Errorf("%d objects exist, %d were written", len(w.stored), len(w.writes))
		}
	})
}

func TestARefusedObjectFailsTheMigrationAtItsEnd(t *testing.T) {
	for name, answer := range map[string]error{
		"refused":       apierrors.NewForbidden(widgets, "w003", errors.New("a policy says no")),
		"always broken": apierrors.NewInternalError(errors.New("cannot decode")),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 15, func(t *testing.T, w *world) {
				w.before = func(_ context.Context, _ int, name string) error {
					if name == "w003" {
						return answer
					}
					return nil
				}
				w.ask("m")
				defer w.start(Options{})()
				if got := w.ended("m"); got.Reason != migration.ReasonObjectsRefused || !strings.Contains(got.Message, "w003") {
					t.Errorf("ended with %+v", got)
				}
				if w.old() != 1 || len(w.storedVersions()) != 2 {
					t.Errorf("%d left in the old version, storedVersions is %v", w.old(), w.storedVersions())
				}
			})
		})
	}
}

func TestExpiredTokens(t *testing.T) {
	for _, token := range []string{"", "w009"} {
		t.Run("token "+token, func(t *testing.T) {
			inWorld(t, 35, func(t *testing.T, w *world) {
				expired := false
				w.listing = func(options metav1.ListOptions) error {
					if options.Continue == "w019" && !expired {
						expired = true
						err := apierrors.NewResourceExpired("too old")
						err.ErrStatus.ListMeta.Continue = token
						return err
					}
					return nil
				}
				w.ask("m")
				defer w.start(Options{})()
				if got := w.ended("m"); got.Reason != migration.ReasonSucceeded || w.old() > 0 || !expired {
					t.Errorf("ended with %+v, %d left, expired: %v", got, w.old(), expired)
				}
			})
		})
	}
}

func TestADeletedMigrationStopsAndMakesRoom(t *testing.T) {
	inWorld(t, 35, func(t *testing.T, w *world) {
		var marked bool
		w.before = func(_ context.Context, n int, _ string) error {
			if n == 12 {
				marked = w.marked()
				if err := w.client.StoragemigrationV1().StorageVersionMigrations().Delete(context.Background(), "m1", metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}
			return nil
		}
		w.ask("m1")
		defer w.start(Options{})()
		w.until("the worker has stopped", func() bool { return w.attempts() >= 12 && len(w.records(migration.CheckpointRecord)) == 0 })
		if w.attempts() >= 35 {
			t.Errorf("%d objects were written although the migration was deleted at the 12th", w.attempts())
		}
		synctest.Wait()
		if !marked || w.marked() {
			t.Errorf("the definition said that widgets were migrated: %v while they were, %v when the migration was deleted", marked, w.marked())
		}
		asked := time.Now()
		w.ask("m2")
		if got := w.ended("m2"); got.Reason != migration.ReasonSucceeded || time.Since(asked) > 10*time.Second {
			t.Errorf("the next one ended with %+v after %s", got, time.Since(asked))
		}
	})
}

func TestMigrationsOfOneResourceComeOneAfterTheOther(t *testing.T) {
	inWorld(t, 25, func(t *testing.T, w *world) {
		w.before = func(context.Context, int, string) error {
			started := 0
			for _, name := range []string{"b", "a"} {
				if svm, err := w.client.StoragemigrationV1().StorageVersionMigrations().Get(context.Background(), name, metav1.GetOptions{}); err == nil && migration.Started(svm) {
					started++
				}
			}
			if started != 1 {
				t.Errorf("%d migrations are running", started)
			}
			return nil
		}
		w.ask("b")
		w.ask("a")
		defer w.start(Options{})()
		a, b := w.ended("a"), w.ended("b")
		if a.Reason != migration.ReasonSucceeded || b.Reason != migration.ReasonSucceeded || b.LastTransitionTime.Before(&a.LastTransitionTime) {
			t.Errorf("a ended with %+v, b with %+v", a, b)
		}
		w.until("both are counted", func() bool { return w.state().CompletedGeneration == 2 })
	})
}

func TestUnknownResourcesFail(t *testing.T) {
	inWorld(t, 0, func(t *testing.T, w *world) {
		svm := &storagemigrationv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
		svm.Spec.Resource = metav1.GroupResource{Group: "nope.dev", Resource: "things"}
		w.create(svm)
		start := time.Now()
		defer w.start(Options{})()
		if got := w.ended("m"); got.Reason != migration.ReasonNotFound || time.Since(start) > 2*migration.UnknownGrace {
			t.Errorf("ended with %+v after %s", got, time.Since(start))
		}
		time.Sleep(time.Minute)
		for _, record := range w.records(migration.StateRecord) {
			if record.Name != migration.StateName(svName) {
				t.Errorf("%s is remembered", record.Name)
			}
		}
	})
}

// A resource that shares its storage with one of another group is migrated by the
// StorageVersion of that one.
func TestAResourceThatSharesItsStorageIsMigrated(t *testing.T) {
	inWorld(t, 15, func(t *testing.T, w *world) {
		w.shared = "old.dev"
		svm := &storagemigrationv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
		svm.Spec.Resource = metav1.GroupResource{Group: w.shared, Resource: "widgets"}
		w.create(svm)
		defer w.start(Options{})()
		w.succeeds("m")
	})
}

func TestAutomaticMigration(t *testing.T) {
	inWorld(t, 15, func(t *testing.T, w *world) {
		defer w.start(Options{Automatic: true})()
		if got := w.ended(svName + ".1"); got.Reason != migration.ReasonSucceeded || w.old() > 0 {
			t.Errorf("ended with %+v, %d left", got, w.old())
		}
		time.Sleep(time.Hour)
		count := func() int {
			list, err := w.client.StoragemigrationV1().StorageVersionMigrations().List(context.Background(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Items)
		}
		if got := count(); got != 1 {
			t.Errorf("%d migrations of what is stored in one version", got)
		}
		// A server that stored another version for a while is reason for another one.
		w.announce(storageVersion("70", "", "test.dev/v2", "test.dev/v1"))
		time.Sleep(time.Hour)
		if got := count(); got != 1 {
			t.Errorf("%d migrations while the servers disagree", got)
		}
		w.announce(storageVersion("71", "test.dev/v2", "test.dev/v2", "test.dev/v2"))
		if got := w.ended(svName + ".2"); got.Reason != migration.ReasonSucceeded {
			t.Errorf("ended with %+v", got)
		}
	})
}

func TestAutomaticMigrationTakesTheShortCircuit(t *testing.T) {
	inWorld(t, 5, func(t *testing.T, w *world) {
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
		defer w.start(Options{Automatic: true})()
		w.until("it is settled", func() bool { return w.state().Settled("test.dev/v2") })
		w.ask("m")
		if got := w.ended("m"); got.Reason != migration.ReasonShortCircuited || w.attempts() > 0 || len(w.lists) > 0 {
			t.Errorf("ended with %+v after %d writes and %d lists", got, w.attempts(), len(w.lists))
		}
		w.until("both are counted", func() bool { return w.state().CompletedGeneration == 2 })
	})
}
