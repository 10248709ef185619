package story_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

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

var all = slices.Concat(storageversion.All(), discovery.All(), discovery.WrongGreens(), election.All(), election.WrongGreens(), migration.All(), emulation.All(), everyrun.All())

func TestStories_NamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.Name] {
			t.Errorf("two stories are named %s", s.Name)
		}
		seen[s.Name] = true
		if _, ok := requirement.Lookup(s.Requirement); !ok {
			t.Errorf("story %s is about %s, which is no requirement", s.Name, s.Requirement)
		}
	}
}

func TestStories_AreDeterministic(t *testing.T) {
	for _, s := range all {
		if !bytes.Equal(s.File(), s.File()) {
			t.Errorf("two builds of story %s differ", s.Name)
		}
	}
}

func TestStories_FailingEditChangesTheHistory(t *testing.T) {
	for _, s := range all {
		pass := story.Named(all, string(s.Requirement)+"/pass")
		if s.Want != story.Pass && bytes.Equal(s.File(), pass.File()) {
			t.Errorf("story %s is the same as %s", s.Name, pass.Name)
		}
	}
}

// Every story is a complete history, trimmed and whole.
func TestStories_AreCompleteHistories(t *testing.T) {
	for _, s := range all {
		for _, told := range []story.Story{s, s.Whole()} {
			events := told.Events()
			for i := range events {
				if events[i].Seq != int64(i+1) {
					t.Errorf("%s: event %d has the number %d", s.Name, i+1, events[i].Seq)
				}
			}
			if end := events[len(events)-1].End; end == nil || !end.Complete {
				t.Errorf("%s does not end with a complete end", s.Name)
			}
		}
	}
}

func TestEdit_InsertStoredMovesLaterRevisions(t *testing.T) {
	stored := func(at time.Duration, revision int64) history.Event {
		return history.Event{Kind: history.KindStored, At: int64(at), Stored: &history.Stored{Type: history.StoredPut, Key: "/k", Revision: revision, Created: 100}}
	}
	e := &story.Edit{Events: []history.Event{
		stored(time.Second, 100), stored(3*time.Second, 102),
		{Kind: history.KindRequest, At: int64(3 * time.Second), Request: &history.Request{ResourceVersion: 102}},
	}}
	e.InsertStored(int64(2*time.Second), history.Stored{Type: history.StoredPut, Key: "/new"})
	var revisions, created []int64
	for _, ev := range e.Events {
		if ev.Stored != nil {
			revisions, created = append(revisions, ev.Stored.Revision), append(created, ev.Stored.Created)
		}
	}
	if !slices.Equal(revisions, []int64{100, 102, 104}) || !slices.Equal(created, []int64{100, 102, 100}) {
		t.Errorf("revisions %v, created at %v; want 100, 102, 104, created at 100, 102, 100", revisions, created)
	}
	if got := e.Events[3].Request.ResourceVersion; got != 104 {
		t.Errorf("the answer has revision %d, want 104", got)
	}
}

func TestEdit_DelayMovesTheBeginOfRequests(t *testing.T) {
	e := &story.Edit{Events: []history.Event{{At: 1}, {At: 3, From: 2}, {At: 4}}}
	e.Delay(1, 10)
	if e.Events[0].At != 1 || e.Events[1].At != 13 || e.Events[1].From != 12 || e.Events[2].At != 14 || e.Events[2].From != 0 {
		t.Errorf("events %+v", e.Events)
	}
}

func TestEdit_PanicsWithoutEffect(t *testing.T) {
	for name, edit := range map[string]func(*story.Edit){
		"find":   func(e *story.Edit) { e.Find(1, story.OfMember("cp9")) },
		"drop":   func(e *story.Edit) { e.Drop(story.OfMember("cp9")) },
		"change": func(e *story.Edit) { e.Each(story.OfMember("cp9"), func(*history.Event) {}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: an edit that fits no event has no effect, and does not panic", name)
				}
			}()
			edit(&story.Edit{Events: []history.Event{{Member: "cp1"}}})
		}()
	}
}
