package check

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// interfere inserts an event in the middle of a history by which a recorder reports a delay or
// a gap.
func interfere(t *rapid.T, events []history.Event) []history.Event {
	out := slices.Clone(events)
	at := rapid.IntRange(0, len(out)-2).Draw(t, "at")
	ev := history.Event{Kind: history.KindRecorderDelayed, At: out[at].At, RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}}
	if rapid.Bool().Draw(t, "missed") {
		source := rapid.SampledFrom(fact.Sources).Draw(t, "source")
		ev = history.Event{Kind: history.KindRecorderMissed, At: out[at].At, RecorderMissed: &history.RecorderMissed{Source: string(source), Message: "it missed something"}}
	} else {
		ev.From = max(1, ev.At-rapid.Int64Range(1, int64(time.Minute)).Draw(t, "delay"))
	}
	out = slices.Insert(out, at+1, ev)
	for i := range out {
		out[i].Seq = int64(i + 1)
	}
	return out
}

// A recorder that was delayed or missed something takes evidence away. It must turn no
// verdict into a pass, and no pass into a failure.
func TestJudge_DelayedRecorderMakesNothingPassOrFail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(allStories).Draw(t, "story")
		req, _ := requirement.Lookup(s.Requirement)
		judging := Begin(s.Header(), []requirement.Requirement{enoughForStories(req)})
		for _, ev := range interfere(t, s.Events()) {
			judging.Take(&ev)
		}
		switch verdict := judging.End(nil).Results[0].Verdict; {
		case verdict == Pass && s.Want != story.Pass:
			t.Fatalf("%s passes", s.Name)
		case verdict == Fail && s.Want != story.Fail:
			t.Fatalf("%s fails", s.Name)
		}
	})
}
