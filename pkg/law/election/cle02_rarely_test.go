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

// Of a candidate that was there before the run, and may have answered a ping then, it is not known
// when it renewed without being asked.
func TestCLE02_AnAnswerBeforeTheRunIsNoRenewal(t *testing.T) {
	const second = time.Second
	renewed := func(pings bool) *electionBuilder {
		b := controlPlane("1.2.0").manager("b", history.ProcessStarted, "")
		b.storeCandidate("b_1", managersLease, "1.2.0", time.Time{}, b.wall()).wait(250 * second)
		asked := time.Time{}
		if pings {
			asked = b.wall()
			b.storeCandidate("b_1", managersLease, "1.2.0", asked, b.wall())
		}
		began := len(b.events)
		return b.ready("a", 200).wait(50*second).storeCandidate("b_1", managersLease, "1.2.0", asked, b.wall()).midway(t, began)
	}
	renewed(true).expectBreaches(t, "CLE-02")
	expectCount(t, renewed(false).expectBreaches(t, "CLE-02"), "renewals of candidates that no coordinator had asked for", 1)
}
