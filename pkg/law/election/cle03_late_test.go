package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A candidate that takes its time before it asks its API server to write dates its answer back.
func TestCLE03_AnAnswerThatComesToEtcdLateIsLate(t *testing.T) {
	answered := func(after time.Duration) *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0")
		asked := b.wall()
		b.ping("a_1", managersLease, "1.2.0", 0).waitWithChanges(after)
		return b.storeCandidate("a_1", managersLease, "1.2.0", asked, asked.Add(100*time.Millisecond))
	}
	within := requirement.MustBound("CLE-03", "answersWithin")
	answered(within+time.Second).expectBreaches(t, "CLE-03", "candidate kube-system/a_1 did not answer a ping for")
	answered(within-time.Second).expectBreaches(t, "CLE-03")
}
