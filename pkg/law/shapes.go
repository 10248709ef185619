package law

import (
	"cmp"
	"maps"
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

// Always is a law by which a condition holds while another one does. Each stretch of time
// in which it has to hold is an obligation. One that is too short to break the law is met only
// if the condition is seen to hold in it: that nothing was seen is no proof.
type Always[F, S any] struct {
	Row
	// Over are the subjects.
	Over func(F) []S
	// Describe says what a subject is about. Optional where S has a method Entry() Entry.
	Describe func(S) Entry
	// While is when the condition has to hold.
	While func(S) fact.Signal
	// Holds is the condition.
	Holds func(S) fact.Signal
	// Grace names the bound for how long at a time it need not hold; empty for not at all. Time
	// in which it does not have to hold does not count, and does not begin it anew.
	Grace string
	// Idle is why a subject proves nothing for which the condition never had to hold; without
	// it nothing was owed.
	Idle string
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
		e := entryOf(a.Describe, s)
		while, holds := a.While(s), a.Holds(s)
		lacks, shown := fact.Not(holds), holds.Spans(fact.Yes)
		certain, possible := lacking(while, lacks, fact.Yes, grace, over), lacking(while, lacks, fact.Unknown, grace, over)
		stretches := while.Spans(fact.Yes)
		if len(stretches) == 0 && a.Idle != "" {
			l.Add(e.Excused("%s", a.Idle))
		}
		for _, span := range stretches {
			e := e
			e.Began = fact.Exactly(max(span.Begin, 0), e.Began.Seq)
			switch broken, unclear := within(certain, span), within(possible, span); {
			case len(broken) > 0:
				e = a.broken(s, e, broken, grace, bounds.over)
			case len(unclear) > 0:
				why, events := a.Breach(s, unclear[0].Begin, min(unclear[0].End, over))
				e = e.Unclear("it is not certain whether %s", why).Shown(events...)
			case len(within(shown, span)) == 0:
				e = e.Excused("it was over too soon to be broken, and was not seen to be kept")
			default:
				e = e.Met()
			}
			l.Add(e)
		}
	}
	return l
}

// broken ends a stretch by the first span without the condition that the machine does not
// explain.
func (a Always[F, S]) broken(s S, e Entry, spans []fact.Span, grace int64, h *fact.History) Entry {
	var first Entry
	for i, span := range spans {
		to := min(span.End, h.Now)
		why, shown := a.Breach(s, span.Begin, to)
		one := e.Broken("%s", why).Shown(shown...)
		if a.Grace != "" {
			while := a.While(s)
			one = UnlessStarved(h, one, time.Duration(while.Lasts(max(span.Begin, 0), to, fact.Yes)-grace), while, span.Begin, to)
		}
		if i == 0 || one.Ending == Broken {
			first = one
		}
		if one.Ending == Broken {
			break
		}
	}
	return first
}

// lacking are the spans in which something lacks for longer than a grace, from the first to
// the last instant at which it has to be there. The clock stands in between while it has not,
// and never begins anew.
func lacking(while, lacks fact.Signal, atLeast fact.Truth, grace, over int64) (out []fact.Span) {
	owed := fact.And(while, lacks).Spans(atLeast)
	for _, span := range lacks.Spans(atLeast) {
		all, total := within(owed, span), int64(0)
		for _, one := range all {
			total += max(min(one.End, over)-max(one.Begin, 0), 0)
		}
		if total > grace {
			out = append(out, fact.Span{Begin: all[0].Begin, End: all[len(all)-1].End})
		}
	}
	return out
}

// within are the spans that overlap another one.
func within(spans []fact.Span, in fact.Span) []fact.Span {
	return fact.Where(spans, func(s fact.Span) bool { return s.Begin < in.End && s.End > in.Begin })
}

// Sample is a value that one of several gave.
type Sample struct {
	// Key of what has to be the same; By is who gave the value.
	Key, By, Value string
	At             fact.Moment
	// Unsure is whether it is not certain that the value has to be the same: one that is proves
	// nothing, and one that is not is unclear.
	Unsure bool
}

// SameAcross is a law by which all give the same value. Each sample after the first one
// of its key is an obligation.
type SameAcross[F any] struct {
	Row
	Samples func(F) []Sample
	// Tags are those of a sample that gave the value of the first one. Optional.
	Tags []string
	// Breach says in a sentence what differs.
	Breach func(first, other Sample) string
}

func (s SameAcross[F]) judge(facts F, _ Bounds) *Ledger {
	l := &Ledger{}
	first := map[string]Sample{}
	samples := s.Samples(facts)
	sure := func(one Sample) bool { return !one.Unsure }
	for _, sample := range slices.Concat(fact.Where(samples, sure), fact.Where(samples, func(one Sample) bool { return one.Unsure })) {
		before, known := first[sample.Key]
		e := Of(sample.Key, sample.At).By(sample.By)
		switch {
		case !known:
			first[sample.Key] = sample
		case before.Value == sample.Value && !sample.Unsure:
			l.Add(e.Met(s.Tags...))
		case before.Value == sample.Value:
		case sample.Unsure:
			l.Add(e.Unclear("it is not certain whether it had to be as before: %s", s.Breach(before, sample)).Shown(before.At.Seq, sample.At.Seq))
		default:
			l.Broken(sample.Key, sample.At, evidence(before.At.Seq, sample.At.Seq), "%s", s.Breach(before, sample))
		}
	}
	return l
}

// evidence lists numbers of events, each once; zeroes stand for none.
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
func SortedKeys[K cmp.Ordered, V any](of map[K]V) []K { return slices.Sorted(maps.Keys(of)) }
