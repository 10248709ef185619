package law_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// ledgerOf is what a law over one duty enters, by the end of a history of 100 seconds.
func ledgerOf(id requirement.ID, of law.Law[*duty], events ...history.Event) *law.Ledger {
	h := fact.NewHistory(history.Header{})
	facts := law.New(func(*fact.History) *duty { return &duty{} }, []law.Law[*duty]{of}).Begin(h)
	for i, ev := range append(events, history.Event{At: 100 * s, End: &history.End{Complete: true}}) {
		ev.Seq = int64(i + 1)
		h.Observe(&ev)
	}
	_, l := facts.Judge(id)
	return l
}

func endings(l *law.Ledger) (out []law.Ending) {
	for _, e := range l.Entries {
		out = append(out, e.Ending)
	}
	return out
}

// condition is what has to hold while another one does.
type condition struct{ while, holds fact.Signal }

func (condition) Entry() law.Entry { return law.Entry{About: "it"} }

func TestAlways_EndsEachStretchInWhichItHasToHold(t *testing.T) {
	from := func(spans ...fact.Span) fact.Signal { return fact.Not(except(spans...)) }
	maybe := func(m fact.Moment) fact.Signal { return fact.From(m) }
	for name, tc := range map[string]struct {
		condition
		want []law.Ending
	}{
		"it holds":                                {condition{from(fact.Span{Begin: 10, End: 20}), always()}, []law.Ending{law.Met}},
		"it holds in one of two":                  {condition{from(fact.Span{Begin: 10, End: 20}, fact.Span{Begin: 50, End: 80}), except(fact.Span{Begin: 55, End: 79})}, []law.Ending{law.Met, law.Broken}},
		"it fails for less than allowed":          {condition{from(fact.Span{Begin: 10, End: 50}), except(fact.Span{Begin: 12, End: 21})}, []law.Ending{law.Met}},
		"it fails before and after":               {condition{from(fact.Span{Begin: 40, End: 50}), except(fact.Span{Begin: 12, End: 39}, fact.Span{Begin: 51, End: 90})}, []law.Ending{law.Met}},
		"it may fail for too long":                {condition{from(fact.Span{Begin: 10, End: 50}), maybe(fact.Moment{Earliest: 12 * s, Latest: 40 * s})}, []law.Ending{law.Unclear}},
		"it fails, and need not hold for a while": {condition{from(fact.Span{Begin: 10, End: 18}, fact.Span{Begin: 20, End: 50}), except(fact.Span{Begin: 12, End: 32})}, []law.Ending{law.Broken, law.Broken}},
		"it holds in between":                     {condition{from(fact.Span{Begin: 10, End: 50}), except(fact.Span{Begin: 12, End: 20}, fact.Span{Begin: 21, End: 30})}, []law.Ending{law.Met}},
		"it never has to hold":                    {condition{fact.Constant(fact.No), always()}, []law.Ending{law.Excused}},
		"it fails to the end":                     {condition{always(), except(fact.Span{Begin: 80, End: 200})}, []law.Ending{law.Broken}},
		"it fails all of a time that is allowed":  {condition{from(fact.Span{Begin: 40, End: 50}), except(fact.Span{Begin: 12, End: 90})}, []law.Ending{law.Excused}},
		"it may hold in a time that is allowed":   {condition{from(fact.Span{Begin: 40, End: 50}), maybe(fact.Moment{Earliest: 12 * s, Latest: 90 * s})}, []law.Ending{law.Excused}},
		"it holds only after such a time":         {condition{from(fact.Span{Begin: 40, End: 50}), except(fact.Span{Begin: 12, End: 50})}, []law.Ending{law.Excused}},
		"it holds at one instant of it":           {condition{from(fact.Span{Begin: 40, End: 50}), except(fact.Span{Begin: 12, End: 45}, fact.Span{Begin: 46, End: 90})}, []law.Ending{law.Met}},
	} {
		t.Run(name, func(t *testing.T) {
			l := ledgerOf("RO-11", law.Always[*duty, condition]{
				Row: law.Row{ID: "RO-11"}, Over: func(*duty) []condition { return []condition{tc.condition} },
				While: func(c condition) fact.Signal { return c.while }, Holds: func(c condition) fact.Signal { return c.holds },
				Grace: "withoutAnswer", Idle: "it never had to",
				Breach: func(_ condition, from, to int64) (string, []int64) { return fmt.Sprint((to - from) / s), []int64{1} },
			})
			if got := endings(l); !slices.Equal(got, tc.want) {
				t.Errorf("the stretches ended as %v, want %v", got, tc.want)
			}
			for _, e := range l.Of(law.Broken) {
				if e.Why != "24" && e.Why != "20" || e.About != "it" {
					t.Errorf("the breach is %+v", e)
				}
			}
		})
	}
}

func TestSameAcross_HoldsEachAgainstTheFirstOfItsKey(t *testing.T) {
	samples := []law.Sample{
		{Key: "a", By: "cp1", Value: "x", At: fact.Exactly(1*s, 1)}, {Key: "b", By: "cp1", Value: "y", At: fact.Exactly(2*s, 2)},
		{Key: "a", By: "cp2", Value: "x", At: fact.Exactly(3*s, 3)}, {Key: "b", By: "cp2", Value: "z", At: fact.Exactly(4*s, 4)},
	}
	l := ledgerOf("CLE-07", law.SameAcross[*duty]{
		Row: law.Row{ID: "CLE-07"}, Samples: func(*duty) []law.Sample { return samples },
		Breach: func(first, other law.Sample) string { return other.By + " is not " + first.By },
	})
	if got := endings(l); !slices.Equal(got, []law.Ending{law.Met, law.Broken}) {
		t.Fatalf("the samples ended as %v", got)
	}
	if e := l.Entries[1]; e.Why != "cp2 is not cp1" || !slices.Equal(e.Evidence, []int64{2, 4}) {
		t.Errorf("the breach is %+v", e)
	}
	if e := l.Entries[0]; e.Member != "cp2" || e.About != "a" {
		t.Errorf("what is the same is %+v", e)
	}
}

func TestTogether_HasTheObligationsAndDoubtsOfItsParts(t *testing.T) {
	part := func(judge func(l *law.Ledger)) law.Law[*duty] {
		return law.Written[*duty]{Judge: func(_ *duty, l *law.Ledger, _ law.Bounds) { judge(l) }}
	}
	of := law.Together[*duty]{Row: law.Row{ID: "CLE-07", Needs: []law.Need{{Name: "decided"}}}, Parts: []law.Law[*duty]{
		part(func(l *law.Ledger) { l.Met("a", fact.Exactly(s, 1)) }),
		part(func(l *law.Ledger) { l.Excused("b", fact.Exactly(s, 1), "c") }),
		part(func(l *law.Ledger) { l.Doubt("it is not known") }),
	}}
	l := ledgerOf("CLE-07", of)
	if got := endings(l); !slices.Equal(got, []law.Ending{law.Met, law.Excused}) {
		t.Errorf("the parts ended as %v", got)
	}
	req, _ := requirement.Lookup("CLE-07")
	req.Needs = nil
	r := law.Weigh(req, law.Row{ID: "CLE-07"}, l, fact.NewHistory(history.Header{}), nil)
	if r.Verdict != law.Inconclusive || !slices.Contains(r.Reasons, "it is not known") {
		t.Errorf("a doubt of a part is lost: %s %q", r.Verdict, r.Reasons)
	}
}

func TestEach_LeavesOutWhatWasNeverOwed(t *testing.T) {
	l := ledgerOf("CLE-07", law.Each[*duty, int]{
		Row: law.Row{ID: "CLE-07"}, Over: func(*duty) []int { return []int{1, 2, 3} },
		End: func(n int, _ law.Bounds) law.Entry {
			e := law.Of(fmt.Sprint(n), fact.Exactly(int64(n)*s, int64(n)))
			switch n {
			case 1:
				return e.Met()
			case 2:
				return e.Late("it came %s", "late")
			}
			return law.Entry{}
		},
	})
	if got := endings(l); !slices.Equal(got, []law.Ending{law.Met, law.Late}) || l.Entries[1].Why != "it came late" {
		t.Errorf("the subjects ended as %v", got)
	}
}

func TestVoids_AreTheEndsOfProcesses(t *testing.T) {
	end := fact.Exactly(5*s, 3)
	if got := law.Ended(&fact.Process{Exited: &end}); len(got) != 1 || got[0].Seq != 3 || got[0].Why == "" {
		t.Errorf("the end of a process is %+v", got)
	}
	if len(law.Ended(&fact.Process{})) > 0 || len(law.Ended(nil)) > 0 {
		t.Error("a process that lives has ended")
	}
}

// A value that need not be the same for certain proves nothing where it is, and breaks nothing where
// it is not, whichever came first.
func TestSameAcross_WhatIsNotCertainDecidesNothing(t *testing.T) {
	at := func(seq int64) fact.Moment { return fact.Exactly(seq, seq) }
	for name, tc := range map[string]struct {
		samples []law.Sample
		want    []law.Ending
	}{
		"the same":       {[]law.Sample{{Key: "k", Value: "a", At: at(1)}, {Key: "k", Value: "a", At: at(2), Unsure: true}}, nil},
		"another":        {[]law.Sample{{Key: "k", Value: "a", At: at(1)}, {Key: "k", Value: "b", At: at(2), Unsure: true}}, []law.Ending{law.Unclear}},
		"another, first": {[]law.Sample{{Key: "k", Value: "b", At: at(1), Unsure: true}, {Key: "k", Value: "a", At: at(2)}, {Key: "k", Value: "a", At: at(3)}}, []law.Ending{law.Met, law.Unclear}},
	} {
		l := ledgerOf("CLE-07", law.SameAcross[*duty]{
			Row:     law.Row{ID: "CLE-07"},
			Samples: func(*duty) []law.Sample { return tc.samples },
			Breach:  func(first, other law.Sample) string { return first.Value + " and " + other.Value },
		})
		got := fact.Where(endings(l), func(e law.Ending) bool { return e != "" })
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
