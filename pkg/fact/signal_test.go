package fact_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// horizon is the last instant at which generated signals change.
const horizon = 60

// signals draws a signal of up to ten changes, some of them at uncertain moments.
func signals(t *rapid.T, name string) fact.Signal {
	var b fact.Builder
	b.Begin(truth(t, name+" first"))
	at := int64(0)
	for range rapid.IntRange(0, 10).Draw(t, name+" changes") {
		at += rapid.Int64Range(0, 9).Draw(t, name+" after")
		m := fact.Moment{Earliest: at, Latest: at + rapid.Int64Range(0, 3).Draw(t, name+" width")}
		b.Set(m, truth(t, name+" value"))
		at = m.Latest
	}
	return b.Signal()
}

func truth(t *rapid.T, name string) fact.Truth {
	return rapid.SampledFrom([]fact.Truth{fact.No, fact.Unknown, fact.Yes}).Draw(t, name)
}

func TestSignal_CombinesAsKleeneLogicAtEachInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := signals(t, "a"), signals(t, "b"), signals(t, "c")
		for at := int64(-1); at <= 150; at++ {
			x, y, z := a.At(at), b.At(at), c.At(at)
			for what, pair := range map[string][2]fact.Truth{
				"And":       {fact.And(a, b, c).At(at), min(x, y, z)},
				"Or":        {fact.Or(a, b, c).At(at), max(x, y, z)},
				"Not":       {fact.Not(a).At(at), x.Not()},
				"De Morgan": {fact.Not(fact.And(a, b)).At(at), fact.Or(fact.Not(a), fact.Not(b)).At(at)},
			} {
				if pair[0] != pair[1] {
					t.Fatalf("%s at %d is %s, want %s", what, at, pair[0], pair[1])
				}
			}
		}
		if fact.And().At(0) != fact.Yes || fact.Or().At(0) != fact.No {
			t.Fatal("And() has to hold always and Or() never")
		}
	})
}

func TestSignal_LastsAddsUpAndReachesIsItsInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := signals(t, "s")
		from := rapid.Int64Range(0, horizon).Draw(t, "from")
		middle := from + rapid.Int64Range(0, horizon).Draw(t, "middle")
		to := middle + rapid.Int64Range(0, horizon).Draw(t, "to")
		for _, atLeast := range []fact.Truth{fact.Unknown, fact.Yes} {
			whole := s.Lasts(from, to, atLeast)
			if sum := s.Lasts(from, middle, atLeast) + s.Lasts(middle, to, atLeast); sum != whole {
				t.Fatalf("from %d to %d it lasts %d, and %d in two parts", from, to, whole, sum)
			}
			if s.Lasts(from, to, fact.Yes) > s.Lasts(from, to, fact.Unknown) {
				t.Fatal("it certainly holds for longer than it may hold")
			}
			total := rapid.Int64Range(0, horizon).Draw(t, "total")
			if at := s.Reaches(from, total, atLeast); at != fact.Forever && s.Lasts(from, at, atLeast) != total {
				t.Fatalf("it reaches %d at %d, and lasts %d by then", total, at, s.Lasts(from, at, atLeast))
			}
		}
	})
}

func TestSignal_DuringIsTheValueOfAllInstantsOrUnknown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := signals(t, "s")
		m := fact.Moment{Earliest: rapid.Int64Range(0, horizon).Draw(t, "earliest")}
		m.Latest = m.Earliest + rapid.Int64Range(0, 10).Draw(t, "width")
		want := s.At(m.Earliest)
		for at := m.Earliest; at <= m.Latest; at++ {
			if s.At(at) != want {
				want = fact.Unknown
				break
			}
		}
		if got := s.During(m); got != want {
			t.Fatalf("during %+v it is %s, want %s", m, got, want)
		}
	})
}

func TestSignal_SpansCoverExactlyTheInstantsAtWhichItHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := signals(t, "s")
		for _, atLeast := range []fact.Truth{fact.Unknown, fact.Yes} {
			spans := s.Spans(atLeast)
			for at := int64(0); at <= 150; at++ {
				in := false
				for _, span := range spans {
					in = in || span.Begin <= at && at < span.End
				}
				if in != (s.At(at) >= atLeast) {
					t.Fatalf("at %d it is %s, and its spans are %v", at, s.At(at), spans)
				}
			}
		}
	})
}

func TestSignal_IsUnknownForTheLengthOfTheMomentInWhichItChanges(t *testing.T) {
	var b fact.Builder
	b.Set(fact.Moment{Earliest: 10, Latest: 20}, fact.Yes)
	b.Set(fact.Exactly(30, 0), fact.No)
	s := b.Signal()
	for at, want := range map[int64]fact.Truth{9: fact.No, 10: fact.Unknown, 19: fact.Unknown, 20: fact.Yes, 29: fact.Yes, 30: fact.No} {
		if got := s.At(at); got != want {
			t.Errorf("at %d it is %s, want %s", at, got, want)
		}
	}
	if yes, perhaps := s.Lasts(0, 100, fact.Yes), s.Lasts(0, 100, fact.Unknown); yes != 10 || perhaps != 20 {
		t.Errorf("it lasts at least %d and at most %d, want 10 and 20", yes, perhaps)
	}
	if rises := s.Rises(); len(rises) != 1 || rises[0].Earliest != 10 || rises[0].Latest != 20 {
		t.Errorf("it rises %+v, want once from 10 to 20", rises)
	}
}

func TestSignal_ADipToUnknownIsNoSecondRise(t *testing.T) {
	var b fact.Builder
	b.SetAt(10, fact.Yes)
	b.SetAt(20, fact.Unknown)
	b.SetAt(30, fact.Yes)
	if rises := b.Signal().Rises(); len(rises) != 1 {
		t.Errorf("it rises %+v, want once", rises)
	}
}

func TestSignal_SinceIsTheLeastThatItWasForTheTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, ns := signals(t, "s"), rapid.Int64Range(1, 20).Draw(t, "ns")
		for at := int64(0); at <= 150; at++ {
			want := fact.Yes
			for before := at - ns; before <= at; before++ {
				want = min(want, s.At(before))
			}
			if got := s.Since(ns).At(at); got != want {
				t.Fatalf("at %d it has been so for %d: %s, want %s", at, ns, got, want)
			}
		}
	})
}

func TestSignal_MayRiseWhereItIsNeverYes(t *testing.T) {
	var b fact.Builder
	for at, value := range []fact.Truth{fact.No, fact.Unknown, fact.No, fact.Unknown, fact.Yes, fact.Unknown, fact.No} {
		b.SetAt(int64(at), value)
	}
	if may := b.Signal().MayRise(); len(may) != 1 || may[0].Earliest != 1 || may[0].Latest != 2 {
		t.Errorf("it may rise %+v, want once from 1 to 2", may)
	}
}
