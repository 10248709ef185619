package migration

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/law/migration/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// told is a story with an end at some event, and with times in which the recorder of etcd
// heard nothing.
func told(t *rapid.T, events []history.Event, cut bool) []history.Event {
	last := len(events) - 1
	if cut {
		last = rapid.IntRange(1, last).Draw(t, "last")
	}
	out := slices.Clone(events[:last])
	for range rapid.IntRange(0, 3).Draw(t, "delays") {
		i := rapid.IntRange(0, len(out)-1).Draw(t, "delayed")
		at := out[i].At
		from := max(at-int64(rapid.IntRange(1, 60).Draw(t, "seconds"))*int64(time.Second), 0)
		out = slices.Insert(out, i+1, history.Event{Kind: history.KindRecorderDelayed, At: at, From: from, RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}})
	}
	out = append(out, history.Event{Kind: history.KindEnd, At: events[last].At, End: &history.End{Complete: true}})
	for i := range out {
		out[i].Seq = int64(i + 1)
	}
	return out
}

// Whatever is told late or not at all, what broke a promise or showed too little does not
// pass, and what kept it is not blamed.
func TestDelayedAndCutStoriesPassNothingAndBlameNothing(t *testing.T) {
	for _, s := range stories.All() {
		t.Run(s.Name, func(t *testing.T) {
			events, req := s.Events(), mustLookup(t, s.Requirement)
			rapid.Check(t, func(r *rapid.T) {
				// What is cut off may be the breach.
				result := judged(t, s.Header(), told(r, events, s.Want != story.Fail), req)
				if s.Want == story.Pass && result.Verdict == law.Fail {
					r.Fatalf("what kept its promise is blamed: %v", result.Violations)
				}
				if s.Want != story.Pass && result.Verdict == law.Pass {
					r.Fatalf("it passes: %+v", result.Observations)
				}
			})
		})
	}
}
