package migrator

import (
	"context"
	"strings"
	"testing"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/migration"
)

// A controller that goes on repeats three tenths of the objects, of which a quarter may be
// written again, and nothing is left in the old version.
func TestPlanted_SVM12GoesBackByMoreThanMayBeRepeated(t *testing.T) {
	const objects, crash = 100, 65
	for id, again := range map[defects.ID]int{"": 0, defects.SVM12GoesBack: 30} {
		t.Run(string(id), func(t *testing.T) {
			inWorld(t, objects, func(t *testing.T, w *world) {
				w.crashAt(crash)
				planted := Options{}
				if id != "" {
					planted.Defects = defects.Of(id)
				}
				defer w.start(planted)()
				w.succeeds("m")
				// The chunk that was not noted down is repeated in any case, and the crash may
				// cost the write that comes next, too.
				if got, want := w.attempts(), crash+(objects-60)+again; got != want && got != want+1 {
					t.Errorf("%d writes, want %d", got, want)
				}
			})
		})
	}
}

func TestPlanted_SVM17TellsLate(t *testing.T) {
	for id, late := range map[defects.ID]bool{"": false, defects.SVM17TellsLate: true} {
		t.Run(string(id), func(t *testing.T) {
			inWorld(t, 30, func(t *testing.T, w *world) {
				w.before = func(context.Context, int, string) error {
					w.mu.Unlock()
					time.Sleep(time.Second)
					w.mu.Lock()
					return nil
				}
				w.ask("m")
				var options Options
				if id != "" {
					options.Defects = defects.Of(id)
				}
				defer w.start(options)()
				running := func() string {
					if c := meta.FindStatusCondition(w.get("m").Status.Conditions, string(storagemigrationv1.MigrationRunning)); c != nil {
						return c.Message
					}
					return ""
				}
				w.until("it runs", func() bool { return running() != "" })
				began, first := time.Now(), running()
				w.until("it tells of progress", func() bool { return running() != first })
				if took := time.Since(began); (took > 10*time.Second) != late || took > 14*time.Second {
					t.Errorf("it told of progress after %s", took)
				}
				w.succeeds("m")
			})
		})
	}
}

func TestPlanted_SVM29HoldsUpLonger(t *testing.T) {
	inWorld(t, 15, func(t *testing.T, w *world) {
		w.listing = func(metav1.ListOptions) error { return apierrors.NewServiceUnavailable("no endpoints") }
		w.addGadgets(20)
		w.ask("bad")
		defer w.start(Options{Defects: defects.Of(defects.SVM29HoldsUpLonger)})()
		time.Sleep(time.Second)
		w.askForGadgets("good")
		asked := time.Now()
		got := w.ended("good")
		if took := time.Since(asked); got.Reason != migration.ReasonSucceeded || took < 2*time.Minute || took > 3*time.Minute {
			t.Errorf("the other one ended with %s after %s", strings.TrimSpace(got.Reason), took)
		}
	})
}
