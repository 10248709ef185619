package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A coordinator that gets its own Lease back has taken over from no other one.
func TestCLE13_ACoordinatorThatGetsItsLeaseAgainIsNoTakeover(t *testing.T) {
	const second = time.Second
	forced := func() *electionBuilder {
		return controlPlane("1.2.0").storeLease(coordinatorsLease, history.Lease{Holder: history.AbsentHolder, Duration: 5}).wait(6 * second)
	}
	const over = "coordinators that another one took over from"
	expectCount(t, forced().coordinate(15*second).expectBreaches(t, "CLE-13"), over, 0)
	expectCount(t, forced().storeLease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 15}).expectBreaches(t, "CLE-13"), over, 1)
	expectCount(t, controlPlane("1.2.0").storeLease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 15}).expectBreaches(t, "CLE-13"), over, 1)
}
