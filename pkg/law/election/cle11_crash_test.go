package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A candidate that was only elected leads when it shows that it lives: a dead one never does.
func TestCLE11_CLE24_ALeaderThatDoesNotShowThatItLivesReplacesNone(t *testing.T) {
	const second = time.Second
	crashed := func() *electionBuilder {
		return controlPlane("1.2.0", "1.2.0", "1.2.0").elect(managersLease, "a_1").
			manager("b", history.ProcessExited, killed).manager("a", history.ProcessExited, killed).wait(16 * second)
	}
	for name, tc := range map[string]struct {
		told     *electionBuilder
		replaced int64
		want     []string
	}{
		"a dead one":      {crashed().electSilent(managersLease, "b_1").wait(30*second).ready("a", 200), 0, []string{"had no leader for"}},
		"one that renews": {crashed().electSilent(managersLease, "c_1").wait(2*second).renew(managersLease, "c_1").wait(40*second).ready("a", 200), 1, nil},
		"one that acts":   {crashed().electSilent(managersLease, "c_1").wait(2*second).act(managersLease, "c_1").wait(40*second).ready("a", 200), 1, nil},
		"one that is named in time and renews later":  {crashed().wait(28*second).electSilent(managersLease, "c_1").wait(2*second).renew(managersLease, "c_1"), 1, nil},
		"one that never renews, and is told to be on": {crashed().storeLease(managersLease, history.Lease{Holder: "c_1", Strategy: oldestStrategy, Coordinator: "a_c", Duration: 3600}).wait(40*second).ready("a", 200), 0, []string{"had no leader for"}},
		"one that takes it by itself":                 {crashed().claim(managersLease, "c_1").wait(40*second).ready("a", 200), 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			expectCount(t, tc.told.expectBreaches(t, "CLE-11", tc.want...), "crashes of a leader", tc.replaced)
		})
	}

	// The same after writes that had failed.
	failing := func() *electionBuilder {
		told := controlPlane("1.2.0", "1.2.0", "1.2.0").elect(managersLease, "a_1").manager("b", history.ProcessExited, killed)
		for _, phase := range []history.Phase{history.PhaseInject, history.PhaseWitness, history.PhaseHeal} {
			told.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{
				ID: "f", Type: history.FaultAdmission, Action: history.FaultAdmissionDeny, Phase: phase, Proof: "p", Prefixes: []string{leasePrefix + managersLease}}}).wait(18 * second)
		}
		return told
	}
	expectCount(t, failing().electSilent(managersLease, "b_1").wait(5*second).ready("a", 200).wait(20*second).ready("a", 200).expectBreaches(t, "CLE-24", "had no leader for"), "elections that writes had failed for", 0)
	expectCount(t, failing().electSilent(managersLease, "c_1").wait(second).renew(managersLease, "c_1").wait(40*second).ready("a", 200).expectBreaches(t, "CLE-24"), "elections that writes had failed for", 1)
}

// The candidates of a Lease are deleted and declared anew while it has no leader. The time
// that the coordinator has goes on all the while that one of them is eligible.
func TestCLE11_CandidatesDeclaredAnewDoNotRestartTheClock(t *testing.T) {
	const second = time.Second
	b := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").wait(second).manager("a", history.ProcessExited, killed)
	for range 4 {
		b.wait(20*second).deleteCandidate("b_1").wait(second).declare("b_1", managersLease, "1.2.0")
	}
	b.elect(managersLease, "b_1").expectBreaches(t, "CLE-11", "had no leader for")
}
