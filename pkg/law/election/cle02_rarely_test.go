package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// The KEP has candidates renew every 300 seconds and whenever they are asked. That one
// renewal comes right after an answer is no matter; two of the first sort in a row are.
func TestCLE02_ARenewalAfterAnAnswerIsMeasuredFromTheRenewalBefore(t *testing.T) {
	const second = time.Second
	renews := func(t *electionBuilder, asked time.Time) *electionBuilder {
		return t.storeCandidate("a_1", managersLease, "1.2.0", asked, t.wall())
	}
	// asked has it asked so long after it was declared, and answer.
	asked := func(after time.Duration) (*electionBuilder, time.Time) {
		t := controlPlane().manager("a", history.ProcessStarted, "")
		declared := t.wall()
		renews(t, time.Time{}).wait(after)
		at := t.wall()
		t.storeCandidate("a_1", managersLease, "1.2.0", at, declared).wait(20 * time.Millisecond)
		return renews(t, at).wait(100 * time.Millisecond), at
	}
	told, at := asked(300 * second)
	expectCount(t, renews(told, at).expectBreaches(t, "CLE-02"), "renewals of candidates that no coordinator had asked for", 1)

	told, at = asked(300 * second)
	renews(renews(told, at).wait(second), at).expectBreaches(t, "CLE-02", "renewed without being asked, 1s after the last time")

	told, at = asked(60 * second)
	renews(told, at).expectBreaches(t, "CLE-02", "renewed without being asked, 1m0s after the last time")
}
