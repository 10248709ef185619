package discovery_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/discovery/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

func TestLaws_AgreeWithTheStories(t *testing.T) {
	judgetest.Stories(t, stories.All())
}

func TestLaws_FailWrongGreens(t *testing.T) {
	judgetest.Stories(t, stories.WrongGreens())
}

// What breaks nothing breaks nothing up to any moment of it, and what lacks one event does
// not break anything either unless the event was a change or the life of a process.
func TestLaws_BlameNoPartOfWhatPasses(t *testing.T) {
	for _, s := range stories.All() {
		if s.Want != story.Pass {
			continue
		}
		whole := s.Whole()
		events := whole.Events()
		judge := func(what string, lines []history.Event) {
			if r := judgetest.Judge(t, &judgetest.Events{Head: whole.Header(), Lines: lines}, s.Requirement); r.Verdict == check.Fail {
				t.Errorf("%s %s: %v", s.Name, what, r.Violations)
			}
		}
		for n := 1; n < len(events); n += 1 + len(events)/40 {
			judge(fmt.Sprintf("up to event %d", n), events[:n])
			if events[n].DiscoveryDocument != nil {
				judge(fmt.Sprintf("without event %d", n+1), slices.Concat(events[:n], events[n+1:]))
			}
		}
	}
}
