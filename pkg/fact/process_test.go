package fact_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

const apiserver = history.ComponentAPIServer

// exit is the end of a process that the recorder told of at once.
func exit(at int64, instance int, expected bool, how string) history.Event {
	return history.Event{From: at, At: at, Member: "a", Process: &history.Process{Component: apiserver, Change: history.ProcessExited, Instance: instance, Expected: expected, Exit: how}}
}

func exactly(ev history.Event) history.Event {
	ev.From = ev.At
	return ev
}

func truths(t *testing.T, what string, of fact.Signal, want map[int64]fact.Truth) {
	t.Helper()
	for at, v := range want {
		if got := of.At(at * s / 2); got != v {
			t.Errorf("%s after %d halves of a second: %s, want %s", what, at, got, v)
		}
	}
}

func TestProcess_RunsUnlessItIsPaused(t *testing.T) {
	h := observed(
		exactly(server(2*s, history.ProcessStarted, 1)),
		exactly(server(4*s, history.ProcessPaused, 1)), exactly(server(6*s, history.ProcessResumed, 1)),
		exit(8*s, 1, true, "exit status 0"),
		exactly(server(10*s, history.ProcessStarted, 2)),
	)
	truths(t, "a process lives", h.Alive("a", apiserver), map[int64]fact.Truth{2: fact.No, 6: fact.Yes, 10: fact.Yes, 18: fact.No, 22: fact.Yes})
	truths(t, "a process runs", h.Running("a", apiserver), map[int64]fact.Truth{6: fact.Yes, 10: fact.No, 14: fact.Yes, 18: fact.No})
	truths(t, "the harness keeps it from running", h.Stopped("a", apiserver), map[int64]fact.Truth{2: fact.No, 6: fact.No, 10: fact.Yes, 14: fact.No, 18: fact.Yes, 22: fact.No})
	if !h.Stalled(3*s, 5*s) || h.Stalled(7*s, 20*s) {
		t.Error("a pause is missed, or seen where there is none")
	}
}

// A controller that is told to end gives its Lease up at once, and an etcd answers nothing more,
// however long they live.
func TestProcess_RunsUntilItIsToldToEnd(t *testing.T) {
	told := []history.Event{
		exactly(server(2*s, history.ProcessStarted, 1)), exactly(server(4*s, history.ProcessStopping, 1)), exit(8*s, 1, true, "exit status 0"),
	}
	h := observed(told...)
	truths(t, "a process lives", h.Alive("a", apiserver), map[int64]fact.Truth{6: fact.Yes, 10: fact.Yes, 18: fact.No})
	truths(t, "a process runs", h.Running("a", apiserver), map[int64]fact.Truth{6: fact.Yes, 10: fact.No, 18: fact.No})

	two := fact.NewHistory(history.Header{Started: began, Members: []history.MemberHeader{{Name: "a"}, {Name: "b"}}})
	for i, ev := range told {
		ev.Seq = int64(i + 1)
		ev.Process.Component = history.ComponentEtcd
		two.Observe(&ev)
	}
	truths(t, "etcd has a majority", two.EtcdQuorum(), map[int64]fact.Truth{6: fact.Yes, 10: fact.No, 18: fact.No})
}

// The harness tells of it before it sends SIGTERM, so the process ran until then.
func TestProcess_RunsUntilTheHarnessSaysThatItIsTold(t *testing.T) {
	told := server(4*s, history.ProcessStopping, 1)
	h := observed(server(2*s, history.ProcessStarted, 1), told)
	if got := h.Running("a", apiserver).At(told.At - 1); got != fact.Yes {
		t.Errorf("just before it was told to end it ran: %v, want %v", got, fact.Yes)
	}
}

// Of an end that nothing told, the harness is the cause where it had told the process to end.
func TestHarnessEnded_WhatItHadToldToEnd(t *testing.T) {
	for told, want := range map[bool]fact.Truth{true: fact.Unknown, false: fact.No} {
		events := []history.Event{server(2*s, history.ProcessStarted, 1)}
		if told {
			events = append(events, server(4*s, history.ProcessStopping, 1))
		}
		h := observed(append(events, server(6*s, history.ProcessStarted, 2))...)
		if got := h.HarnessEnded(h.Processes("a", apiserver)[0]); got != want {
			t.Errorf("told to end: %v, and the harness ended it: %v, want %v", told, got, want)
		}
	}
}

// A process whose end nothing told may have ended at any time since its last answer.
func TestWhenEnded_SinceTheLastAnswerWhereNothingTellsOfTheEnd(t *testing.T) {
	started, next := exactly(server(2*s, history.ProcessStarted, 1)), exactly(server(9*s, history.ProcessStarted, 2))
	for name, c := range map[string]struct {
		events []history.Event
		from   int64
	}{
		"it was never asked":            {[]history.Event{started, next}, 9 * s},
		"it answered to the next start": {[]history.Event{started, readyz(4*s, 200), readyz(8*s, 200), next, readyz(10*s, 500)}, 8 * s},
		"it answered no more":           {[]history.Event{started, readyz(4*s, 200), readyz(6*s, 0), readyz(8*s, 0), next, readyz(10*s, 500)}, 4 * s},
		"it answered again":             {[]history.Event{started, readyz(4*s, 200), readyz(6*s, 0), readyz(8*s, 500), next, readyz(10*s, 200)}, 8 * s},
		"none answers after":            {[]history.Event{started, readyz(4*s, 200), readyz(6*s, 0), next}, 4 * s},
		"it never answered":             {[]history.Event{readyz(s, 0), started, readyz(6*s, 0), next, readyz(10*s, 0)}, 2 * s},
		"it is told when it has ended":  {[]history.Event{started, readyz(4*s, 200), readyz(6*s, 0), exit(7*s, 1, false, "exit status 2"), next}, 7 * s},
	} {
		h := observed(c.events...)
		if end := h.WhenEnded(h.Processes("a", apiserver)[0]); end.Earliest != c.from || end.Latest != max(c.from, 9*s) && end.Latest != 7*s {
			t.Errorf("%s: it ended at %+v, want from %d on", name, end, c.from)
		}
	}
}

func TestProcess_TheNextOneEndsTheOneBefore(t *testing.T) {
	h := observed(server(2*s, history.ProcessStarted, 1), server(6*s, history.ProcessStarted, 2))
	all := h.Processes("a", apiserver)
	if len(all) != 2 || all[0].Exited == nil || !all[0].Expected || all[0].After != all[1] || all[1].Before != all[0] {
		t.Fatalf("the processes are %+v", all)
	}
	if all[0].EndedItself() {
		t.Error("a process whose end was not seen ended by itself")
	}
}

func TestProcess_StartIsAsUncertainAsItsRecorder(t *testing.T) {
	started := observed(server(2*s, history.ProcessStarted, 1)).Processes("a", apiserver)[0].Started
	if started.Earliest >= started.Latest || started.Latest != 2*s {
		t.Errorf("it started in %+v", started)
	}
}

func TestProcess_GaveUpOnlyWithAFailureOfItsOwn(t *testing.T) {
	for name, tc := range map[string]struct {
		expected bool
		exit     string
		own, up  bool
	}{
		"a failure":             {false, "exit status 1", true, true},
		"an end not seen":       {false, history.ExitUnseen, true, true},
		"a success":             {false, "exit status 0", true, false},
		"a signal":              {false, "signal: killed", true, false},
		"what the harness does": {true, "exit status 1", false, false},
	} {
		p := observed(server(2*s, history.ProcessStarted, 1), exit(4*s, 1, tc.expected, tc.exit)).Processes("a", apiserver)[0]
		if p.EndedItself() != tc.own || p.GaveUp() != tc.up {
			t.Errorf("%s: ended by itself %v, gave up %v", name, p.EndedItself(), p.GaveUp())
		}
	}
}

func TestProcessAt_IsNoneWhereTwoMayBeMeant(t *testing.T) {
	h := observed(exactly(server(2*s, history.ProcessStarted, 1)), exit(6*s, 1, true, ""), exactly(server(7*s, history.ProcessStarted, 2)))
	at := func(from, to int64) int {
		if p := h.ProcessAt("a", apiserver, fact.Moment{Earliest: from * s, Latest: to * s}); p != nil {
			return p.Instance
		}
		return 0
	}
	for _, tc := range [][3]int64{{1, 1, 0}, {3, 4, 1}, {5, 8, 0}, {8, 9, 2}} {
		if got := at(tc[0], tc[1]); int64(got) != tc[2] {
			t.Errorf("from %d to %d it is process %d, want %d", tc[0], tc[1], got, tc[2])
		}
	}
	if last := h.LastProcess("a", apiserver, 6*s+1); last == nil || last.Instance != 1 {
		t.Errorf("the last process after the first has ended is %+v", last)
	}
	if h.LastProcess("a", apiserver, s) != nil || h.LastProcess("b", apiserver, 9*s) != nil {
		t.Error("a process had started before the first, or at a member that has none")
	}
}

// After a power cut an agent tells of processes that have run for a while: what they have done by
// then is theirs.
func TestProcess_ThatIsToldOfLateRanBefore(t *testing.T) {
	late := server(9*s, history.ProcessStarted, 2)
	late.From = 7 * s
	h := observed(exactly(server(2*s, history.ProcessStarted, 1)), exit(6*s, 1, true, ""), late)
	if p := h.LastProcess("a", apiserver, 8*s); p == nil || p.Instance != 2 {
		t.Errorf("the last process two seconds before it is told of is %+v", p)
	}
	if p := h.LastProcess("a", apiserver, 6*s+1); p == nil || p.Instance != 1 {
		t.Errorf("the last process before it was started is %+v", p)
	}
}

// A process that is killed while it is paused is never resumed: the one that follows it is not
// kept from running.
func TestProcess_APauseEndsWithTheProcess(t *testing.T) {
	h := observed(
		exactly(server(2*s, history.ProcessStarted, 1)), exactly(server(4*s, history.ProcessPaused, 1)),
		exit(6*s, 1, true, "signal: killed"), exactly(server(8*s, history.ProcessStarted, 2)),
	)
	truths(t, "the harness keeps it from running", h.Stopped("a", apiserver), map[int64]fact.Truth{6: fact.No, 10: fact.Yes, 14: fact.Yes, 18: fact.No})
}

// How a process ended may be told only when the next one has started.
func TestProcess_AnEndThatIsToldAfterTheNextStartCounts(t *testing.T) {
	start, next := server(2*s, history.ProcessStarted, 1), server(6*s, history.ProcessStarted, 2)
	if p := observed(start, next).Processes("a", apiserver)[0]; !p.Untold {
		t.Error("it is known how a process ended of which nothing was told")
	}
	p := observed(start, next, exit(7*s, 1, false, "exit status 2")).Processes("a", apiserver)[0]
	if p.Untold || !p.EndedItself() || p.Exit != "exit status 2" || p.Exited.Latest != 6*s || p.Exited.Seq != 3 {
		t.Errorf("the process is %+v, and ended at %+v", p, p.Exited)
	}
}
