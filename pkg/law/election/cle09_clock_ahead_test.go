package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A holder whose clock is ahead writes a renewTime that is still to come. Clients that count from
// when they saw that write take the Lease in time; the written time alone would forbid it.
func TestCLE09_ARenewTimeThatIsStillToComeKeepsTheLeaseNoLongerThanFromItsWrite(t *testing.T) {
	const second = time.Second
	for name, tc := range map[string]struct {
		ahead, after time.Duration
		want         []string
	}{
		"an hour ahead, taken when it ran out": {time.Hour, 15 * second, nil},
		"an hour ahead, taken early":           {time.Hour, 5 * second, []string{"before it expired"}},
		"years ahead, taken when it ran out":   {200 * 365 * 24 * time.Hour, 15 * second, nil},
		"in time, taken when it ran out":       {0, 15 * second, nil},
		"in time, taken early":                 {0, 5 * second, []string{"before it expired"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newElection().declare("a_1", managersLease, "1.2.0").declare("b_1", managersLease, "1.2.0").elect(managersLease, "a_1")
			b.storeLease(managersLease, history.Lease{Holder: "a_1", Strategy: oldestStrategy, Coordinator: "a_c", Renewed: b.wall().Add(tc.ahead)}).wait(tc.after)
			b.storeLease(managersLease, history.Lease{Holder: "b_1", Strategy: oldestStrategy, Coordinator: "a_c", Renewed: b.wall(), Transitions: 1})
			b.ready("a", 200).expectBreaches(t, "CLE-09", tc.want...)
		})
	}
}
