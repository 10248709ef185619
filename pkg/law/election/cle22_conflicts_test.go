package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A conflict that is over, since one candidate was deleted, is no part of the next one.
func TestCLE22_AConflictThatIsOverIsNoPartOfTheNext(t *testing.T) {
	s := time.Second
	over := func() *electionBuilder {
		return controlPlane().declare("evenkeel-rowers-a", probeLease, "1.2.0").declareWith("evenkeel-rowers-b", thirdPartyStrategy).waitWithChanges(6 * s).deleteCandidate("evenkeel-rowers-b")
	}
	over().waitWithChanges(2*s).elect(probeLease, "evenkeel-rowers-a").renewFor(probeLease, "evenkeel-rowers-a", 60*s).declareWith("evenkeel-rowers-b", thirdPartyStrategy).waitWithChanges(2*s).expectBreaches(t, "CLE-22")
	over().waitWithChanges(60*s).declareWith("evenkeel-rowers-b", thirdPartyStrategy).waitWithChanges(4*s).storeLease(probeLease, history.Lease{Strategy: thirdPartyStrategy, Coordinator: "a_c"}).waitWithChanges(4*s).expectBreaches(t, "CLE-22")
	over().waitWithChanges(60*s).declareWith("evenkeel-rowers-b", thirdPartyStrategy).waitWithChanges(40*s).expectBreaches(t, "CLE-22", "want different strategies")
}
