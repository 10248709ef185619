package law_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// starved is a stretch of seconds in which processes waited for so many.
type starved struct{ from, to, waited int64 }

func (x starved) event() history.Event {
	return history.Event{From: x.from * s, At: x.to * s, Kind: history.KindStarvation, Starvation: &history.Starvation{CPU: x.waited * s}}
}

func TestDeadline_WhatStarvationExplainsIsUnclear(t *testing.T) {
	late := duty{begin: at(10), done: at(40), running: always()} // 20 s beyond its bound
	stood := duty{begin: at(10), done: at(60), running: except(fact.Span{Begin: 20, End: 40})}
	never := duty{begin: at(10), running: always()}
	for name, tc := range map[string]struct {
		duty    duty
		starved []starved
		want    law.Ending
	}{
		"as long as it was late":          {late, []starved{{15, 39, 20}}, law.Unclear},
		"in several stretches":            {late, []starved{{11, 25, 10}, {25, 35, 10}}, law.Unclear},
		"not as long":                     {late, []starved{{15, 39, 19}}, law.Late},
		"before it began":                 {late, []starved{{1, 10, 9}}, law.Late},
		"after it was done":               {late, []starved{{40, 90, 50}}, law.Late},
		"no more than the overlap":        {late, []starved{{21, 90, 60}}, law.Late},
		"no waiting was measured":         {late, []starved{{15, 39, 0}}, law.Late},
		"while the clock stood":           {stood, []starved{{20, 40, 20}}, law.Late},
		"while the clock stood and ran":   {stood, []starved{{20, 40, 20}, {41, 60, 19}}, law.Late},
		"not as long while the clock ran": {stood, []starved{{10, 20, 9}, {20, 40, 20}, {41, 60, 10}}, law.Late},
		"the whole time of the clock":     {stood, []starved{{10, 20, 10}, {40, 60, 20}}, law.Unclear},
		"it never came":                   {never, []starved{{10, 95, 80}}, law.Unclear},
		"it never came, starved at first": {never, []starved{{10, 60, 50}}, law.Late},
	} {
		var events []history.Event
		for _, x := range tc.starved {
			events = append(events, x.event())
		}
		entries := tc.duty.judge(100*s, events...).Entries
		if entries[0].Ending != tc.want {
			t.Errorf("%s: %s (%s), want %s", name, entries[0].Ending, entries[0].Why, tc.want)
		}
		if tc.want == law.Unclear && !strings.Contains(entries[0].Why, "the machine was starved for ") {
			t.Errorf("%s: it does not say why: %s", name, entries[0].Why)
		}
	}
}

func TestAlways_WhatStarvationExplainsIsUnclear(t *testing.T) {
	for name, tc := range map[string]struct {
		grace   string
		gaps    []fact.Span // without the condition, in seconds
		starved []starved
		want    law.Ending
	}{
		"as long as it exceeded the grace": {"actsWithin", []fact.Span{{Begin: 20, End: 60}}, []starved{{20, 60, 10}}, law.Unclear},
		"another span is not explained":    {"actsWithin", []fact.Span{{Begin: 15, End: 50}, {Begin: 60, End: 95}}, []starved{{15, 50, 35}}, law.Broken},
		"elsewhere":                        {"actsWithin", []fact.Span{{Begin: 20, End: 60}}, []starved{{1, 20, 19}, {60, 99, 39}}, law.Broken},
		"what must always hold":            {"", []fact.Span{{Begin: 20, End: 50}}, []starved{{20, 50, 30}}, law.Broken},
	} {
		c := condition{while: always(), holds: except(tc.gaps...)}
		l := ledgerOf("RO-05", law.Always[*duty, condition]{
			Row:    law.Row{ID: "RO-05"},
			Grace:  tc.grace,
			Over:   func(*duty) []condition { return []condition{c} },
			While:  func(c condition) fact.Signal { return c.while },
			Holds:  func(c condition) fact.Signal { return c.holds },
			Breach: func(condition, int64, int64) (string, []int64) { return "it did not hold", []int64{1} },
		}, fact.Each(tc.starved, starved.event)...)
		if got := endings(l); !slices.Equal(got, []law.Ending{tc.want}) {
			t.Errorf("%s: %v (%s), want %s", name, got, l.Entries[0].Why, tc.want)
		}
	}
}

// Starvation takes lateness away and gives nothing: what is met, open, excused or unclear
// stays so, and what was late is late or unclear.
func TestDeadline_StarvationOnlyTurnsLateIntoUnclear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, _, last := drawDuty(t, rapid.Bool().Draw(t, "unrelated"))
		var events []history.Event
		from, measured := int64(1), time.Duration(0)
		for range rapid.IntRange(0, 4).Draw(t, "stretches") {
			to := from + rapid.Int64Range(1, 30).Draw(t, "lasts")
			x := starved{from, to, rapid.Int64Range(0, to-from).Draw(t, "waited")}
			events, from, measured = append(events, x.event()), to+rapid.Int64Range(0, 10).Draw(t, "apart"), measured+time.Duration(x.waited*s)
		}
		over := (max(last, from) + rapid.Int64Range(0, 30).Draw(t, "end")) * s
		without, with := d.judge(over).Entries, d.judge(over, events...).Entries
		for i := range without {
			was, is := without[i], with[i]
			changed := was.Ending == law.Late && is.Ending == law.Unclear
			switch {
			case was.Ending != is.Ending && !changed:
				t.Fatalf("obligation %d was %s and is %s", i, was.Ending, is.Ending)
			case changed && was.Least-bound > measured:
				t.Fatalf("obligation %d was %s beyond its bound, and %s of waiting was measured", i, was.Least-bound, measured)
			}
		}
	})
}
