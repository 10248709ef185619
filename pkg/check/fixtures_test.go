package check

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	discovery "github.com/evenkeel/evenkeel/pkg/law/discovery/stories"
	election "github.com/evenkeel/evenkeel/pkg/law/election/stories"
	emulation "github.com/evenkeel/evenkeel/pkg/law/emulation/stories"
	everyrun "github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	migration "github.com/evenkeel/evenkeel/pkg/law/migration/stories"
	storageversion "github.com/evenkeel/evenkeel/pkg/law/storageversion/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// allStories are those of all KEPs.
var allStories = slices.Concat(storageversion.All(), discovery.All(), election.All(), migration.All(), emulation.All(), everyrun.All())

// enoughForStories is a requirement that asks for no more objects than its stories have.
func enoughForStories(r requirement.Requirement) requirement.Requirement {
	r.Needs = slices.Clone(r.Needs)
	for i := range r.Needs {
		r.Needs[i].Least = min(r.Needs[i].Least, migration.LargeObjects)
	}
	return r
}

// fixture is a story as a history file.
type fixture struct {
	story.Story
	data []byte
}

func fixtures(t testing.TB) []fixture {
	t.Helper()
	out := make([]fixture, 0, len(allStories))
	for _, s := range allStories {
		out = append(out, fixture{s, s.File()})
	}
	return out
}

// judgeFile judges the bytes of a history by one requirement.
func judgeFile(t testing.TB, data []byte, id requirement.ID) Result {
	t.Helper()
	reader, err := history.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r, ok := requirement.Lookup(id)
	if !ok {
		t.Fatalf("no requirement %s", id)
	}
	j, err := Judge(Read(reader), []requirement.Requirement{enoughForStories(r)})
	if err != nil {
		t.Fatal(err)
	}
	return j.Results[0]
}

// The package of each KEP tests the outcome of its stories. Here the same story must have the
// same outcome as a file, and say why.
func TestStories_HaveTheirOutcomesAsFiles(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.Name, func(t *testing.T) {
			r := judgeFile(t, f.data, f.Requirement)
			if string(r.Verdict) != string(f.Want) {
				t.Fatalf("%s, want %s: %q %v", r.Verdict, f.Want, r.Reasons, r.Violations)
			}
			if (len(r.Violations) > 0) != (f.Want == story.Fail) || slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Message == "" || len(v.Evidence) == 0 }) {
				t.Errorf("the violations are %v", r.Violations)
			}
			if f.Want == story.Pass && len(r.Reasons) > 0 || f.Want == story.Inconclusive && len(r.Reasons) == 0 {
				t.Errorf("the reasons are %q", r.Reasons)
			}
		})
	}
}

func TestEveryLawHasStoriesOfAllOutcomes(t *testing.T) {
	for _, r := range requirement.All() {
		n := 0
		for _, want := range []story.Outcome{story.Pass, story.Fail, story.Inconclusive} {
			if slices.ContainsFunc(allStories, func(s story.Story) bool { return s.Requirement == r.ID && s.Want == want }) {
				n++
			}
		}
		if built := Built(r.ID); built && n != 3 || !built && n != 0 {
			t.Errorf("%s: a law is built in: %v; outcomes of its stories: %d of 3", r.ID, built, n)
		}
	}
}

func TestRead_ReturnsHeaderEventsAndDamage(t *testing.T) {
	reader, err := history.NewReader(strings.NewReader(`{"format":"evenkeel-history","version":2,"run":"r"}` + "\n" + `{"seq":2,"at":1,"kind":"end","end":{"complete":true}}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	events := Read(reader)
	if events.Header().Run != "r" {
		t.Error("the header is lost")
	}
	if ev, err := events.Next(); err != nil || ev.End == nil {
		t.Errorf("%v %v", ev, err)
	}
	if _, err := events.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if len(events.Damage()) != 1 {
		t.Errorf("damage %q, want the missing line", events.Damage())
	}
}
