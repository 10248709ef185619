package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A candidate that wants another strategy for some time takes nothing away from the times
// before and after it.
func TestElected_OnlyWhileAllCandidatesWantTheStrategyOfCoordinators(t *testing.T) {
	const s = time.Second
	other := func(b *electionBuilder) *electionBuilder {
		b.declare("evenkeel-other", managersLease, "1.2.0")
		b.events[len(b.events)-1].Stored.Candidate.Strategy = thirdPartyStrategy
		return b
	}
	gone := func(b *electionBuilder) *electionBuilder { return b.deleteCandidate("evenkeel-other") }
	without := func() *electionBuilder {
		return controlPlane("1.2.0").elect(managersLease, "a_1").deleteLeaseByHarness(managersLease)
	}
	const made, none = "Leases that a coordinator made", "was made for no candidate for 1"
	other(without().waitWithChanges(20*s)).expectBreaches(t, "CLE-04", none)
	other(without()).waitWithChanges(20*s).expectBreaches(t, "CLE-04")
	gone(other(without()).waitWithChanges(20*s)).waitWithChanges(20*s).expectBreaches(t, "CLE-04", "was made for no candidate")
	gone(other(without().waitWithChanges(12*s)).waitWithChanges(20*s)).waitWithChanges(8*s).expectBreaches(t, "CLE-04", none)
	expectCount(t, other(without().wait(5*s)).wait(s).elect(managersLease, "a_1").expectBreaches(t, "CLE-04"), made, 1)
	expectCount(t, gone(other(without().wait(4*s)).wait(30*s)).wait(4*s).elect(managersLease, "a_1").expectBreaches(t, "CLE-04"), made, 2)
	// What was made meanwhile is there when the other candidate has gone.
	gone(other(without().wait(s)).wait(5*s).elect(managersLease, "a_1").wait(s)).renewFor(managersLease, "a_1", 60*s).expectBreaches(t, "CLE-04")

	outranked := func() *electionBuilder {
		return controlPlane("1.3.0", "1.2.0").storeLease(managersLease, history.Lease{Holder: "a_1", Strategy: oldestStrategy, Coordinator: "a_c", Duration: 3600})
	}
	const held = "while an older candidate was eligible"
	other(outranked().waitWithChanges(60*s)).expectBreaches(t, "CLE-08", held)
	other(outranked()).waitWithChanges(60*s).expectBreaches(t, "CLE-08")
	gone(other(outranked()).waitWithChanges(60*s)).waitWithChanges(60*s).expectBreaches(t, "CLE-08", held)
	taken := func() *electionBuilder {
		return controlPlane("1.3.0", "1.2.0").elect(managersLease, "a_1").wait(s).mark(managersLease, "a_1", "b_1").wait(2*s).renew(managersLease, "a_1").wait(s).elect(managersLease, "b_1")
	}
	other(taken()).expectBreaches(t, "CLE-08", "was told to give "+managersLease+" up")

	failing := func() *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseInject, history.PhaseWitness).wait(20 * s)
		return b.fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseHeal)
	}
	const recovered, leaderless = "elections that writes had failed for", "had no leader"
	other(failing().waitWithChanges(40*s)).expectBreaches(t, "CLE-24", leaderless)
	other(failing()).waitWithChanges(40*s).expectBreaches(t, "CLE-24")
	gone(other(failing().wait(s)).wait(5*s).elect(managersLease, "b_1").wait(s)).renewFor(managersLease, "b_1", 60*s).expectBreaches(t, "CLE-24")
	expectCount(t, other(failing().wait(s)).wait(s).elect(managersLease, "b_1").expectBreaches(t, "CLE-24"), recovered, 0)
	expectCount(t, gone(other(failing().wait(s)).wait(40*s)).wait(20*s).elect(managersLease, "b_1").expectBreaches(t, "CLE-24"), recovered, 1)
}
