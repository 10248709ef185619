package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A candidate that was deleted may be elected as long as an election takes, and not after that.
func TestCLE05_CLE16_ADeletedCandidateIsNotElectedLater(t *testing.T) {
	const second = time.Second
	stood := func() *electionBuilder {
		return controlPlane().declare("evenkeel-rowers-a", probeLease, "1.2.0").wait(3 * second).deleteCandidate("evenkeel-rowers-a")
	}
	stood().wait(3*second).elect(probeLease, "evenkeel-rowers-a").expectBreaches(t, "CLE-05")
	for _, after := range []time.Duration{8 * second, 60 * second} {
		stood().wait(after).elect(probeLease, "evenkeel-rowers-a").expectBreaches(t, "CLE-05", "evenkeel-rowers-a was elected for "+probeLease+", and had been deleted for")
	}
	// How long ago it was deleted, the recorder does not know.
	if r := stood().waitWithoutEtcd(8*second).etcdDelayed(7*second).elect(probeLease, "evenkeel-rowers-a").judge(t, "CLE-05"); r.Obligations.Unclear != 1 {
		t.Errorf("an election when the recorder of etcd was behind: %s, %+v", r.Verdict, r.Obligations)
	}
	stood().wait(50*second).declare("evenkeel-rowers-a", probeLease, "1.2.0").wait(second).elect(probeLease, "evenkeel-rowers-a").expectBreaches(t, "CLE-05")
	stood().wait(60*second).storeLease(probeLease, history.Lease{Holder: "evenkeel-rowers-a"}).expectBreaches(t, "CLE-05")

	expired := controlPlane().storeCandidate("evenkeel-rowers-a", probeLease, "1.2.0", time.Time{}, started.Add(-requirement.MustBound("KEP-4355", "candidateValidity")-second)).deleteCandidate("evenkeel-rowers-a").wait(second)
	expired.elect(probeLease, "evenkeel-rowers-a").expectBreaches(t, "CLE-16", "had expired before")
}
