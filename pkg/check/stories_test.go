package check

import (
	"bytes"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// judgeStory judges a whole story by all requirements that stories with the same base
// are about.
func judgeStory(t *testing.T, s story.Story) map[requirement.ID]Result {
	t.Helper()
	return judgeEvents(t, s.Header(), s.Whole().Events(), story.Neighbors(allStories, s)...)
}

// judgeEvents judges a history by requirements.
func judgeEvents(t *testing.T, header history.Header, events []history.Event, ids ...requirement.ID) map[requirement.ID]Result {
	t.Helper()
	var data bytes.Buffer
	if err := story.Write(&data, header, events); err != nil {
		t.Fatal(err)
	}
	reader, err := history.NewReader(&data)
	if err != nil {
		t.Fatal(err)
	}
	var requirements []requirement.Requirement
	for _, id := range ids {
		r, ok := requirement.Lookup(id)
		if !ok {
			t.Fatalf("no requirement %s", id)
		}
		requirements = append(requirements, enoughForStories(r))
	}
	j, err := Judge(Read(reader), requirements)
	if err != nil {
		t.Fatal(err)
	}
	results := map[requirement.ID]Result{}
	for _, r := range j.Results {
		results[r.ID] = r
	}
	return results
}

func TestBaseStories_Pass(t *testing.T) {
	judged := map[string]bool{}
	for _, s := range allStories {
		if s.Want != story.Pass || judged[s.Base] {
			continue
		}
		judged[s.Base] = true
		for id, r := range judgeStory(t, s) {
			if r.Verdict != Pass {
				t.Errorf("%s in story %s: %s %q %v", id, s.Base, r.Verdict, r.Reasons, r.Violations)
			}
		}
	}
}

// A base story violates no requirement of the other stories. The story registration is left
// out: an administrator changes StorageVersions throughout it, and only its own requirements
// tell these changes from those of the servers.
func TestBaseStories_ViolateNoOtherRequirement(t *testing.T) {
	for _, of := range []string{"SV-01/pass", "SV-16/pass"} {
		for _, by := range []string{"SV-01/pass", "SV-16/pass", "SV-08/pass"} {
			s := story.Named(allStories, of)
			ids := story.Neighbors(allStories, story.Named(allStories, by))
			for id, r := range judgeEvents(t, s.Header(), s.Whole().Events(), ids...) {
				if r.Verdict == Fail {
					t.Errorf("story %s breaks %s: %v", s.Base, id, r.Violations)
				}
			}
		}
	}
}

// The edit that violates one requirement violates no other, unless it cannot avoid that.
func TestFailingStoryBreaksOneRequirement(t *testing.T) {
	for _, s := range allStories {
		if s.Want != story.Fail {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			for id, r := range judgeStory(t, s) {
				want := Pass
				if _, also := s.Also[id]; also || id == s.Requirement {
					want = Fail
				}
				if r.Verdict != want {
					t.Errorf("%s is %s, not %s: %q %v", id, r.Verdict, want, r.Reasons, r.Violations)
				}
			}
		})
	}
}
