package fact_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestReady_ChangesBetweenTwoAnswers(t *testing.T) {
	h := observed(readyz(2*s, 500), readyz(4*s, 500), readyz(6*s, 200), readyz(8*s, 200), readyz(9*s, 0))
	truths(t, "it is ready", h.Ready("a"), map[int64]fact.Truth{6: fact.No, 9: fact.Unknown, 14: fact.Yes, 17: fact.Unknown, 20: fact.No})
	if answers := h.ReadyAnswers("a"); len(answers) != 3 || answers[1].Since.Earliest != 4*s || !answers[1].OK() || answers[2].OK() {
		t.Errorf("the answers that differ are %+v", answers)
	}
	if len(h.ReadyAnswers("b")) > 0 || h.Ready("b").At(9*s) != fact.No {
		t.Error("a member that was never asked is ready")
	}
}

func TestReadyAnswers_KeepTheFirstRevision(t *testing.T) {
	first, later := readyz(2*s, 200), readyz(3*s, 200)
	later.Ready.Revision = 7
	if answers := observed(first, later).ReadyAnswers("a"); len(answers) != 1 || answers[0].EtcdRevision != 7 {
		t.Errorf("the answers are %+v, want one with revision 7", answers)
	}
}

func TestFirstReady_IsOfItsOwnProcess(t *testing.T) {
	h := observed(
		exactly(server(2*s, history.ProcessStarted, 1)), readyz(4*s, 200),
		exit(6*s, 1, true, ""), readyz(7*s, 0),
		exactly(server(8*s, history.ProcessStarted, 2)), readyz(9*s, 500),
		exactly(server(12*s, history.ProcessStarted, 3)), readyz(14*s, 200),
	)
	for i, want := range []int64{4 * s, 0, 14 * s} {
		got := int64(0)
		if first := h.FirstReady(h.Processes("a", apiserver)[i]); first != nil {
			got = first.Latest
		}
		if got != want {
			t.Errorf("process %d was ready first at %d, want %d", i+1, got, want)
		}
	}
	truths(t, "it serves", h.Serves("a"), map[int64]fact.Truth{6: fact.No, 10: fact.Yes, 14: fact.No, 20: fact.No, 30: fact.Yes})
	truths(t, "it is healthy", h.Healthy("a"), map[int64]fact.Truth{6: fact.No, 10: fact.Yes, 30: fact.Yes})
}

// A server that is stopped takes no more requests, and may live on until its watches have
// ended; one that hangs was stopped by none.
func TestServes_UntilAServerThatIsStoppedAnswersNoMore(t *testing.T) {
	stopped := func(expected bool) *fact.History {
		return observed(exactly(server(2*s, history.ProcessStarted, 1)), readyz(4*s, 200), readyz(6*s, 500), readyz(7*s, 0), readyz(8*s, 0), exit(12*s, 1, expected, ""), readyz(13*s, 0))
	}
	truths(t, "it serves", stopped(true).Serves("a"), map[int64]fact.Truth{10: fact.Yes, 13: fact.Unknown, 15: fact.No, 22: fact.No, 26: fact.No})
	truths(t, "it serves", stopped(false).Serves("a"), map[int64]fact.Truth{10: fact.Yes, 15: fact.Yes, 22: fact.Yes, 26: fact.No})
	again := observed(exactly(server(2*s, history.ProcessStarted, 1)), readyz(4*s, 200), readyz(6*s, 0), readyz(8*s, 200), exit(12*s, 1, true, ""))
	truths(t, "it serves", again.Serves("a"), map[int64]fact.Truth{14: fact.Yes, 22: fact.Yes, 26: fact.No})
}

// An API server has but the etcd of its member, which works until it is told to end, and
// connects to the next one when its client tries again.
func TestHealthy_NotWithoutItsEtcd(t *testing.T) {
	etcd := func(at int64, change string, instance int) history.Event {
		return exactly(history.Event{At: at, Member: "a", Process: &history.Process{Component: history.ComponentEtcd, Change: change, Instance: instance, Expected: change == history.ProcessExited}})
	}
	serving := []history.Event{etcd(s, history.ProcessStarted, 1), exactly(server(2*s, history.ProcessStarted, 1)), readyz(4*s, 200)}
	told := observed(append(serving, etcd(6*s, history.ProcessStopping, 1), etcd(9*s, history.ProcessExited, 1), etcd(12*s, history.ProcessStarted, 2))...)
	truths(t, "it is healthy", told.Healthy("a"), map[int64]fact.Truth{10: fact.Yes, 14: fact.No, 20: fact.No, 26: fact.Yes})
	truths(t, "its etcd is stopped", told.Stopped("a", history.ComponentEtcd), map[int64]fact.Truth{10: fact.No, 14: fact.Yes, 20: fact.Yes, 26: fact.No})
	back := observed(append(serving, etcd(6*s, history.ProcessStopping, 1), readyz(8*s, 500), etcd(9*s, history.ProcessExited, 1), etcd(12*s, history.ProcessStarted, 2), readyz(17*s, 500), readyz(18*s, 200), readyz(25*s, 500))...)
	truths(t, "it is healthy, and connects to its etcd anew", back.Healthy("a"), map[int64]fact.Truth{10: fact.Yes, 14: fact.No, 26: fact.No, 33: fact.No, 38: fact.Yes, 52: fact.Yes})
	goes := observed(append(serving, etcd(6*s, history.ProcessStopping, 1))...)
	truths(t, "it is healthy", goes.Healthy("a"), map[int64]fact.Truth{10: fact.Yes, 14: fact.No, 40: fact.No})
}

// What is told every second was not told since the next process started: it is not known
// whether that one is ready.
func TestFirstReady_AnAnswerOfTheProcessBeforeSaysNothing(t *testing.T) {
	h := observed(
		exactly(server(2*s, history.ProcessStarted, 1)), readyz(4*s, 200),
		exit(5*s, 1, true, ""), exactly(server(6*s, history.ProcessStarted, 2)), exactly(server(60*s, history.ProcessPaused, 2)),
	)
	if first := h.FirstReady(h.Processes("a", apiserver)[1]); first != nil {
		t.Errorf("a process that was not asked was ready at %+v", first)
	}
}
