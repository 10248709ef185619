package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A coordinator that elects the last holder of an expired Lease again makes no transition between
// holders. The holder keeps its acquireTime, or has a new one.
func TestCLE26_TheLastHolderThatGetsTheLeaseAgainIsNotCounted(t *testing.T) {
	const second = time.Second
	leader := "evenkeel-rowers-a"
	stored := func(b *electionBuilder, transitions int, acquired time.Time) *electionBuilder {
		return b.storeLease(probeLease, history.Lease{Holder: leader, Strategy: oldestStrategy, Coordinator: "a_c", Transitions: transitions, Acquired: acquired})
	}
	again := func(after time.Duration, transitions int, acquired func(b *electionBuilder, first time.Time) time.Time) *electionBuilder {
		b := newElection().declare(leader, probeLease, "1.2.0")
		first := b.wall()
		stored(b, 0, first).wait(after)
		return stored(b, transitions, acquired(b, first)).ready("a", 200)
	}
	kept := func(_ *electionBuilder, first time.Time) time.Time { return first }
	anew := func(b *electionBuilder, _ time.Time) time.Time { return b.wall() }
	for name, tc := range map[string]struct {
		told *electionBuilder
		want []string
	}{
		"renewed":                            {again(5*second, 0, kept), nil},
		"elected again, as it was":           {again(180*second, 0, kept), nil},
		"elected again, acquired anew":       {again(180*second, 0, anew), nil},
		"elected again, and counted":         {again(180*second, 1, kept), []string{"leaseTransitions from 0 to 1"}},
		"elected again, acquired long ago":   {again(180*second, 0, func(_ *electionBuilder, first time.Time) time.Time { return first.Add(-time.Minute) }), []string{"away from when it took it"}},
		"elected again, without acquireTime": {again(180*second, 0, func(*electionBuilder, time.Time) time.Time { return time.Time{} }), []string{"its acquireTime is empty"}},
		"renewed, and acquired anew":         {again(5*second, 0, anew), []string{"changed while it kept it"}},
	} {
		t.Run(name, func(t *testing.T) { tc.told.expectBreaches(t, "CLE-26", tc.want...) })
	}
}
