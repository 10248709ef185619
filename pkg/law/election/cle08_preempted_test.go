package election_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A leader that is told to give way ends and is started again, its Lease runs out, and it
// gets it again, over and over: the better candidate waits for minutes.
func TestCLE08_CLE17_ALeaderThatGetsItsLeaseAgainDoesNotRestartTheClock(t *testing.T) {
	const second = time.Second
	for id, want := range map[requirement.ID]string{"CLE-08": "held " + managersLease, "CLE-17": "held " + managersLease} {
		told := controlPlane("1.3.0", "1.3.0", "1.2.0")
		for i := range 5 {
			leader := fmt.Sprintf("a_%d", i+1)
			told.elect(managersLease, leader).wait(second).mark(managersLease, leader, "c_1").waitWithChanges(11*second).
				deleteCandidate(leader).manager("a", history.ProcessExited, failed).manager("a", history.ProcessStarted, "").
				declare(fmt.Sprintf("a_%d", i+2), managersLease, "1.3.0").waitWithChanges(8 * second)
		}
		r := told.judge(t, id)
		if r.Verdict != check.Fail {
			t.Errorf("%s is %s, want %q: %q", id, r.Verdict, want, r.Reasons)
		}
		if id == "CLE-08" {
			expectCount(t, r, "leaders that were told to give way", 0)
		}

		// The better candidate gets the Lease the second time.
		told = controlPlane("1.3.0", "1.3.0", "1.2.0")
		told.elect(managersLease, "a_1").wait(second).mark(managersLease, "a_1", "c_1").waitWithChanges(19*second).elect(managersLease, "b_1").
			wait(second).mark(managersLease, "b_1", "c_1").waitWithChanges(19*second).elect(managersLease, "c_1").renewFor(managersLease, "c_1", 60*second)
		told.expectBreaches(t, id)
	}
}

// A leader that is told to give way does so itself: to take its Lease is no handover.
func TestCLE08_ALeaseTakenBeforeTheLeaderGaveWayIsNoHandover(t *testing.T) {
	const second = time.Second
	told := func() *electionBuilder {
		return controlPlane("1.3.0", "1.2.0").elect(managersLease, "a_1").wait(second).mark(managersLease, "a_1", "b_1")
	}
	free := history.Lease{Strategy: oldestStrategy, Coordinator: "a_c", Duration: 1}
	handed := "leaders that were told to give way"
	expectCount(t, told().wait(2*second).renew(managersLease, "a_1").wait(second).elect(managersLease, "b_1").expectBreaches(t, "CLE-08", "was told to give "+managersLease+" up, and it was given to b_1"), handed, 0)
	expectCount(t, told().wait(2*second).storeLease(managersLease, free).wait(second).elect(managersLease, "b_1").expectBreaches(t, "CLE-08"), handed, 1)
	expectCount(t, told().wait(16*second).elect(managersLease, "b_1").expectBreaches(t, "CLE-08"), handed, 1)
	expectCount(t, told().wait(2*second).storeLease(managersLease, history.Lease{Holder: history.AbsentHolder, Strategy: oldestStrategy, Coordinator: "a_c"}).expectBreaches(t, "CLE-08"), handed, 0)
}
