package discovery_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/discovery/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// changes are what may become of a history: its end is missing, a line is, a line is there
// twice, or a recorder was late with one.
var changes = map[string]func([]history.Event, int, time.Duration) []history.Event{
	"cut":  func(all []history.Event, i int, _ time.Duration) []history.Event { return all[:i] },
	"drop": func(all []history.Event, i int, _ time.Duration) []history.Event { return slices.Delete(all, i, i+1) },
	"repeat": func(all []history.Event, i int, _ time.Duration) []history.Event {
		return slices.Insert(all, i, all[i])
	},
	"delay": func(all []history.Event, i int, by time.Duration) []history.Event {
		late := all[i]
		if late.DiscoveryDocument == nil {
			return all
		}
		late.At += int64(by)
		all = slices.Delete(all, i, i+1)
		at := slices.IndexFunc(all, func(ev history.Event) bool { return ev.At > late.At || ev.End != nil })
		if late.At > all[at].At {
			late.At = all[at].At
		}
		all = slices.Insert(all, at, late)
		for j := range all {
			all[j].Seq = int64(j + 1)
		}
		return all
	},
}

// No history that does not pass does so when something of it is missing, is there twice, or
// was told late.
func TestLaws_PassNoHistoryThatWasChanged(t *testing.T) {
	var all []story.Story
	for _, s := range append(stories.All(), stories.WrongGreens()...) {
		if s.Want != story.Pass {
			all = append(all, s)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.SampledFrom(all).Draw(r, "story")
		whole := s.Whole()
		events := slices.Clone(whole.Events())
		i := rapid.IntRange(1, len(events)-2).Draw(r, "event")
		what := rapid.SampledFrom([]string{"cut", "drop", "repeat", "delay"}).Draw(r, "change")
		by := time.Duration(rapid.IntRange(1, 1000).Draw(r, "milliseconds")) * time.Millisecond
		changed := &judgetest.Events{Head: whole.Header(), Lines: changes[what](events, i, by)}
		if got := judgetest.Judge(t, changed, s.Requirement); got.Verdict == check.Pass {
			r.Fatalf("%s passes after %s of event %d", s.Name, what, i+1)
		}
	})
}

// A recorder that was late, or lines that are missing, blame no control plane that keeps its
// promises.
func TestLaws_BlameNoHistoryThatWasChanged(t *testing.T) {
	var all []story.Story
	for _, s := range stories.All() {
		if s.Want == story.Pass {
			all = append(all, s)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.SampledFrom(all).Draw(r, "story")
		whole := s.Whole()
		events := slices.Clone(whole.Events())
		i := rapid.IntRange(1, len(events)-2).Draw(r, "event")
		what := rapid.SampledFrom([]string{"cut", "drop", "repeat", "delay"}).Draw(r, "change")
		changed := &judgetest.Events{Head: whole.Header(), Lines: changes[what](events, i, 100*time.Millisecond)}
		if got := judgetest.Judge(t, changed, s.Requirement); got.Verdict == check.Fail && what != "drop" {
			r.Fatalf("%s fails after %s of event %d: %v", s.Name, what, i+1, got.Violations)
		}
	})
}
