package storageversion_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/storageversion/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// damage cuts the end of a history, leaves an event out, repeats one, or has the recorder of
// etcd say that it told late. Numbers of events stay as they were recorded.
func damage(t *rapid.T, told []history.Event) []history.Event {
	at := rapid.IntRange(1, len(told)-2).Draw(t, "at")
	switch rapid.SampledFrom([]string{"cut", "drop", "repeat", "delay"}).Draw(t, "how") {
	case "cut":
		return told[:at]
	case "drop":
		return slices.Delete(slices.Clone(told), at, at+1)
	case "repeat":
		return slices.Insert(slices.Clone(told), at, told[at])
	}
	late := history.Event{Kind: history.KindRecorderDelayed, At: told[at].At, From: max(1, told[at].At-rapid.Int64Range(1, told[at].At).Draw(t, "late")),
		RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}}
	out := slices.Insert(slices.Clone(told), at, late)
	for i := range out {
		out[i].Seq = int64(i + 1)
	}
	return out
}

func TestLaws_DamageMakesNothingPass(t *testing.T) {
	all := slices.DeleteFunc(stories.All(), func(s story.Story) bool { return s.Want == story.Pass })
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.SampledFrom(all).Draw(r, "story").Whole()
		lines := damage(r, s.Events())
		if got := judgetest.Judge(t, &judgetest.Events{Head: s.Header(), Lines: lines}, s.Requirement); got.Verdict == check.Pass {
			r.Fatalf("%s passes", s.Name)
		}
	})
}
