package fact

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestHistory_AggregatedRevisionsAreNotThoseOfEtcd(t *testing.T) {
	h := NewHistory(history.Header{})
	h.Observe(&history.Event{Seq: 1, At: 100, From: 50, Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/x", Revision: 7}})
	h.Observe(&history.Event{Seq: 2, At: 300, From: 200, Kind: history.KindRequest, Member: "a", Request: &history.Request{Class: history.ClassAggregated, Code: 200, ResourceVersion: 1, Write: 1}})
	if m := h.When(Stamp{Seq: 1, At: 100, From: 50, Revision: 7}); m.Earliest != 50 || m.Latest != 100 {
		t.Errorf("the change was made between %d and %d, want 50 and 100", m.Earliest, m.Latest)
	}
}

func TestClock_ByIsTheHighestRevisionMadeByATime(t *testing.T) {
	var c Clock
	c.Seen(5, 100)
	c.Made(9, 150, 200)
	for at, want := range map[int64]int64{99: 0, 100: 5, 199: 5, 200: 9, 1000: 9} {
		if got := c.By(at); got != want {
			t.Errorf("by %d revision %d was made, want %d", at, got, want)
		}
	}
}
