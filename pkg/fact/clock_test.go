package fact

import (
	"testing"
	"time"

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

// A server under test must not date the changes of etcd by what it answers.
func TestHistory_ARevisionThatEtcdDidNotHaveDatesNoChange(t *testing.T) {
	for _, tc := range []struct {
		name             string
		answer           history.Request
		earliest, latest time.Duration
	}{
		{"the one that etcd had", history.Request{Code: 200, ResourceVersion: 7}, 600, 650},
		{"one far ahead", history.Request{Code: 200, ResourceVersion: 1000}, 600, 700},
		{"the last of those that came later", history.Request{Code: 200, ResourceVersion: 9}, 600, 700},
		{"a write far behind", history.Request{Code: 200, ResourceVersion: 5, Write: 1}, 600, 700},
	} {
		h := NewHistory(history.Header{})
		answered := int64(650 * time.Second)
		if tc.answer.Write > 0 {
			answered = int64(950 * time.Second)
		}
		for i, ev := range []history.Event{
			{From: 100 * int64(time.Second), At: 200 * int64(time.Second), Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/x", Revision: 6}},
			{From: 600 * int64(time.Second), At: 700 * int64(time.Second), Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/x", Revision: 7}},
			{From: 800 * int64(time.Second), At: 900 * int64(time.Second), Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/x", Revision: 9}},
			{From: answered - int64(time.Second), At: answered, Kind: history.KindRequest, Member: "a", Request: &tc.answer},
		} {
			ev.Seq = int64(i + 1)
			h.Observe(&ev)
		}
		if m := h.When(Stamp{Seq: 2, At: int64(700 * time.Second), From: int64(600 * time.Second), Revision: 7}); m.Earliest != int64(tc.earliest*time.Second) || m.Latest != int64(tc.latest*time.Second) {
			t.Errorf("%s: the change was made between %s and %s, want %d s and %d s", tc.name, time.Duration(m.Earliest), time.Duration(m.Latest), tc.earliest, tc.latest)
		}
	}
}
