package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// coordinates has the coordinator at a renew its Lease, for so long.
func (t *tale) coordinates(lasts time.Duration) *tale {
	return t.lease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: int(lasts / time.Second)})
}

// ticks lets time pass while etcd tells of something that matters to nobody.
func (t *tale) ticks(lasts time.Duration) *tale {
	for until := t.now + int64(lasts); t.now < until; t.pass(2 * time.Second) {
		t.etcdHas(history.Stored{Type: history.StoredPut, Key: "/registry/configmaps/default/tick"})
	}
	return t
}

// A leader that is told to give way ends and is started again, its Lease runs out, and it
// gets it again, over and over: the better candidate waits for minutes.
func TestLapsesPutOffNothing(t *testing.T) {
	const second = time.Second
	for id, want := range map[requirement.ID]string{"CLE-08": "has held " + managersLease, "CLE-17": "has led " + managersLease} {
		told := underway("1.3.0", "1.3.0", "1.2.0")
		for i := range 5 {
			leader := fmt.Sprintf("a_%d", i+1)
			told.elects(managersLease, leader).pass(second).marks(managersLease, leader, "c_1").ticks(11*second).
				withdraws(leader).controller("a", history.ProcessExited, failed).controller("a", history.ProcessStarted, "").
				declares(fmt.Sprintf("a_%d", i+2), managersLease, "1.3.0").ticks(8 * second)
		}
		r := told.judge(t, id)[0]
		if r.Verdict != Fail {
			t.Errorf("%s is %s, want %q: %q", id, r.Verdict, want, r.Reasons)
		}
		if id == "CLE-08" {
			saw(t, r, "leaders that were told to give way", 0)
		}

		// The better one gets it the second time.
		told = underway("1.3.0", "1.3.0", "1.2.0")
		told.elects(managersLease, "a_1").pass(second).marks(managersLease, "a_1", "c_1").ticks(19*second).elects(managersLease, "b_1").
			pass(second).marks(managersLease, "b_1", "c_1").ticks(19*second).elects(managersLease, "c_1").keeps(managersLease, "c_1", 60*second)
		told.blames(t, id)
	}
}

// A leader that is told to give way to one that is no better, and ends before its Lease runs
// out, was well until then, whether it withdraws or not.
func TestWhoIsOustedWasWell(t *testing.T) {
	const second = time.Second
	for _, withdraws := range []bool{false, true} {
		told := underway("1.2.0", "1.2.0").elects(managersLease, "a_1")
		names, members := []string{"a_1", "b_1"}, []string{"a", "b"}
		for i := range 4 {
			from, to, member := names[i%2], names[(i+1)%2], members[i%2]
			names[i%2] = fmt.Sprintf("%s_%d", member, i+2)
			told.keeps(managersLease, from, 60*second).marks(managersLease, from, to).ticks(10 * second)
			if withdraws {
				told.withdraws(from)
			}
			told.controller(member, history.ProcessExited, failed).pass(second).controller(member, history.ProcessStarted, "").
				declares(names[i%2], managersLease, "1.2.0").ticks(6*second).elects(managersLease, to)
		}
		if r := told.judge(t, "CLE-17")[0]; r.Verdict != Fail {
			t.Errorf("CLE-17 is %s where leaders withdraw (%t): %q", r.Verdict, withdraws, r.Reasons)
		}
		// Once may have a reason that cannot be seen; and who crashes was not made to go.
		underway("1.2.0", "1.2.0").elects(managersLease, "a_1").keeps(managersLease, "a_1", 60*second).marks(managersLease, "a_1", "b_1").ticks(10*second).
			controller("a", history.ProcessExited, failed).ticks(6*second).elects(managersLease, "b_1").keeps(managersLease, "b_1", 60*second).
			controller("b", history.ProcessExited, failed).ticks(16*second).elects(managersLease, "a_1").blames(t, "CLE-17")
	}
}

// While another coordinator is still to be found, nobody can replace a leader.
func TestNobodyReplacesWithoutACoordinator(t *testing.T) {
	const second = time.Second
	told := underway("1.3.0", "1.3.0", "1.2.0")
	told.coordinates(15*second).elects(managersLease, "a_1").keeps(managersLease, "a_1", 15*second)
	// The coordinator's server is upgraded, and cannot coordinate before the Lease has run out.
	told.exits("a", 1).pass(second).starts("a", 2).keeps(managersLease, "a_1", 7*second).lease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 3600})
	told.pass(7*second).marks(managersLease, "a_1", "c_1").ticks(16*second).elects(managersLease, "c_1").keeps(managersLease, "c_1", 20*second)
	told.blames(t, "CLE-17")

	// One that does nothing for as long as it may take is late all the same.
	told = underway("1.3.0", "1.3.0", "1.2.0")
	told.coordinates(15*second).elects(managersLease, "a_1").keeps(managersLease, "a_1", 20*second).
		lease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 3600}).keeps(managersLease, "a_1", 50*second)
	told.blames(t, "CLE-17", "has led")
}

// Whose Lease is taken by force was able to renew it, and shows nothing of what those do
// that are not.
func TestForceShowsNothingOfStopping(t *testing.T) {
	const second = time.Second
	told := underway("1.2.0", "1.2.0").elects(managersLease, "a_1").acting(managersLease, "a_1").pass(second).
		lease(managersLease, history.Lease{Holder: history.ElectionNobody}).pass(16*second).elects(managersLease, "b_1").
		candidate("a_1", managersLease, "1.2.0", time.Time{}, started.Add(30*second)).pass(40*second).ready("a", 200, 0)
	r := told.blames(t, "CLE-12")
	saw(t, r, "leaders that could not renew", 0)
	saw(t, r, "of those, leaders that were candidates again", 0)
}

// A coordinator that gets its own Lease back has taken over from nobody.
func TestRegainingIsNoTakeover(t *testing.T) {
	const second = time.Second
	forced := func() *tale {
		return underway("1.2.0").lease(coordinatorsLease, history.Lease{Holder: history.ElectionNobody, Duration: 5}).pass(6 * second)
	}
	const over = "coordinators that another one took over from"
	saw(t, forced().coordinates(15*second).blames(t, "CLE-13"), over, 0)
	saw(t, forced().lease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 15}).blames(t, "CLE-13"), over, 1)
	saw(t, underway("1.2.0").lease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 15}).blames(t, "CLE-13"), over, 1)
}

// A Lease that is made for nobody is no leader's.
func TestALeaseForNobodyIsNotMade(t *testing.T) {
	const second = time.Second
	empty := func() *tale {
		return underway("1.2.0").elects(managersLease, "a_1").erases(managersLease).lease(managersLease, history.Lease{Strategy: byOldest, Coordinator: "a_c"})
	}
	empty().ticks(20*second).blames(t, "CLE-04", "was made for nobody")
	empty().pass(8*second).elects(managersLease, "a_1").ticks(20*second).blames(t, "CLE-04")
	// A leader that gives its Lease up has had it.
	underway("1.2.0").elects(managersLease, "a_1").lease(managersLease, history.Lease{Strategy: byOldest, Coordinator: "a_c"}).ticks(20*second).blames(t, "CLE-04")
}

// A member whose API server is still starting lets nobody declare himself or answer.
func TestAServerThatStartsAnswersNobody(t *testing.T) {
	const second = time.Second
	booting := func() *tale {
		return underway("1.2.0").exits("b", 1).starts("b", 2).controller("b", history.ProcessStarted, "")
	}
	booting().ticks(40*second).ready("b", 200, 0).pass(3*second).declares("b_1", managersLease, "1.2.0").blames(t, "CLE-01")
	booting().ready("b", 200, 0).ticks(40*second).blames(t, "CLE-01", "the controller-manager of b has run for 30s, and is no candidate")

	asked := func() *tale {
		told := underway("1.2.0", "1.2.0").exits("b", 1).starts("b", 2)
		return told
	}
	asked().pinged("b_1", managersLease, "1.2.0", 0).ticks(14*second).ready("b", 200, 0).blames(t, "CLE-03")
	asked().ready("b", 200, 0).pinged("b_1", managersLease, "1.2.0", 0).ticks(14*second).blames(t, "CLE-03", "did not answer")

	// Who was started without coordination declares nothing.
	without := underway("1.2.0").add(history.Event{Kind: history.KindProcess, Member: "b", Process: &history.Process{
		Component: history.ComponentControllerManager, Change: history.ProcessStarted, Off: []string{history.FeatureCoordination},
	}})
	without.ticks(40*second).blames(t, "CLE-01")
	// One that has stood still has to declare itself when it goes on.
	still := func() *tale {
		return underway("1.2.0").controller("b", history.ProcessStarted, "").controller("b", history.ProcessPaused, "").ticks(20*second).controller("b", history.ProcessResumed, "")
	}
	still().ticks(20*second).blames(t, "CLE-01")
	underway("1.2.0").controller("b", history.ProcessStarted, "").controller("b", history.ProcessPaused, "").declares("b_1", managersLease, "1.2.0").
		ticks(20*second).controller("b", history.ProcessResumed, "").ticks(40*second).blames(t, "CLE-01")
	still().ticks(40*second).blames(t, "CLE-01", "is no candidate")
}

// An etcd that has trouble fails requests whatever they ask for.
func TestTroubleOfEtcdIsNoFailureOfContent(t *testing.T) {
	for _, what := range []string{history.ElectionOdd, history.ElectionFields} {
		id := map[string]requirement.ID{history.ElectionOdd: "CLE-23", history.ElectionFields: "CLE-25"}[what]
		answered := func(code int, message string) *tale {
			told := underway("1.2.0")
			return told.add(history.Event{Kind: history.KindRequest, Member: "a", From: told.now, Request: &history.Request{
				Class: history.ClassElection, Election: what, Verb: "update", Resource: "leases", Name: rowersLease, Code: code, Message: message,
			}})
		}
		answered(500, "etcdserver: leader changed").blames(t, id)
		answered(503, "the server is currently unable to handle the request").blames(t, id)
		answered(504, "Timeout: request did not complete within requested timeout - context deadline exceeded").blames(t, id)
		answered(500, "This request caused apiserver to panic. Look in the logs for details.").blames(t, id, "answered 500")
	}
}

// What was done in time and told late, because the recorder was away, is no breach.
func TestAwaysExcuseElections(t *testing.T) {
	const s = time.Second
	polls := func(t *tale, lasts time.Duration) *tale {
		for until := t.now + int64(lasts); t.now < until; {
			t.idle(s)
		}
		return t
	}
	t.Run("CLE-04", func(t *testing.T) {
		told := underway("1.2.0").elects(managersLease, "a_1").erases(managersLease).ticks(4 * s)
		polls(told, 14*s).away(14*s).elects(managersLease, "a_1").ticks(4*s).blames(t, "CLE-04")
	})
	t.Run("CLE-11", func(t *testing.T) {
		told := underway("1.2.0", "1.2.0").elects(managersLease, "a_1").controller("a", history.ProcessExited, killed).ticks(20 * s)
		polls(told, 28*s).away(28*s).elects(managersLease, "b_1").ticks(4*s).blames(t, "CLE-11")
	})
	t.Run("CLE-13", func(t *testing.T) {
		told := underway("1.2.0").coordinates(15*s).exits("a", 1).ticks(14 * s)
		polls(told, 12*s).away(12*s).lease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 15}).ticks(4*s).blames(t, "CLE-13")
	})
	t.Run("CLE-17", func(t *testing.T) {
		told := underway("1.3.0", "1.2.0").elects(managersLease, "a_1").keeps(managersLease, "a_1", 10*s).marks(managersLease, "a_1", "b_1").ticks(14 * s)
		told.lease(managersLease, history.Lease{Holder: "a_1", Preferred: "b_1", Strategy: byOldest, Coordinator: "a_c", Duration: 3600})
		polls(told, 24*s).away(24*s).elects(managersLease, "b_1").ticks(4*s).blames(t, "CLE-17")
	})
	t.Run("CLE-15", func(t *testing.T) {
		told := underway("1.2.0", "1.2.0").elects(managersLease, "a_1").keeps(managersLease, "a_1", 100*s)
		polls(told, 12*s).away(12*s).pinged("b_1", managersLease, "1.2.0", 0).blames(t, "CLE-15")
	})
}

// CLE-22: a conflict that is over, since somebody has withdrawn, is no part of the next.
func TestAConflictThatComesAgain(t *testing.T) {
	s := time.Second
	over := func() *tale {
		return underway().declares("evenkeel-rowers-a", rowersLease, "1.2.0").dissents().ticks(6 * s).withdraws("evenkeel-rowers-b")
	}
	over().ticks(2*s).elects(rowersLease, "evenkeel-rowers-a").keeps(rowersLease, "evenkeel-rowers-a", 60*s).dissents().ticks(2*s).blames(t, "CLE-22")
	over().ticks(60*s).dissents().ticks(4*s).lease(rowersLease, history.Lease{Strategy: byOthers, Coordinator: "a_c"}).ticks(4*s).blames(t, "CLE-22")
	over().ticks(60*s).dissents().ticks(40*s).blames(t, "CLE-22", "want different strategies, and for")
}
