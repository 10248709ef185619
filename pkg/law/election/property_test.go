package election_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/election/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// lessIsKnown gives the events of a history of which less is known, or that a recorder told
// otherwise: its end is missing, an event is missing or told twice, or the recorder of etcd
// was delayed, for less than an election waits, so that the delay is no cause of an election.
func lessIsKnown(t *rapid.T, events []history.Event) []history.Event {
	i := rapid.IntRange(0, len(events)-2).Draw(t, "event")
	out := slices.Clone(events)
	switch rapid.SampledFrom([]string{"cut", "drop", "repeat", "delay"}).Draw(t, "mutation") {
	case "cut":
		return out[:i+1]
	case "drop":
		return slices.Delete(out, i, i+1)
	case "repeat":
		out = slices.Insert(out, i+1, out[i])
	case "delay":
		d := rapid.Int64Range(1, int64(requirement.MustBound("KEP-4355", "electionWaits"))-1).Draw(t, "delay")
		at := out[i].At
		out = slices.Insert(out, i+1, history.Event{Kind: history.KindRecorderDelayed, At: at, From: max(at-d, 0), RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}})
	}
	for i := range out {
		out[i].Seq = int64(i + 1)
	}
	return out
}

func TestProperty_KnowingLessNeverTurnsAVerdictIntoPass(t *testing.T) {
	type told struct {
		story.Story
		events []history.Event
	}
	var all []told
	for _, s := range stories.All() {
		if s.Want != story.Pass {
			s = s.Whole()
			all = append(all, told{s, s.Events()})
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "story")
		lines := lessIsKnown(t, s.events)
		requirementOf, _ := requirement.Lookup(s.Requirement)
		j, err := check.Judge(&judgetest.Events{Head: s.Header(), Lines: lines}, []requirement.Requirement{requirementOf})
		if err != nil {
			t.Fatal(err)
		}
		if r := j.Results[0]; r.Verdict == check.Pass {
			t.Fatalf("%s passes: %+v", s.Name, r.Obligations)
		}
	})
}
