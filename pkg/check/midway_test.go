package check

import (
	"regexp"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// cutsOfAStory is about how many beginnings of a story are tried, and longStory the number of
// events from which on it is only a few.
const (
	cutsOfAStory = 12
	longStory    = 20_000
)

// A run that begins with a control plane that was there before sees the rest of what a run from
// the beginning sees. What it takes for met, or for a breach, the other one does too; and where
// it passes what the other one fails, the breach came before.
func TestJudge_WhatWasThereBeforeMeetsAndBreaksNothing(t *testing.T) {
	tried := 0
	judged := map[string]bool{}
	for _, s := range allStories {
		ids, name := []requirement.ID{s.Requirement}, s.Name
		if s.Want == story.Pass {
			ids, name = story.Neighbors(allStories, s), s.Base
		}
		if judged[name] {
			continue
		}
		judged[name] = true
		tried += tryMidway(t, s.Whole(), ids)
	}
	if tried < len(judged) {
		t.Errorf("only %d beginnings of %d stories were tried", tried, len(judged))
	}
}

// tryMidway judges a story from several beginnings, and gives how many.
func tryMidway(t *testing.T, s story.Story, ids []requirement.ID) (tried int) {
	t.Helper()
	events := s.Events()
	whole := endings(judgeAll(s.Header(), events, ids))
	step := max(len(events)/cutsOfAStory, 1)
	if len(events) > longStory {
		step = len(events) / 2
	}
	for at, last := 1, -step; at < len(events)-1; at++ {
		if at-last < step {
			continue
		}
		header, cut, ok := story.Midway(s.Header(), events, at)
		if !ok {
			continue
		}
		last = at
		tried++
		judging := judgeAll(header, cut, ids)
		for key, of := range endings(judging) {
			if of.met > whole[key].met {
				t.Errorf("%s from event %d on: %s of %s%s is met %d times, and in the whole story %d", s.Name, at, key.id, key.member, key.about, of.met, whole[key].met)
			}
			if of.broken > whole[key].broken {
				t.Errorf("%s from event %d on: %s of %s%s is broken %d times, and in the whole story %d", s.Name, at, key.id, key.member, key.about, of.broken, whole[key].broken)
			}
		}
		for _, r := range judging.End(nil).Results {
			for key, of := range whole {
				if r.Verdict == Pass && key.id == r.ID && of.broken > 0 && of.last >= events[at].At {
					t.Errorf("%s from event %d on: %s passes, and %s%s was broken later", s.Name, at, r.ID, key.member, key.about)
				}
			}
		}
	}
	return tried
}

// obligation is what an obligation of a law is about, the same from every beginning.
type obligation struct {
	id            requirement.ID
	member, about string
}

// counted is how often obligations ended so, and when the last one began that was broken.
type counted struct {
	met, broken int
	last        int64
}

// numberedLines is what names an event or a process by a number, which is another one in a part of the
// history.
var numberedLines = regexp.MustCompile(`(event|process) [0-9]+`)

func judgeAll(header history.Header, events []history.Event, ids []requirement.ID) *Judging {
	var requirements []requirement.Requirement
	for _, id := range ids {
		r, _ := requirement.Lookup(id)
		requirements = append(requirements, enoughForStories(r))
	}
	judging := Begin(header, requirements)
	for i := range events {
		judging.Take(&events[i])
	}
	return judging
}

func endings(judging *Judging) map[obligation]counted {
	out := map[obligation]counted{}
	for id, entries := range judging.Obligations() {
		for _, e := range entries {
			key := obligation{id, e.Member, " " + numberedLines.ReplaceAllString(e.About, "$1")}
			of := out[key]
			switch e.Ending {
			case law.Met:
				of.met++
			case law.Late, law.Broken:
				of.broken++
				of.last = max(of.last, e.Began.Latest)
			case law.Unclear, law.Excused, law.Superseded, law.Open:
			}
			out[key] = of
		}
	}
	return out
}

// What is late even from when the recorders began is late, and of all else that began before
// nothing counts.
func TestLedger_ForgetsWhatBeganBeforeTheHistory(t *testing.T) {
	given := fact.Moment{Earliest: fact.LongAgo, Latest: 1}
	later := fact.Exactly(int64(1e12), 2)
	for _, tc := range []struct {
		name   string
		entry  law.Entry
		midway bool
		want   int
	}{
		{"met before", law.Of("x", given).Met(), true, 0},
		{"unclear before", law.Of("x", given).Unclear("y"), true, 0},
		{"late", law.Of("x", given).Late("y"), true, 1},
		{"met at the beginning", law.Of("x", fact.Exactly(1, 1)).Met(), true, 0},
		{"broken at the beginning", law.Of("x", fact.Exactly(1, 1)).Broken("y"), true, 1},
		{"met later", law.Of("x", later).Met(), true, 1},
		{"met in a whole history", law.Of("x", fact.Exactly(1, 1)).Met(), false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			invent(t, nil, map[requirement.ID]func(*countedFacts, *law.Ledger){"XX-01": func(_ *countedFacts, l *law.Ledger) { l.Add(tc.entry) }})
			header := newHistory().header
			if tc.midway {
				header.Lacks = []history.Lack{{What: history.LackEarlier, Reason: "r"}}
			}
			if got := len(Begin(header, []requirement.Requirement{invented("XX-01")}).Obligations()["XX-01"]); got != tc.want {
				t.Errorf("%d obligations are left, want %d", got, tc.want)
			}
		})
	}
}
