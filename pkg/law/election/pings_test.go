package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A candidate that is pinged over and over, and answers every time, is eligible all the
// time, and the clock of what it is eligible for runs on.
func TestDeadlines_PingsThatAreAnsweredDoNotStopTheClock(t *testing.T) {
	const second = time.Second
	pings := func(t *electionBuilder, name, version string, answers bool) *electionBuilder {
		renewed := time.Duration(t.now)
		for range 12 {
			t.ping(name, managersLease, version, renewed).wait(10 * time.Millisecond)
			if answers {
				renewed = time.Duration(t.now)
				t.storeCandidate(name, managersLease, version, t.wall().Add(-time.Millisecond), t.wall())
			}
			t.wait(5 * second)
		}
		return t
	}
	t.Run("a Lease that is not made", func(t *testing.T) {
		pings(controlPlane("1.2.0"), "a_1", "1.2.0", true).expectBreaches(t, "CLE-04", managersLease+" was made for no candidate")
		pings(controlPlane("1.2.0"), "a_1", "1.2.0", false).expectBreaches(t, "CLE-04")
	})
	t.Run("a leader that a better candidate waits for", func(t *testing.T) {
		for id, want := range map[string]string{"CLE-08": "a_1 (1.3.0) held", "CLE-17": "a_1 (1.3.0) held"} {
			led := func() *electionBuilder {
				return controlPlane("1.3.0", "1.2.0").storeLease(managersLease, history.Lease{Holder: "a_1", Strategy: oldestStrategy, Coordinator: "a_c", Duration: 3600})
			}
			pings(led(), "b_1", "1.2.0", true).expectBreaches(t, requirement.ID(id), want)
			pings(led(), "b_1", "1.2.0", false).expectBreaches(t, requirement.ID(id))
		}
	})
	t.Run("a leader that has crashed", func(t *testing.T) {
		crash := func() *electionBuilder {
			return controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").manager("a", history.ProcessExited, killed)
		}
		pings(crash(), "b_1", "1.2.0", true).expectBreaches(t, "CLE-11", "had no leader for")
		pings(crash(), "b_1", "1.2.0", false).expectBreaches(t, "CLE-11")
	})
	t.Run("an answer that comes too late", func(t *testing.T) {
		told := controlPlane("1.2.0")
		for range 6 {
			asked := told.wall()
			told.ping("a_1", managersLease, "1.2.0", 0).wait(8*second).storeCandidate("a_1", managersLease, "1.2.0", asked, told.wall())
		}
		told.expectBreaches(t, "CLE-04")
	})
}
