package check

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// damages are what may become of a history at an event. They leave the numbers of events as
// they are if lines were lost, as a reader finds them then.
var damages = map[string]func(t *rapid.T, events []history.Event, at int) []history.Event{
	"cut": func(_ *rapid.T, events []history.Event, at int) []history.Event { return events[:at] },
	"drop": func(_ *rapid.T, events []history.Event, at int) []history.Event {
		return slices.Delete(events, at, at+1)
	},
	"repeat": func(_ *rapid.T, events []history.Event, at int) []history.Event {
		return slices.Insert(events, at, events[at])
	},
	"end early": func(_ *rapid.T, events []history.Event, at int) []history.Event {
		// A run that ends has told of what it asked for.
		for ; slices.ContainsFunc(events[at:], func(ev history.Event) bool { return ev.Request != nil && ev.From < events[at-1].At }); at++ {
		}
		end := events[len(events)-1]
		end.At, end.From = events[at].At, 0
		return numbered(append(events[:at], end))
	},
	"delay": func(t *rapid.T, events []history.Event, at int) []history.Event {
		ev := history.Event{Kind: history.KindRecorderDelayed, At: events[at].At, RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}}
		ev.From = max(1, ev.At-rapid.Int64Range(1, int64(time.Minute)).Draw(t, "delay"))
		return numbered(slices.Insert(events, at+1, ev))
	},
	"know later": func(t *rapid.T, events []history.Event, at int) []history.Event {
		back := rapid.Int64Range(1, int64(time.Minute)).Draw(t, "back")
		for i := at; i < len(events); i++ {
			if events[i].Stored != nil {
				from := events[i].At
				if events[i].From > 0 {
					from = events[i].From
				}
				events[i].From = max(1, from-back)
			}
		}
		return events
	},
	"a server names another revision": func(t *rapid.T, events []history.Event, at int) []history.Event {
		ev := history.Event{Kind: history.KindRequest, At: events[at].At, From: max(1, events[at].At-1), Request: &history.Request{Class: history.ClassReview, Code: 201}}
		ev.Request.ResourceVersion = rapid.Int64Range(1, 1_000_000).Draw(t, "revision")
		return numbered(slices.Insert(events, at+1, ev))
	},
	"starve": func(t *rapid.T, events []history.Event, at int) []history.Event {
		ev := history.Event{Kind: history.KindStarvation, At: events[at].At, Starvation: &history.Starvation{}}
		ev.From = max(1, ev.At-rapid.Int64Range(1, int64(5*time.Minute)).Draw(t, "lasts"))
		ev.Starvation.CPU = rapid.Int64Range(0, max(0, ev.At-ev.From)).Draw(t, "waited")
		return numbered(slices.Insert(events, at+1, ev))
	},
	"miss": func(t *rapid.T, events []history.Event, at int) []history.Event {
		source := rapid.SampledFrom(fact.Sources).Draw(t, "source")
		ev := history.Event{Kind: history.KindRecorderMissed, At: events[at].At, RecorderMissed: &history.RecorderMissed{Source: string(source), Message: "it missed something"}}
		return numbered(slices.Insert(events, at+1, ev))
	},
}

func numbered(events []history.Event) []history.Event {
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	return events
}

// tellings are all stories, and those of them with all events of their base stories that come
// to the same verdict so: a story that shows too little may show enough with all of them.
func tellings() []story.Story {
	out := slices.Clone(allStories)
	for _, s := range allStories {
		if whole := s.Whole(); string(verdictOf(whole, whole.Events())) == string(s.Want) {
			out = append(out, whole)
		}
	}
	return out
}

func verdictOf(s story.Story, events []history.Event) Verdict { return resultOf(s, events).Verdict }

func resultOf(s story.Story, events []history.Event) Result {
	req, _ := requirement.Lookup(s.Requirement)
	judging := Begin(s.Header(), []requirement.Requirement{enoughForStories(req)})
	for _, ev := range events {
		judging.Take(&ev)
	}
	return judging.End(nil).Results[0]
}

// reliesOn is whether the law of a requirement names the recorder among its sources.
func reliesOn(id requirement.ID, source fact.Source) bool {
	return slices.ContainsFunc(keps, func(k law.KEP) bool {
		return slices.ContainsFunc(k.Rows(), func(row law.Row) bool { return row.ID == id && slices.Contains(row.Sources, source) })
	})
}

// Damage takes evidence away. It must turn no verdict into a pass, and no pass into a failure.
// Only what ends early, and says that it was played to its end, may have lost its breach.
func TestJudge_DamageMakesNothingPassOrFail(t *testing.T) {
	all := tellings()
	for what, damage := range damages {
		t.Run(what, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := rapid.SampledFrom(all).Draw(t, "story")
				events := slices.Clone(s.Events())
				at := rapid.IntRange(1, len(events)-2).Draw(t, "at")
				damaged := damage(t, events, at)
				switch verdict := verdictOf(s, damaged); {
				case verdict == Pass && what == "miss" && reliesOn(s.Requirement, fact.Source(damaged[at+1].RecorderMissed.Source)):
					t.Fatalf("%s passes, and a recorder that it relies on missed something", s.Name)
				case verdict == Pass && s.Want != story.Pass && !(what == "end early" && s.Want == story.Fail):
					t.Fatalf("%s passes", s.Name)
				case verdict == Fail && s.Want != story.Fail:
					t.Fatalf("%s fails", s.Name)
				}
			})
		})
	}
}

// What made a change is known by the end of a run that ended: a story of changes by the harness
// itself, cut anywhere, blames the coordinator for none of them.
func TestJudge_AnEndBlamesNoOtherForWhatTheHarnessDid(t *testing.T) {
	i := slices.IndexFunc(allStories, func(s story.Story) bool { return s.Name == "CLE-30/pass" })
	s := allStories[i].Whole()
	for at := 1; at < len(s.Events())-1; at++ {
		if r := resultOf(s, damages["end early"](nil, slices.Clone(s.Events()), at)); r.Verdict == Fail {
			t.Errorf("cut at %d: %v", at, r.Violations)
		}
	}
}
