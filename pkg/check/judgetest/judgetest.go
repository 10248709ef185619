// Package judgetest judges stories in tests: whole histories, by one requirement.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package judgetest

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// Events is a history in memory, as a judge reads it.
type Events struct {
	Head   history.Header
	Lines  []history.Event
	Broken []string
	next   int
}

// Header gives the header.
func (e *Events) Header() history.Header { return e.Head }

// Damage gives what is said to be wrong with the history.
func (e *Events) Damage() []string { return e.Broken }

// Next gives the next event, and io.EOF after the last one.
func (e *Events) Next() (*history.Event, error) {
	if e.next == len(e.Lines) {
		return nil, io.EOF
	}
	e.next++
	ev := e.Lines[e.next-1]
	return &ev, nil
}

// Judge judges a history by one requirement.
func Judge(t testing.TB, events *Events, id requirement.ID) check.Result {
	t.Helper()
	r, ok := requirement.Lookup(id)
	if !ok {
		t.Fatalf("there is no requirement %s", id)
	}
	j, err := check.Judge(events, []requirement.Requirement{r})
	if err != nil {
		t.Fatal(err)
	}
	return j.Results[0]
}

// Stories judges each story as a whole history by its requirement, and demands the outcome
// that it is to come to.
func Stories(t *testing.T, all []story.Story) {
	t.Helper()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			s := s.Whole()
			r := Judge(t, &Events{Head: s.Header(), Lines: s.Events()}, s.Requirement)
			if string(r.Verdict) != string(s.Want) {
				t.Errorf("%s, want %s\nviolations: %v\nreasons: %q\nobservations: %+v\nobligations: %+v", r.Verdict, s.Want, r.Violations, r.Reasons, r.Observations, r.Obligations)
			}
		})
	}
}

// Bracket judges a run in which something took a time just inside a bound, which must pass,
// just outside of it, which must fail, and between the two by what the recorders know,
// which must neither pass nor fail. The time that build is given is the most that it may
// have taken; by what is known it took up to a second less.
func Bracket(t *testing.T, id requirement.ID, bound string, build func(took time.Duration) []history.Event) {
	t.Helper()
	const outside, between = 2 * time.Second, time.Second / 2
	at := requirement.MustBound(id, bound)
	for _, c := range []struct {
		name string
		took time.Duration
		want check.Verdict
	}{
		{"inside", at - outside, check.Pass},
		{"outside", at + outside, check.Fail},
		{"between", at + between, check.Inconclusive},
	} {
		t.Run(string(id)+" "+bound+" "+c.name, func(t *testing.T) {
			Expect(t, id, build(c.took), c.want)
		})
	}
}

// StarvedBracket judges a run in which something exceeded a bound while the machine made
// processes wait: for as long as it was late, which must be inconclusive, and for less, which
// must fail. The time that build is given is the most that it may have taken; by what is known
// it took up to a second less. Since gives, of the events, when it began and was over.
func StarvedBracket(t *testing.T, id requirement.ID, bound string, since func(events []history.Event) (from, to int64), build func(took time.Duration) []history.Event) {
	t.Helper()
	const beyond = 4 * time.Second
	for name, c := range map[string]struct {
		waited time.Duration
		want   check.Verdict
	}{
		"not starved":            {0, check.Fail},
		"starved for too little": {beyond - 2*time.Second, check.Fail},
		"starved for as long":    {beyond, check.Inconclusive},
	} {
		t.Run(string(id)+" "+bound+" "+name, func(t *testing.T) {
			events := build(requirement.MustBound(id, bound) + beyond)
			from, to := since(events)
			Expect(t, id, Starve(events, from, to, c.waited), c.want)
		})
	}
}

// Starve has the machine make processes wait for so long between two times.
func Starve(events []history.Event, from, to int64, waited time.Duration) []history.Event {
	at := slices.IndexFunc(events, func(ev history.Event) bool { return ev.At > to })
	if at < 0 {
		at = len(events) - 1
	}
	return slices.Insert(events, at, history.Event{Kind: history.KindStarvation, From: from, At: to, Starvation: &history.Starvation{CPU: int64(waited)}})
}

// Expect judges the events of a history by one requirement, and demands a verdict.
func Expect(t *testing.T, id requirement.ID, events []history.Event, want check.Verdict) {
	t.Helper()
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	r := Judge(t, &Events{Head: story.NewHeader(), Lines: events}, id)
	if r.Verdict != want {
		t.Errorf("%s, want %s\nviolations: %v\nreasons: %q\nobligations: %+v", r.Verdict, want, r.Violations, r.Reasons, r.Obligations)
	}
}
