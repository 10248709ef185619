package fact_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

const s = int64(time.Second)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// observed has the facts of a history of the member a take in events, which are numbered
// from 1.
func observed(events ...history.Event) *fact.History {
	h := fact.NewHistory(history.Header{Started: began, Members: []history.MemberHeader{{Name: "a", ServerID: "ida"}}})
	for i := range events {
		if events[i].Seq == 0 {
			events[i].Seq = int64(i + 1)
		}
		h.Observe(&events[i])
	}
	return h
}

func server(at int64, change string, instance int) history.Event {
	return history.Event{At: at, Member: "a", Process: &history.Process{Component: history.ComponentAPIServer, Change: change, Instance: instance}}
}

func readyz(at int64, code int) history.Event {
	return history.Event{From: at, At: at, Member: "a", Ready: &history.Ready{Code: code}}
}

func stored(at, revision int64) history.Event {
	return history.Event{At: at, Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/x", Revision: revision}}
}

func TestHistory_TimesFarAwayCanBeReckonedWith(t *testing.T) {
	h := observed()
	year := int64(365 * 24 * time.Hour)
	if at := h.Time(time.Time{}); at >= 0 || at-100*year >= 0 {
		t.Errorf("no time is %d", at)
	}
	if at := h.Time(began.AddDate(1000, 0, 0)); at < 99*year || at+100*year <= 0 {
		t.Errorf("a time in a thousand years is %d", at)
	}
	if at := h.Time(began.Add(time.Second)); at != s {
		t.Errorf("a second after the beginning is %d", at)
	}
}

func TestHistory_AChangeToldByADelayedRecorderMayBeAsOldAsTheDelay(t *testing.T) {
	h := observed(stored(20*s, 5), history.Event{From: 12 * s, At: 20 * s, RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}}, stored(40*s, 6))
	if m := h.When(fact.Stamp{Seq: 1, At: 20 * s, Revision: 5}); m.Earliest > 12*s || m.Latest != 20*s {
		t.Errorf("a change told at the end of a delay came about in %+v", m)
	}
	if m := h.When(fact.Stamp{Seq: 3, At: 40 * s, Revision: 6}); m.Earliest < 38*s {
		t.Errorf("a change told long after a delay came about in %+v", m)
	}
}

func TestHistory_RequestsNarrowTheMomentOfARevision(t *testing.T) {
	write := func(class string) history.Event {
		return history.Event{From: 10 * s, At: 10*s + s/8, Request: &history.Request{Class: class, Code: 200, ResourceVersion: 4, Write: 1}}
	}
	change := fact.Stamp{Seq: 2, At: 10*s + s/2, Revision: 5}
	told := stored(change.At, change.Revision)
	if m := observed(write(history.ClassAggregated), told).When(change); m.Earliest != change.At-s {
		t.Errorf("it came about in %+v, and an aggregated server counts its own revisions", m)
	}
	if m := observed(write(history.ClassGuarded), told).When(change); m.Earliest != 10*s {
		t.Errorf("it came about in %+v, and after the write of a lower revision", m)
	}
	later := history.Event{At: 10*s + s/4, Request: &history.Request{Class: history.ClassGuarded, Code: 200, ResourceVersion: 6}}
	if m := observed(told, later).When(change); m.Latest != later.At {
		t.Errorf("it came about in %+v, and before a higher revision was read", m)
	}
	later.Request.Class = history.ClassAggregated
	if m := observed(told, later).When(change); m.Latest != change.At {
		t.Errorf("it came about in %+v, and an aggregated server counts its own revisions", m)
	}
}

func TestHistory_IsUntrustedFromTheFirstEventAfterAMissingLine(t *testing.T) {
	lost := stored(3*s, 7)
	lost.Seq = 5
	if got := observed(stored(s, 1), lost).Untrusted(); got != 5 {
		t.Errorf("it is untrusted from event %d, want 5", got)
	}
	if got := observed(stored(s, 1), stored(2*s, 2)).Untrusted(); got != 0 {
		t.Errorf("it is untrusted from event %d, and nothing is missing", got)
	}
	missed := observed(history.Event{At: s, RecorderMissed: &history.RecorderMissed{Source: string(fact.Readyz)}})
	if times, seq := missed.Missed(fact.Readyz); times != 1 || seq != 1 || missed.Untrusted() != 0 {
		t.Errorf("a known recorder missed something %d times from %d, untrusted from %d", times, seq, missed.Untrusted())
	}
	if got := observed(history.Event{At: s, RecorderMissed: &history.RecorderMissed{Source: "unheard-of"}}).Untrusted(); got != 1 {
		t.Errorf("an unknown recorder missed something: untrusted from %d, want 1", got)
	}
}

func TestHistory_EvidenceIsTheFirstEventAtATimeOrLater(t *testing.T) {
	h := observed(stored(s, 1), stored(2*s, 2), stored(4*s, 3))
	for at, want := range map[int64]int64{0: 1, s: 1, s + 1: 2, 3 * s: 3, 9 * s: 3} {
		if got := h.Evidence(at); got != want {
			t.Errorf("the evidence of %d is event %d, want %d", at, got, want)
		}
	}
}

// The recorder of etcd tells up to a second late, and later after a delay that it tells of.
func TestHistory_AllIsToldWhenTheRecorderOfEtcdCanBeLateNoMore(t *testing.T) {
	delay := history.Event{At: 5 * s, From: 2 * s, RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}}
	for name, tc := range map[string]struct {
		events []history.Event
		at     int64
		want   int64
	}{
		"no delay":                     {[]history.Event{stored(s, 1), stored(2*s, 2), stored(4*s, 3), stored(7*s, 4)}, 2 * s, 3},
		"an event a second later":      {[]history.Event{stored(s, 1), stored(2*s, 2), stored(3*s, 3), stored(7*s, 4)}, 2 * s, 4},
		"a delay":                      {[]history.Event{stored(s, 1), stored(2*s, 2), stored(4*s, 3), delay, stored(7*s, 5)}, 2 * s, 5},
		"the history ends before that": {[]history.Event{stored(s, 1), stored(2*s, 2)}, 2 * s, 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got := observed(tc.events...).ToldAllUntil(tc.at); got != tc.want {
				t.Errorf("all was told by event %d, want %d", got, tc.want)
			}
		})
	}
}

func TestProcess_LivesFromItsStartToItsExit(t *testing.T) {
	exit := server(9*s, history.ProcessExited, 1)
	exit.Process.Exit = "exit status 1"
	h := observed(server(2*s, history.ProcessStarted, 1), server(4*s, history.ProcessPaused, 1), server(6*s, history.ProcessResumed, 1), exit)
	p := h.Processes("a", history.ComponentAPIServer)[0]
	for at, want := range map[int64][2]fact.Truth{
		s: {fact.No, fact.No}, 2*s - 1: {fact.Unknown, fact.Unknown}, 3 * s: {fact.Yes, fact.Yes}, 5 * s: {fact.Yes, fact.No},
		7 * s: {fact.Yes, fact.Yes}, 9*s - 1: {fact.Unknown, fact.Unknown}, 10 * s: {fact.No, fact.No},
	} {
		if alive, running := p.Alive().At(at), p.Running().At(at); alive != want[0] || running != want[1] {
			t.Errorf("at %d it lives %s and runs %s, want %s and %s", at, alive, running, want[0], want[1])
		}
	}
	if !p.EndedItself() || !p.GaveUp() {
		t.Error("it ended by itself with a failure")
	}
	if !h.Stalled(3*s, 5*s) || h.Stalled(7*s, 8*s) {
		t.Error("it stalled when it was paused, and not later")
	}
}

func TestProcess_AStartEndsTheProcessBefore(t *testing.T) {
	h := observed(server(2*s, history.ProcessStarted, 1), server(8*s, history.ProcessStarted, 2))
	all := h.Processes("a", history.ComponentAPIServer)
	if all[0].Exited == nil || all[0].EndedItself() || all[0].After != all[1] || all[1].Before != all[0] {
		t.Errorf("the first is %+v", all[0])
	}
	if p := h.ProcessAt("a", history.ComponentAPIServer, fact.Exactly(8*s-1, 0)); p != nil {
		t.Error("it is not certain which one lived when they changed")
	}
	if p := h.LastProcess("a", history.ComponentAPIServer, 7*s); p != all[0] {
		t.Error("the first had started last at 7 s")
	}
}

func TestServes_OnlyAfterItsProcessAnsweredThatItIsReady(t *testing.T) {
	h := observed(server(2*s, history.ProcessStarted, 1), readyz(3*s, 500), readyz(5*s, 200), server(9*s, history.ProcessExited, 1), readyz(9*s, 0),
		server(12*s, history.ProcessStarted, 2), readyz(13*s, 0), stored(30*s, 1))
	serves := h.Serves("a")
	for at, want := range map[int64]fact.Truth{4 * s: fact.No, 6 * s: fact.Yes, 10 * s: fact.No, 20 * s: fact.No} {
		if got := serves.At(at); got != want {
			t.Errorf("at %d it serves %s, want %s", at, got, want)
		}
	}
	if first := h.FirstReady(h.Processes("a", history.ComponentAPIServer)[1]); first != nil {
		t.Errorf("the second process was never ready, and is said to have been at %+v", first)
	}
}

func TestFault_AWitnessAndAHealingGoToTheInjectionBefore(t *testing.T) {
	at := func(at int64, phase history.Phase) history.Event {
		return history.Event{At: at, Member: "a", Fault: &history.Fault{ID: "f", Type: history.FaultKeys, Phase: phase, Proof: "p", Prefixes: []string{"/registry/leases/x"}}}
	}
	h := observed(at(s, history.PhaseInject), at(2*s, history.PhaseWitness), at(3*s, history.PhaseHeal), at(5*s, history.PhaseInject), stored(9*s, 1))
	if len(h.Faults) != 2 || h.Faults[0].Witness == "" || h.Faults[0].Healed == nil || h.Faults[1].Witness != "" || h.Faults[1].Healed != nil {
		t.Fatalf("the faults are %+v", h.Faults)
	}
	active := h.FaultOn("/registry/leases/x/y")
	for at, want := range map[int64]fact.Truth{0: fact.No, 2 * s: fact.Yes, 4 * s: fact.No, 8 * s: fact.Yes} {
		if got := active.At(at); got != want {
			t.Errorf("at %d it is active: %s, want %s", at, got, want)
		}
	}
	if other := h.FaultOn("/registry/leases/z"); other.Lasts(0, 9*s, fact.Unknown) != 0 {
		t.Error("it is about no other key")
	}
}
