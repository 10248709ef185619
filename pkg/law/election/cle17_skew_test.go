package election_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// A needless change of leader excuses no other one, and neither does what the instances do
// that lose their Lease by it.
func TestCLE15_CLE17_ANeedlessChangeOfLeaderIsNoCauseOfTheNext(t *testing.T) {
	const second = time.Second
	led := func() *electionBuilder { return controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1") }
	for _, period := range []time.Duration{30 * second, 40 * second} {
		r := led().flap(6, period).judge(t, "CLE-15")
		if r.Verdict != check.Fail {
			t.Errorf("CLE-15 is %s where leaders change every %s: %q", r.Verdict, period, r.Reasons)
		}
	}
	for _, period := range []time.Duration{15 * second, 25 * second, 30 * second, 100 * second} {
		r := led().flap(4, period).judge(t, "CLE-17")
		if r.Verdict != check.Fail {
			t.Errorf("CLE-17 is %s where leaders change every %s: %q", r.Verdict, period, r.Reasons)
		}
	}
	step := func(t *electionBuilder) *electionBuilder {
		return t.add(history.Event{Kind: history.KindStep, Step: &history.Step{Action: "upgrade", Phase: history.PhaseBegin}})
	}
	// A fault of an aggregated server is no reason.
	backend := led().flap(1, 60*second).renewFor(managersLease, "b_1", 30*second).fault(history.FaultBackend, history.BackendHang, "", history.PhaseInject, history.PhaseHeal)
	backend.renewFor(managersLease, "b_1", 60*second).depose("b", "b_1", "a_2", "b_2", "1.2.0").expectBreaches(t, "CLE-17", "and had changed")
	for name, told := range map[string]*electionBuilder{
		"one that may have a reason": led().flap(1, 60*second).renewFor(managersLease, "b_1", 60*second),
		"one for each step": step(led().flap(1, 60*second).renewFor(managersLease, "b_1", 30*second)).renewFor(managersLease, "b_1", 60*second).
			depose("b", "b_1", "a_2", "b_2", "1.2.0"),
		"Leases that run out": led().wait(60*second).elect(managersLease, "b_1").wait(100*second).elect(managersLease, "a_1").wait(100*second).elect(managersLease, "b_1"),
		"crashes": led().renewFor(managersLease, "a_1", 60*second).manager("a", history.ProcessExited, failed).wait(15*second).elect(managersLease, "b_1").
			manager("a", history.ProcessStarted, "").declare("a_2", managersLease, "1.2.0").renewFor(managersLease, "b_1", 60*second).
			manager("b", history.ProcessExited, failed).wait(15*second).elect(managersLease, "a_2"),
	} {
		t.Run(name, func(t *testing.T) { told.expectBreaches(t, "CLE-17") })
	}
}

// A leader that is told to give way to one that is no better, and ends before its Lease runs
// out, was well until then, whether it withdraws or not.
func TestCLE17_ALeaderThatEndsBecauseItWasToldToGiveWayWasHealthy(t *testing.T) {
	const second = time.Second
	for _, withdraws := range []bool{false, true} {
		told := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1")
		names, members := []string{"a_1", "b_1"}, []string{"a", "b"}
		for i := range 4 {
			from, to, member := names[i%2], names[(i+1)%2], members[i%2]
			names[i%2] = fmt.Sprintf("%s_%d", member, i+2)
			told.renewFor(managersLease, from, 60*second).mark(managersLease, from, to).waitWithChanges(10 * second)
			if withdraws {
				told.deleteCandidate(from)
			}
			told.manager(member, history.ProcessExited, failed).wait(second).manager(member, history.ProcessStarted, "").
				declare(names[i%2], managersLease, "1.2.0").waitWithChanges(6*second).elect(managersLease, to)
		}
		if r := told.judge(t, "CLE-17"); r.Verdict != check.Fail {
			t.Errorf("CLE-17 is %s where leaders withdraw (%t): %q", r.Verdict, withdraws, r.Reasons)
		}
		// Once may have a reason that cannot be seen; and who crashes was not made to go.
		controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").renewFor(managersLease, "a_1", 60*second).mark(managersLease, "a_1", "b_1").waitWithChanges(10*second).
			manager("a", history.ProcessExited, failed).waitWithChanges(6*second).elect(managersLease, "b_1").renewFor(managersLease, "b_1", 60*second).
			manager("b", history.ProcessExited, failed).waitWithChanges(16*second).elect(managersLease, "a_1").expectBreaches(t, "CLE-17")
	}
}

// While no coordinator is active, no coordinator can replace a leader.
func TestCLE17_TheClockStandsWithoutACoordinator(t *testing.T) {
	const second = time.Second
	told := controlPlane("1.3.0", "1.3.0", "1.2.0")
	told.coordinate(15*second).elect(managersLease, "a_1").renewFor(managersLease, "a_1", 15*second)
	// The coordinator's server is upgraded, and cannot coordinate before the Lease has run out.
	told.endServer("a", 1).wait(second).startServer("a", 2).renewFor(managersLease, "a_1", 7*second).storeLease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 3600})
	told.wait(7*second).mark(managersLease, "a_1", "c_1").waitWithChanges(16*second).elect(managersLease, "c_1").renewFor(managersLease, "c_1", 20*second)
	told.expectBreaches(t, "CLE-17")

	// One that does nothing for as long as it may take is late all the same.
	told = controlPlane("1.3.0", "1.3.0", "1.2.0")
	told.coordinate(15*second).elect(managersLease, "a_1").renewFor(managersLease, "a_1", 20*second).
		storeLease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 3600}).renewFor(managersLease, "a_1", 50*second)
	told.expectBreaches(t, "CLE-17", "held "+managersLease+" for")
}

// depose has the coordinator tell a leader to give way to another one. The leader gives
// the Lease up and ends; its component starts again and stands under a new name.
func (b *electionBuilder) depose(member, leader, other, again, version string) *electionBuilder {
	b.mark(managersLease, leader, other).storeLease(managersLease, history.Lease{Strategy: oldestStrategy, Coordinator: "a_c", Duration: 1}).
		wait(100*time.Millisecond).elect(managersLease, other)
	b.deleteCandidate(leader).manager(member, history.ProcessExited, failed).wait(time.Second)
	return b.manager(member, history.ProcessStarted, "").declare(again, managersLease, version)
}

// flap has the leadership go from a to b and back, so many times.
func (b *electionBuilder) flap(times int, period time.Duration) *electionBuilder {
	names := []string{"a_1", "b_1"}
	for i := range times {
		from, to, member := names[i%2], names[(i+1)%2], []string{"a", "b"}[i%2]
		names[i%2] = fmt.Sprintf("%s_%d", member, i+2)
		b.renewFor(managersLease, from, period).depose(member, from, to, names[i%2], "1.2.0")
	}
	return b
}
