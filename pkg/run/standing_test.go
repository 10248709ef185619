package run

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/election/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

func TestStanding_ShowsABreachThatTheEventsHave(t *testing.T) {
	s := story.Named(stories.All(), "CLE-10/fail").Whole()
	h := s.Header()
	h.Judges = []string{"CLE-10"}
	var last []check.Progress
	live := newStanding(h, check.Begin(h, requirement.All()), clocktesting.NewFakeClock(time.Unix(0, 0)), func(p []check.Progress) { last = p })
	for _, ev := range s.Events() {
		live.Take(ev)
	}
	live.End()
	found := false
	for _, p := range last {
		found = found || p.ID == "CLE-10" && p.Verdict == check.Fail && p.Violations > 0
	}
	if !found {
		t.Errorf("the last look is %+v, without the breach of CLE-10", last)
	}
	if live.Take(history.Event{Seq: 1 << 40}); len(live.queue) > 0 {
		t.Error("an event was queued after the end")
	}
}
