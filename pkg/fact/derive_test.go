package fact_test

import (
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestCached_DerivesAgainOnlyAfterAnEvent(t *testing.T) {
	h := fact.NewHistory(history.Header{})
	derived := 0
	ask := func() int { return fact.Cached(h, "key", func() int { derived++; return derived }) }
	for range 2 {
		if got := ask(); got != 1 {
			t.Errorf("derived %d times without an event between, want once", got)
		}
	}
	h.Observe(&history.Event{Seq: 1})
	if got := ask(); got != 2 {
		t.Errorf("after an event got %d, want what is derived anew", got)
	}
}

func TestFollow_TakesTheValueAtTheLatestInstant(t *testing.T) {
	changes := []fact.Moment{{Earliest: 5, Latest: 10}, {Earliest: 20, Latest: 20}}
	s := fact.Follow(changes, func(m fact.Moment) fact.Moment { return m }, func(m fact.Moment) bool { return m.Earliest == 5 })
	for at, want := range map[int64]fact.Truth{4: fact.No, 7: fact.Unknown, 10: fact.Yes, 20: fact.No} {
		if got := s.At(at); got != want {
			t.Errorf("at %d: got %v, want %v", at, got, want)
		}
	}
	if s := fact.Between(fact.Exactly(3, 1), nil); s.At(2) != fact.No || s.At(100) != fact.Yes {
		t.Error("a stretch without an end does not last to the end")
	}
}

func TestLast_IsTheOneInForceAtARevision(t *testing.T) {
	revisions := []int64{2, 4, 4, 9}
	for at, want := range map[int64]int{1: -1, 2: 0, 4: 2, 8: 2, 9: 3} {
		if got := fact.Last(revisions, at, func(r int64) int64 { return r }); got != want {
			t.Errorf("at revision %d: got %d, want %d", at, got, want)
		}
	}
	if got := fact.Where([]int{1, 2, 3}, func(n int) bool { return n != 2 }); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("got %v", got)
	}
}
