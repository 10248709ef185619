package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A Lease that a coordinator makes without a holder gives no candidate the lead.
func TestCLE04_ALeaseMadeWithoutAHolderStaysVacant(t *testing.T) {
	const second = time.Second
	empty := func() *electionBuilder {
		return controlPlane("1.2.0").elect(managersLease, "a_1").deleteLeaseByHarness(managersLease).storeLease(managersLease, history.Lease{Strategy: oldestStrategy, Coordinator: "a_c"})
	}
	empty().waitWithChanges(20*second).expectBreaches(t, "CLE-04", "was made for no candidate for 20s")
	empty().wait(8*second).elect(managersLease, "a_1").waitWithChanges(20*second).expectBreaches(t, "CLE-04")
	// A leader that gives its Lease up has had it.
	controlPlane("1.2.0").elect(managersLease, "a_1").storeLease(managersLease, history.Lease{Strategy: oldestStrategy, Coordinator: "a_c"}).waitWithChanges(20*second).expectBreaches(t, "CLE-04")
}
