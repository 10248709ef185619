package fact

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Of what is given it is known that it is so, and not since when.
func TestGiven_IsUnknownBefore(t *testing.T) {
	const second = int64(1e9)
	h := NewHistory(history.Header{Lacks: []history.Lack{{What: history.LackEarlier, Reason: "r"}}, Members: []history.MemberHeader{{Name: "cp1", ServerID: "s"}}})
	for i, ev := range []history.Event{
		{At: second, Given: true, Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: StorageVersionPrefix + "x", Revision: 50, Created: 7, Name: "x", StorageVersion: &history.StorageVersion{}}},
		{At: 2 * second, Given: true, Kind: history.KindProcess, Member: "cp1", Process: &history.Process{Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: 1}},
		{At: 3 * second, From: 3*second - 1, Kind: history.KindReady, Member: "cp1", Ready: &history.Ready{Code: 200, Revision: 60}},
		{At: 4 * second, Kind: history.KindEnd, End: &history.End{Complete: true}},
	} {
		ev.Seq = int64(i + 1)
		h.Observe(&ev)
	}
	if !h.Midway() {
		t.Error("it is taken for a history from the beginning")
	}
	if h.Now != 3*second {
		t.Errorf("the history lasts until %d: what comes after the recorders of such a run is its cleaning up", h.Now)
	}
	p := h.LastProcess("cp1", history.ComponentAPIServer, 4*second)
	if h.LastProcess("cp1", history.ComponentAPIServer, second) != p {
		t.Error("it had not started when something was told that was there before, too")
	}
	stored := h.StorageVersion("x").Last()
	ready := h.FirstReady(p)
	if !p.Started.Given() || !h.When(stored.Stamp).Given() || ready == nil || !ready.Given() {
		t.Errorf("the process started at %+v, the object was stored at %+v, and the server was ready first at %+v", p.Started, h.When(stored.Stamp), ready)
	}
	for what, s := range map[string]Signal{"alive": h.Alive("cp1", history.ComponentAPIServer), "ready": h.Ready("cp1"), "serving": h.Serves("cp1")} {
		if before, after := s.At(0), s.At(4*second); before != Unknown || after != Yes {
			t.Errorf("it is %s before: %v, and after: %v", what, before, after)
		}
	}
}
