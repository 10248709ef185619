package explore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// writeBundle leaves a bundle of a run that recorded nothing.
func writeBundle(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := history.Create(filepath.Join(dir, bundle.HistoryFile), history.Header{
		Run: "r", Seed: 7, Scenario: "s", Provider: "local", Distribution: "reference",
		Members: []history.MemberHeader{{Name: "cp1", ServerID: "apiserver-cp1", Release: "1.2"}},
	}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(history.End{Complete: true}); err != nil {
		t.Fatal(err)
	}
}

func TestReadFind_TakesTheFolderOfAFindOrItsBundle(t *testing.T) {
	dir := t.TempDir()
	writeBundle(t, filepath.Join(dir, bundleFolder))
	for _, at := range []string{dir, filepath.Join(dir, bundleFolder)} {
		_, err := ReadFind(t.Context(), at, "")
		if err == nil || !strings.Contains(err.Error(), "shows no requirement broken") {
			t.Errorf("%s: %v", at, err)
		}
	}
	if _, err := ReadFind(t.Context(), t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a folder without a bundle: %v", err)
	}
	story, err := StoryOf(t.Context(), filepath.Join(dir, bundleFolder))
	if err != nil || len(story.Finds) != 0 || story.Took > time.Minute {
		t.Errorf("%+v (%v)", story, err)
	}
}

func TestShowing_JudgesNoRunThatWasThereBefore(t *testing.T) {
	dir := t.TempDir()
	writeBundle(t, filepath.Join(dir, "1", bundleFolder))
	shows := Runs{}.Showing(&FindIn{}, dir)
	if _, err := shows(t.Context(), Candidate{[]byte("no scenario"), []byte("no topology")}); err == nil {
		t.Error("a candidate that is no scenario was judged by what an earlier one has left")
	}
}
