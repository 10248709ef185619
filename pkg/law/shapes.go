package law

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

func (r Row) row() Row { return r }

// Written is a law that is written by hand, for what fits no other shape.
type Written[F any] struct {
	Row
	Judge func(facts F, ledger *Ledger, bounds Bounds)
}

func (w Written[F]) judge(facts F, bounds Bounds) *Ledger {
	l := &Ledger{}
	w.Judge(facts, l, bounds)
	return l
}

// Together is a law of several parts, each of which enters its obligations.
type Together[F any] struct {
	Row
	Parts []Law[F]
}

func (t Together[F]) judge(facts F, bounds Bounds) *Ledger {
	l := &Ledger{}
	for _, part := range t.Parts {
		of := part.judge(facts, bounds)
		l.Entries = append(l.Entries, of.Entries...)
		l.doubts = append(l.doubts, of.doubts...)
	}
	return l
}

// Never is a law by which something never happens. Each occasion on which it could have
// is an obligation.
type Never[F, S any] struct {
	Row
	// Occasions on which it could have happened.
	Occasions func(F) []S
	// Describe says what an occasion is about and when it was.
	Describe func(S) Entry
	// Happened is whether it did.
	Happened func(S) fact.Truth
	// Excuse is why an occasion proves nothing; empty if it does. Optional.
	Excuse func(F, S) string
	// Breach says in a sentence what happened, with the evidence.
	Breach func(S) (string, []int64)
}

func (n Never[F, S]) judge(facts F, _ Bounds) *Ledger {
	l := &Ledger{}
	for _, s := range n.Occasions(facts) {
		why := ""
		if n.Excuse != nil {
			why = n.Excuse(facts, s)
		}
		l.Add(weigh(n.Describe(s), n.Happened(s).Not(), why, func() (string, []int64) { return n.Breach(s) }))
	}
	return l
}

// OnlyIf is a law by which something happens only if a condition holds at that moment.
// Each time that it happens is an obligation.
type OnlyIf[F, S any] struct {
	Row
	// Events are what happens.
	Events func(F) []S
	// Describe says what an event is about and when it was.
	Describe func(S) Entry
	// If is the condition.
	If func(S) fact.Truth
	// Excuse is why an event proves nothing; empty if it does. Optional.
	Excuse func(S) string
	// Breach says in a sentence what happened, with the evidence.
	Breach func(S) (string, []int64)
}

func (o OnlyIf[F, S]) judge(facts F, _ Bounds) *Ledger {
	l := &Ledger{}
	for _, s := range o.Events(facts) {
		l.Add(weigh(o.Describe(s), o.If(s), excuse(o.Excuse, s), func() (string, []int64) { return o.Breach(s) }))
	}
	return l
}

func excuse[S any](of func(S) string, s S) string {
	if of == nil {
		return ""
	}
	return of(s)
}

// weigh ends an obligation by whether it was kept.
func weigh(e Entry, kept fact.Truth, excuse string, breach func() (string, []int64)) Entry {
	switch {
	case excuse != "":
		e.Ending, e.Why = Excused, excuse
	case kept == fact.Yes:
		e.Ending = Met
	case kept == fact.No:
		e.Ending = Broken
		e.Why, e.Evidence = breach()
	default:
		e.Ending = Unclear
		e.Why, e.Evidence = breach()
		e.Why = "it is not certain whether " + e.Why
	}
	return e
}

// Always is a law by which a condition holds while another one does. Each stretch of time
// in which it has to hold is an obligation.
type Always[F, S any] struct {
	Row
	// Over are the subjects.
	Over func(F) []S
	// Describe says what a subject is about.
	Describe func(S) Entry
	// While is when the condition has to hold.
	While func(S) fact.Signal
	// Holds is the condition.
	Holds func(S) fact.Signal
	// Grace names the bound for how long at a time it need not hold; empty for not at all.
	Grace string
	// Tag gives tags to a stretch that was met. Optional.
	Tag func(s S, in fact.Span) []string
	// Breach says in a sentence what was seen between two instants, with the evidence.
	Breach func(s S, from, to int64) (string, []int64)
}

func (a Always[F, S]) judge(facts F, bounds Bounds) *Ledger {
	l := &Ledger{}
	grace := int64(0)
	if a.Grace != "" {
		grace = int64(bounds.Of(a.Grace))
	}
	over := bounds.Over().Latest
	for _, s := range a.Over(facts) {
		while, lacks := a.While(s), fact.Not(a.Holds(s))
		certain := longer(fact.And(while, lacks).Spans(fact.Yes), grace, over)
		possible := longer(fact.And(while, lacks).Spans(fact.Unknown), grace, over)
		for _, span := range while.Spans(fact.Yes) {
			e := a.Describe(s)
			e.Began = fact.Exactly(max(span.Begin, 0), e.Began.Seq)
			if i := within(certain, span); i >= 0 {
				e.Ending = Broken
				e.Why, e.Evidence = a.Breach(s, certain[i].Begin, min(certain[i].End, over))
			} else if i := within(possible, span); i >= 0 {
				e.Ending = Unclear
				e.Why, e.Evidence = a.Breach(s, possible[i].Begin, min(possible[i].End, over))
				e.Why = "it is not certain whether " + e.Why
			} else {
				e.Ending = Met
				if a.Tag != nil {
					e.Tags = a.Tag(s, span)
				}
			}
			l.Add(e)
		}
	}
	return l
}

// longer are the spans that last longer than a grace, by the end of the history.
func longer(spans []fact.Span, grace, over int64) []fact.Span {
	return slices.DeleteFunc(spans, func(s fact.Span) bool { return min(s.End, over)-max(s.Begin, 0) <= grace })
}

func within(spans []fact.Span, in fact.Span) int {
	return slices.IndexFunc(spans, func(s fact.Span) bool { return s.Begin < in.End && s.End > in.Begin })
}

// Void is a moment from which on an obligation proves nothing, and why.
type Void struct {
	fact.Moment
	Why string
}

// Deadline is a law by which something comes about within a bound. Each moment at which it
// begins to be owed is an obligation; one that begins while an earlier one of the same
// subject goes on is superseded by it, so that no clock begins anew.
type Deadline[F, S any] struct {
	Row
	// Bound names the bound in the catalogue; BoundOf computes one that follows from the
	// subject, and has its formula in the catalogue.
	Bound   string
	BoundOf func(s S, began fact.Moment) time.Duration
	// Over are the subjects.
	Over func(F) []S
	// Describe says what a subject is about.
	Describe func(S) Entry
	// Begin is when it begins to be owed, in the order of time.
	Begin func(S) []fact.Moment
	// Running is while the clock runs: while all that it takes is there. Optional: always.
	Running func(S) fact.Signal
	// Done is when it came about, in the order of time.
	Done func(S) []fact.Moment
	// Void are moments from which on an obligation that is not over proves nothing.
	// Optional.
	Void func(S) []Void
	// Breach says in a sentence what was late, for how long; done is nil where it never
	// came about.
	Breach func(s S, began fact.Moment, done *fact.Moment, took time.Duration) string
	// Tag gives tags to an obligation that was met. Optional.
	Tag func(s S, began, done fact.Moment) []string
	// Kind and Release of a breach, for documented deviations. Optional.
	Kind    string
	Release func(s S, began fact.Moment) string
}

func (d Deadline[F, S]) judge(facts F, bounds Bounds) *Ledger {
	l := &Ledger{}
	over := bounds.Over()
	for _, s := range d.Over(facts) {
		running := fact.Constant(fact.Yes)
		if d.Running != nil {
			running = d.Running(s)
		}
		var voids []Void
		if d.Void != nil {
			voids = d.Void(s)
		}
		done := d.Done(s)
		until := int64(fact.Never) // the end of the obligation before
		for _, began := range d.Begin(s) {
			e := d.Describe(s)
			e.Began = began
			if began.Latest <= until {
				e.Ending, e.Why = Superseded, "an earlier one stands for it"
				l.Add(e)
				continue
			}
			bound := time.Duration(0)
			if d.BoundOf != nil {
				bound = d.BoundOf(s, began)
			} else {
				bound = bounds.Of(d.Bound)
			}
			until = d.weigh(&e, s, running, done, voids, bound, over)
			l.Add(e)
		}
	}
	return l
}

// weigh ends an obligation, and gives the instant up to which it went on.
func (d Deadline[F, S]) weigh(e *Entry, s S, running fact.Signal, done []fact.Moment, voids []Void, bound time.Duration, over fact.Moment) int64 {
	began := e.Began
	var came *fact.Moment
	if i := slices.IndexFunc(done, func(m fact.Moment) bool {
		return m.Before(began) != fact.Yes && m.Latest >= began.Earliest
	}); i >= 0 {
		came = &done[i]
	}
	end := over
	if came != nil {
		end = *came
	}
	var void *Void
	if i := slices.IndexFunc(voids, func(v Void) bool { return v.Latest >= began.Earliest && v.Before(end) != fact.No }); i >= 0 {
		void, end = &voids[i], voids[i].Moment
	}
	e.Least = time.Duration(running.Lasts(began.Latest, end.Earliest, fact.Yes))
	e.Most = time.Duration(running.Lasts(began.Earliest, end.Latest, fact.Unknown))
	if began.Latest > end.Earliest {
		e.Least = 0
	}
	switch {
	case e.Least > bound:
		e.Ending, e.Evidence = Late, evidence(began.Seq, end.Seq)
		if void != nil {
			came = nil
		}
		e.Why, e.Kind = d.Breach(s, began, came, e.Least), d.Kind
		if d.Release != nil {
			e.Release = d.Release(s, began)
		}
		if came == nil {
			return fact.Forever // the clock of one that never came about runs on
		}
	case void != nil:
		e.Ending, e.Why = Excused, void.Why
	case came == nil && running.At(over.Latest) == fact.No:
		e.Ending, e.Why = Excused, "what it takes was not there at the end of the history"
		return fact.Forever
	case came == nil:
		e.Ending, e.Evidence = Open, evidence(began.Seq)
		e.Why = fmt.Sprintf("the history ended %s after event %d, and the bound is %s", e.Most.Round(time.Millisecond), began.Seq, bound)
		return fact.Forever
	case e.Most > bound:
		e.Ending, e.Evidence = Unclear, evidence(began.Seq, end.Seq)
		e.Why = fmt.Sprintf("it took between %s and %s, and the bound is %s", e.Least.Round(time.Millisecond), e.Most.Round(time.Millisecond), bound)
	default:
		e.Ending = Met
		if d.Tag != nil {
			e.Tags = d.Tag(s, began, end)
		}
	}
	return end.Latest
}

// Tenure is a stretch of time in which one had what only one may have.
type Tenure struct {
	Who string
	// From and To are its first and last sign.
	From, To fact.Moment
	// Excuse is why it proves nothing; empty if it does.
	Excuse string
	Tags   []string
}

// AtMostOne is a law by which tenures of the same thing do not overlap. Each tenure that
// follows on another one's is an obligation.
type AtMostOne[F any] struct {
	Row
	// Tenures by what they are of, each in the order of their beginning.
	Tenures func(F) map[string][]Tenure
	// Breach says in a sentence what overlapped.
	Breach func(of string, before, after Tenure) string
}

func (a AtMostOne[F]) judge(facts F, _ Bounds) *Ledger {
	l := &Ledger{}
	all := a.Tenures(facts)
	for _, of := range SortedKeys(all) {
		for i, after := range all[of] {
			if i == 0 {
				continue
			}
			before := all[of][i-1]
			e := Entry{About: of, Began: after.From, Tags: after.Tags}
			l.Add(weigh(e, before.To.Before(after.From), cmp.Or(after.Excuse, before.Excuse), func() (string, []int64) {
				return a.Breach(of, before, after), evidence(after.From.Seq, before.To.Seq)
			}))
		}
	}
	return l
}

// Sample is a value that one of several gave.
type Sample struct {
	// Key of what has to be the same; By is who gave the value.
	Key, By, Value string
	At             fact.Moment
}

// SameAcross is a law by which all give the same value. Each sample after the first one
// of its key is an obligation.
type SameAcross[F any] struct {
	Row
	Samples func(F) []Sample
	// Breach says in a sentence what differs.
	Breach func(first, other Sample) string
}

func (s SameAcross[F]) judge(facts F, _ Bounds) *Ledger {
	l := &Ledger{}
	first := map[string]Sample{}
	for _, sample := range s.Samples(facts) {
		before, known := first[sample.Key]
		switch {
		case !known:
			first[sample.Key] = sample
		case before.Value == sample.Value:
			l.MetBy(sample.By, sample.Key, sample.At)
		default:
			l.Broken(sample.Key, sample.At, evidence(before.At.Seq, sample.At.Seq), "%s", s.Breach(before, sample))
		}
	}
	return l
}

// evidence lists numbers of events; zeroes stand for none.
func evidence(seqs ...int64) []int64 {
	out := make([]int64, 0, len(seqs))
	for _, s := range seqs {
		if s > 0 && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Evidence lists the numbers of events, each once and without zeroes, in order.
func Evidence(seqs ...int64) []int64 {
	out := evidence(seqs...)
	slices.Sort(out)
	return out
}

// SortedKeys are the keys of a map in order, so that no verdict depends on chance.
func SortedKeys[K cmp.Ordered, V any](of map[K]V) []K {
	out := make([]K, 0, len(of))
	for k := range of {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
