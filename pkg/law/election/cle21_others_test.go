package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A holder that a third party gave stays for good, not for a moment.
func TestCLE21_AHolderOfAThirdPartyStays(t *testing.T) {
	const (
		second = time.Second
		others = "example.com/draft"
	)
	given := func() *electionBuilder {
		told := controlPlane()
		told.store(history.Stored{Type: history.StoredPut, Key: candidatePrefix + "kube-system/evenkeel-rowers-a", Candidate: &history.Candidate{
			Lease: nameOf(probeLease), Binary: "1.2.0", Strategy: others, Renewed: told.wall()}})
		return told.storeLease(probeLease, history.Lease{Strategy: others, Coordinator: "a_c"}).wait(second).
			storeLease(probeLease, history.Lease{Holder: history.ThirdPartyHolder, Duration: 3600, Strategy: others}).wait(6*second).ready("a", 200)
	}
	kept := "holders that a third party had given and that stayed"
	later := func(b *electionBuilder) *electionBuilder { return b.wait(10*second).ready("a", 200) }
	expectCount(t, later(given()).expectBreaches(t, "CLE-21"), kept, 1)
	expectCount(t, given().storeLease(probeLease, history.Lease{Strategy: others, Coordinator: "a_c"}).expectBreaches(t, "CLE-21", "was taken or to be taken from the holder"), kept, 1)
	given().storeLease(probeLease, history.Lease{Holder: history.ThirdPartyHolder, Preferred: "evenkeel-rowers-a", Duration: 3600, Strategy: others}).expectBreaches(t, "CLE-21", "was taken or to be taken from the holder")
	later(given().deleteLease(probeLease)).expectBreaches(t, "CLE-21", probeLease+" was taken or to be taken from the holder")
	later(given().deleteLeaseByHarness(probeLease)).expectBreaches(t, "CLE-21")
	later(given().deleteCandidate("evenkeel-rowers-a").deleteLease(probeLease)).expectBreaches(t, "CLE-21")
}
