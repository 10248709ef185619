package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/explore"
)

var planted = []cluster.Defect{
	{ID: "AD-01-a", Requirement: "AD-01"}, {ID: "AD-02-b", Requirement: "AD-02"},
	{ID: "SV-06-c", Requirement: "SV-06"}, {ID: "RO-01-d", Requirement: "RO-01"},
}

func TestGroups_KeepApartWhatARedRowCouldNotTellApart(t *testing.T) {
	red := map[string][]string{"RO-01-d": {"RO-01", "SV-06"}}
	var got []string
	for _, g := range groups(planted, red, 6) {
		got = append(got, g.String())
	}
	if want := []string{"AD-01-a,SV-06-c", "AD-02-b,RO-01-d"}; !slices.Equal(got, want) {
		t.Errorf("groups are %q, want %q", got, want)
	}
	if alone := groups(planted, red, 1); len(alone) != len(planted) {
		t.Errorf("%d groups of one, want %d", len(alone), len(planted))
	}
}

func TestSightings_CountSchedulesUntilEachDefectIsSeen(t *testing.T) {
	s := newSightings(group{planted[0], planted[2]}, false)
	finds := func(ids ...string) *explore.Story {
		story := &explore.Story{}
		for _, id := range ids {
			story.Finds = append(story.Finds, explore.Find{Fingerprint: explore.Fingerprint{Requirement: id}})
		}
		return story
	}
	if s.take(finds("CLE-09"), time.Minute) || s.take(finds("SV-06"), 2*time.Minute) || s.take(finds("SV-06"), 3*time.Minute) {
		t.Error("the group is done before AD-01 was red")
	}
	out := s.results(&explore.Result{Schedules: 4, Spoilt: 1, Took: 5 * time.Minute})
	if out[0].Found || out[0].Schedules != 4 || !out[1].Found || out[1].Schedules != 2 || out[1].Took != 2*time.Minute {
		t.Errorf("results are %+v", out)
	}
	if !slices.Equal(out[0].Others, []string{"CLE-09"}) || !slices.Equal(out[0].With, []string{"SV-06-c"}) {
		t.Errorf("the first result is %+v", out[0])
	}
	if !s.take(finds("AD-01"), 6*time.Minute) {
		t.Error("the group is not done after both rows were red")
	}
}

func TestBegun_CountsNoScheduleOfASeriesThatWasEnded(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "guided", "SV-06-a")
	if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "explore.jsonl"), []byte("{}\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got, err := begun(folder); err != nil || got != folder {
		t.Errorf("%s (%v)", got, err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Error("its log is left:", err)
	}
}
