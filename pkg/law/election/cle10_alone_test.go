package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A leader cannot know at once that the harness deleted its Lease. It has to notice in
// time, and a coordinator may not delete the Lease.
func TestCLE10_CLE18_ALeaderMayActForAMomentAfterTheHarnessDeletedItsLease(t *testing.T) {
	const second = time.Second
	acting := func(t *electionBuilder, who string) *electionBuilder { return t.act(managersLease, who) }
	led := func() *electionBuilder {
		return acting(controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1"), "a_1").wait(second)
	}
	next := func(t *electionBuilder) *electionBuilder {
		return acting(t.elect(managersLease, "b_1"), "b_1").wait(second)
	}
	for _, id := range []requirement.ID{"CLE-10", "CLE-18"} {
		beside := "a_1 acted as the leader of " + managersLease
		acting(acting(next(led().deleteLeaseByHarness(managersLease)), "a_1"), "b_1").expectBreaches(t, id)
		acting(next(led().deleteLeaseByHarness(managersLease)).wait(requirement.MustBound("KEP-4355", "noticesWithin")), "a_1").expectBreaches(t, id, beside)
		acting(next(led().deleteLease(managersLease)), "a_1").expectBreaches(t, id, beside)
		acting(next(led()), "a_1").expectBreaches(t, id, beside)
		// A leader that takes the Lease after the deletion knows of it.
		again := next(led().deleteLeaseByHarness(managersLease)).elect(managersLease, "a_1").elect(managersLease, "b_1")
		acting(acting(again, "b_1"), "a_1").expectBreaches(t, id, beside)
	}
}
