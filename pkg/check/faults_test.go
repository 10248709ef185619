package check

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func powerEvent(phase history.Phase, proof string) history.Event {
	return history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{
		ID: "p", Type: history.FaultPower, Action: history.FaultPowerCut, Phase: phase, Proof: proof,
	}}
}

// What a step has waited for in vain keeps every requirement from passing, unless
// requirements of their own judge it.
func TestNotReachedIsADoubt(t *testing.T) {
	for _, judged := range []bool{false, true} {
		w := newWorld(tell().header)
		for i, ev := range []history.Event{
			{Kind: history.KindNotReached, Member: "a", NotReached: &history.NotReached{Step: 3, Action: "upgrade", Awaited: history.AwaitedReady, Judged: judged, Message: "500"}},
			{Kind: history.KindEnd, End: &history.End{Complete: true, NotReached: []string{"x"}}},
		} {
			ev.Seq = int64(i + 1)
			w.take(&ev)
		}
		doubts := w.doubts(nil)
		if want := "step 3 (upgrade): a ready not reached: 500 (event 1)"; judged != (len(doubts) == 0) || !judged && (len(doubts) != 1 || doubts[0] != want) {
			t.Errorf("judged %v: doubts %q", judged, doubts)
		}
	}
}

func TestPowerCuts(t *testing.T) {
	etcd := func(applied uint64) history.Event {
		return history.Event{Kind: history.KindEtcd, Etcd: &history.EtcdHealth{Target: 9, Members: []history.EtcdMember{
			{Member: "a", ID: "1", Leader: "1", Voters: 1, Applied: applied},
		}}}
	}
	death := history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Exit: "exit status 1",
	}}
	off, bit, on := powerEvent(history.PhaseInject, ""), powerEvent(history.PhaseWitness, "gone"), powerEvent(history.PhaseHeal, "")
	back := powerEvent(history.PhaseWitness, "others now")
	for _, tc := range []struct {
		name   string
		events []history.Event
		want   string // empty for no doubt
	}{
		{"over", []history.Event{off, bit, on, etcd(9), back}, ""},
		{"a server that needs two attempts", []history.Event{off, bit, death, on, death, etcd(9), back}, ""},
		{"a server that dies later", []history.Event{off, bit, on, etcd(9), back, death}, "ended by itself"},
		{"a server that died before", []history.Event{death, off, bit, on, etcd(9), back}, "ended by itself"},
		{"did not bite", []history.Event{off, on, etcd(9), back}, "never proved that it bit"},
		{"never given back", []history.Event{off, bit}, "nothing proves that a and its etcd were whole again"},
		{"no proof that it is back", []history.Event{off, bit, on, etcd(9)}, "nothing proves that a and its etcd"},
		{"etcd is behind", []history.Event{off, bit, on, etcd(8), back}, "nothing proves that a and its etcd"},
		{"etcd was whole only before", []history.Event{etcd(9), off, bit, on, back}, "nothing proves that a and its etcd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(tell().header)
			for i, ev := range append(tc.events, history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}}) {
				ev.Seq = int64(i + 1)
				w.take(&ev)
			}
			doubts := strings.Join(w.doubts(nil), "; ")
			if (doubts == "") != (tc.want == "") || !strings.Contains(doubts, tc.want) {
				t.Errorf("doubts %q, want %q", doubts, tc.want)
			}
		})
	}
}
