package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A better candidate that was away for long is a reason for an election, whatever it was
// away for.
func TestCLE15_ABetterCandidateThatReturnsIsACause(t *testing.T) {
	const second = time.Second
	told := controlPlane("1.2.0", "1.3.0").elect(managersLease, "a_1").renewFor(managersLease, "a_1", 60*second)
	told.manager("a", history.ProcessExited, failed).wait(16*second).elect(managersLease, "b_1").renewFor(managersLease, "b_1", 200*second)
	told.manager("a", history.ProcessStarted, "").declare("a_2", managersLease, "1.2.0").wait(3*second).
		mark(managersLease, "b_1", "a_2").wait(15*second).elect(managersLease, "a_2")
	told.expectBreaches(t, "CLE-15")

	// One that was made to go, and takes long to come back.
	seized := controlPlane("1.2.0", "1.3.0").elect(managersLease, "a_1").renewFor(managersLease, "a_1", 60*second)
	seized.deleteLeaseByHarness(managersLease).elect(managersLease, "b_1").manager("a", history.ProcessExited, failed).renewFor(managersLease, "b_1", 200*second)
	seized.manager("a", history.ProcessStarted, "").declare("a_2", managersLease, "1.2.0").wait(3*second).
		mark(managersLease, "b_1", "a_2").wait(15*second).elect(managersLease, "a_2")
	seized.expectBreaches(t, "CLE-15")
}

// There is a reason to elect for a Lease that the harness deleted; there is none to delete
// a Lease for which no request asked.
func TestCLE15_OnlyTheHarnessMayDeleteALeaseInQuietTimes(t *testing.T) {
	led := func() *electionBuilder {
		return controlPlane("1.2.0").elect(managersLease, "a_1").renewFor(managersLease, "a_1", 60*time.Second)
	}
	led().deleteLeaseByHarness(managersLease).elect(managersLease, "a_1").renewFor(managersLease, "a_1", 20*time.Second).expectBreaches(t, "CLE-15")
	led().deleteLease(managersLease).elect(managersLease, "a_1").renewFor(managersLease, "a_1", 20*time.Second).expectBreaches(t, "CLE-15", "was deleted, and nothing had happened")
}
