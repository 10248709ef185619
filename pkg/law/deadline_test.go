package law_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

const s = int64(time.Second)

// duty is what has to come about: facts of a test's own.
type duty struct {
	begin, done []fact.Moment
	perhaps     []fact.Moment
	running     fact.Signal
	void        []law.Void
	unrelated   bool
	breaks      string
}

func (*duty) Observe(*history.Event) {}

const bound = 10 * time.Second

// judge judges it over a history that ends at a time and has some events.
func (d *duty) judge(over int64, events ...history.Event) *law.Ledger {
	of := law.Deadline[*duty, *duty]{
		Row:       law.Row{ID: "CLE-20"},
		Unrelated: d.unrelated,
		BoundOf:   func(*duty, fact.Moment) time.Duration { return bound },
		Over:      func(d *duty) []*duty { return []*duty{d} },
		Describe:  func(*duty) law.Entry { return law.Entry{About: "it"} },
		Begin:     func(d *duty) []fact.Moment { return d.begin },
		Perhaps:   func(d *duty) []fact.Moment { return d.perhaps },
		Running:   func(d *duty) fact.Signal { return d.running },
		Done:      func(d *duty) []fact.Moment { return d.done },
		Void:      func(d *duty) []law.Void { return d.void },
		Breach:    func(*duty, fact.Moment, *fact.Moment, time.Duration) string { return "it was late" },
	}
	h := fact.NewHistory(history.Header{})
	facts := law.New(func(*fact.History) *duty { return d }, []law.Law[*duty]{of}).Begin(h)
	for i, ev := range append(events, history.Event{At: over, End: &history.End{Complete: true}}) {
		ev.Seq = int64(i + 1)
		h.Observe(&ev)
	}
	_, l := facts.Judge("CLE-20")
	return l
}

func at(seconds ...int64) []fact.Moment {
	var out []fact.Moment
	for _, one := range seconds {
		out = append(out, fact.Exactly(one*s, one))
	}
	return out
}

func always() fact.Signal { return fact.Constant(fact.Yes) }

// except is Yes but for some spans.
func except(spans ...fact.Span) fact.Signal {
	var b fact.Builder
	b.Begin(fact.Yes)
	for _, span := range spans {
		b.SetAt(span.Begin*s, fact.No)
		b.SetAt(span.End*s, fact.Yes)
	}
	return b.Signal()
}

// maybe is Yes but for a span in which it is not known.
func maybe(span fact.Span) fact.Signal {
	return fact.Or(except(span), fact.Constant(fact.Unknown))
}

func TestDeadline_EndsEachObligation(t *testing.T) {
	uncertain := []fact.Moment{{Earliest: 19 * s, Latest: 21 * s}}
	for name, tc := range map[string]struct {
		duty duty
		over int64
		want []law.Ending
	}{
		"done in time":                           {duty{begin: at(10), done: at(20), running: always()}, 50, []law.Ending{law.Met}},
		"done a moment too late":                 {duty{begin: at(10), done: []fact.Moment{fact.Exactly(20*s+1, 1)}, running: always()}, 50, []law.Ending{law.Late}},
		"done in time or too late":               {duty{begin: at(10), done: uncertain, running: always()}, 50, []law.Ending{law.Unclear}},
		"done at about the time it began":        {duty{begin: at(10), done: []fact.Moment{{Earliest: 9 * s, Latest: 11 * s}}, running: always()}, 50, []law.Ending{law.Met}},
		"done at about that time, unrelated":     {duty{begin: at(10), done: []fact.Moment{{Earliest: 9 * s, Latest: 11 * s}}, running: always(), unrelated: true}, 15, []law.Ending{law.Unclear}},
		"done at about that time, and in time":   {duty{begin: at(10), done: append([]fact.Moment{{Earliest: 9 * s, Latest: 11 * s}}, at(18)...), running: always(), unrelated: true}, 50, []law.Ending{law.Met}},
		"done before it began":                   {duty{begin: at(10), done: at(5), running: always()}, 50, []law.Ending{law.Late}},
		"never done":                             {duty{begin: at(10), running: always()}, 50, []law.Ending{law.Late}},
		"the history ended first":                {duty{begin: at(10), running: always()}, 15, []law.Ending{law.Open}},
		"the clock stood for a while":            {duty{begin: at(10), done: at(30), running: except(fact.Span{Begin: 12, End: 24})}, 50, []law.Ending{law.Met}},
		"the clock stood again and again":        {duty{begin: at(10), done: at(60), running: except(fact.Span{Begin: 15, End: 30}, fact.Span{Begin: 34, End: 50})}, 90, []law.Ending{law.Late}},
		"the clock stands at the end":            {duty{begin: at(10), running: except(fact.Span{Begin: 15, End: 900})}, 50, []law.Ending{law.Excused}},
		"begun again while it goes on":           {duty{begin: at(10, 12, 18), done: at(19), running: always()}, 50, []law.Ending{law.Met, law.Superseded, law.Superseded}},
		"begun again does not restart it":        {duty{begin: at(10, 19), done: at(25), running: always()}, 50, []law.Ending{law.Late, law.Superseded}},
		"begun again when it was over":           {duty{begin: at(10, 30), done: at(15, 45), running: always()}, 50, []law.Ending{law.Met, law.Late}},
		"void before the bound":                  {duty{begin: at(10), done: at(40), running: always(), void: []law.Void{{Moment: at(15)[0], Why: "because"}}}, 50, []law.Ending{law.Excused}},
		"void twice, told the later first":       {duty{begin: at(10), running: always(), void: []law.Void{{Moment: at(40)[0], Why: "because"}, {Moment: at(15)[0], Why: "because"}}}, 50, []law.Ending{law.Excused}},
		"done twice, told the later first":       {duty{begin: at(10), done: at(40, 12), running: always()}, 50, []law.Ending{law.Met}},
		"begun twice, told the later first":      {duty{begin: at(30, 10), done: at(15, 45), running: always()}, 50, []law.Ending{law.Met, law.Late}},
		"void after the bound":                   {duty{begin: at(10), running: always(), void: []law.Void{{Moment: at(25)[0], Why: "because"}}}, 50, []law.Ending{law.Late}},
		"void after it was done":                 {duty{begin: at(10), done: at(15), running: always(), void: []law.Void{{Moment: at(18)[0], Why: "because"}}}, 50, []law.Ending{law.Met}},
		"begun again after what never came":      {duty{begin: at(10, 40), running: always()}, 50, []law.Ending{law.Late, law.Superseded}},
		"begun while the one before may be over": {duty{begin: at(10, 12), done: []fact.Moment{{Earliest: 11 * s, Latest: 13 * s}, at(40)[0]}, running: always(), unrelated: true}, 50, []law.Ending{law.Met, law.Unclear}},
		"begun by what may be done late":         {duty{begin: at(10, 12), done: []fact.Moment{{Earliest: 11 * s, Latest: 13 * s}, at(40)[0]}, running: always()}, 50, []law.Ending{law.Met, law.Superseded}},
		"void before or after the bound":         {duty{begin: at(10), running: always(), void: []law.Void{{Moment: fact.Moment{Earliest: 18 * s, Latest: 22 * s}, Why: "because"}}}, 50, []law.Ending{law.Unclear}},
		"void, and it may have stood before":     {duty{begin: at(10), running: maybe(fact.Span{Begin: 12, End: 30}), void: []law.Void{{Moment: at(32)[0], Why: "because"}}}, 50, []law.Ending{law.Unclear}},
		"it stands at the end, and may before":   {duty{begin: at(10), running: fact.And(maybe(fact.Span{Begin: 12, End: 30}), except(fact.Span{Begin: 32, End: 900}))}, 50, []law.Ending{law.Unclear}},
		"whether the clock ran is not known":     {duty{begin: at(10), done: at(30), running: fact.Constant(fact.Unknown)}, 50, []law.Ending{law.Unclear}},
	} {
		entries := tc.duty.judge(tc.over * s).Entries
		var got []law.Ending
		for _, e := range entries {
			got = append(got, e.Ending)
			if e.Ending != law.Met && e.Why == "" {
				t.Errorf("%s: a %s obligation does not say why", name, e.Ending)
			}
		}
		if len(got) != len(tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
			continue
		}
		for i := range got {
			if got[i] != tc.want[i] {
				t.Errorf("%s: %v, want %v", name, got, tc.want)
			}
		}
	}
}

// Whatever begins ends with one entry, and what is less certain or lasts shorter is never
// met where it was not before.
func TestDeadline_UncertaintyAndACutNeverTurnAnObligationIntoMet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, begun, last := drawDuty(t, true)
		over := last + rapid.Int64Range(0, 30).Draw(t, "end")
		whole := d.judge(over * s)
		if len(whole.Entries) != len(d.begin) {
			t.Fatalf("%d obligations began and %d ended", len(d.begin), len(whole.Entries))
		}
		vague := d
		vague.done = nil
		for _, m := range d.done {
			m.Latest += rapid.Int64Range(0, 15*s).Draw(t, "told later")
			vague.done = append(vague.done, m)
		}
		if got := vague.judge(over * s).Count(law.Met); got > whole.Count(law.Met) {
			t.Fatalf("%d are met where the times are uncertain, and %d where they are not", got, whole.Count(law.Met))
		}
		short := d
		cut := rapid.Int64Range(begun, over).Draw(t, "cut")
		short.done = nil
		for _, m := range d.done {
			if m.Latest <= cut*s {
				short.done = append(short.done, m)
			}
		}
		if got := short.judge(cut * s).Count(law.Met); got > whole.Count(law.Met) {
			t.Fatalf("%d are met where the end is cut off, and %d where it is not", got, whole.Count(law.Met))
		}
	})
}

// drawDuty is a duty that begins and is done at times of chance; begun is when it begins last, and last the last of all times.
func drawDuty(t *rapid.T, unrelated bool) (d duty, begun, last int64) {
	d = duty{running: always(), unrelated: unrelated}
	now := int64(0)
	for range rapid.IntRange(1, 4).Draw(t, "begins") {
		now += rapid.Int64Range(1, 30).Draw(t, "after")
		d.begin = append(d.begin, at(now)...)
	}
	done := int64(0)
	for range rapid.IntRange(0, 4).Draw(t, "times done") {
		done += rapid.Int64Range(1, 40).Draw(t, "done after")
		d.done = append(d.done, at(done)...)
	}
	return d, now, max(now, done)
}

// What may never have begun is unclear where it may have taken too long, and else was not owed.
func TestDeadline_WhatMayHaveBegunIsUnclearIfItMayHaveBeenLate(t *testing.T) {
	perhaps := []fact.Moment{{Earliest: 5 * s, Latest: 12 * s, Seq: 1}}
	for name, tc := range map[string]struct {
		done    []fact.Moment
		unclear int64
	}{
		"done in time from the earliest on":     {at(15), 0},
		"done in time from the latest on alone": {at(16), 1},
		"never done":                            {nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := (&duty{perhaps: perhaps, done: tc.done, running: always()}).judge(60 * s)
			if c := l.Counts(); c.Unclear != tc.unclear || len(l.Entries) != int(tc.unclear) {
				t.Errorf("%s", c.Words())
			}
		})
	}
}
