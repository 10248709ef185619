package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A leader that gives its Lease up, or loses it, and goes on with its work acts beside the next one
// though that has not acted yet, and it acts without the Lease though there is no next one.
func TestCLE10_ALeaderThatGaveItsLeaseUpDoesNotWorkOn(t *testing.T) {
	const s = time.Second
	inFlight := requirement.MustBound("CLE-12", "inFlight")
	led := func() *electionBuilder {
		return controlPlane("1.3.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").wait(2*s).
			mark(managersLease, "a_1", "b_1").wait(s).act(managersLease, "a_1")
	}
	given := func() *electionBuilder {
		return led().storeLease(managersLease, history.Lease{Strategy: oldestStrategy, Duration: 1, Coordinator: "a_c"})
	}
	worksOn := "after it had lost the Lease"
	for _, id := range []requirement.ID{"CLE-10", "CLE-18"} {
		given().wait(inFlight+s).act(managersLease, "a_1").expectBreaches(t, id, worksOn)
		given().elect(managersLease, "b_1").wait(inFlight+s).act(managersLease, "a_1").expectBreaches(t, id, worksOn)
		given().elect(managersLease, "b_1").wait(inFlight-s).act(managersLease, "a_1").expectBreaches(t, id)
		led().waitWithChanges(20*s).elect(managersLease, "b_1").wait(inFlight+s).act(managersLease, "a_1").expectBreaches(t, id, worksOn)
		// One that has it again has it.
		given().elect(managersLease, "b_1").wait(20*s).elect(managersLease, "a_1").wait(20*s).act(managersLease, "a_1").expectBreaches(t, id)
	}
}
