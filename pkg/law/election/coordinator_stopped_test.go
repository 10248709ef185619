package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func (b *electionBuilder) etcd(member, change string, instance int) *electionBuilder {
	return b.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentEtcd, Change: change, Instance: instance, Expected: change == history.ProcessExited}})
}

// A coordinator that the harness keeps from its work has its Lease until that runs out.
func TestCLE04_WaitsForTheNextCoordinatorWhereTheHarnessStopsOne(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		stop     func(*electionBuilder)
		breaches []string
	}{
		"its etcd is told to end":       {func(b *electionBuilder) { b.etcd("a", history.ProcessStopping, 1) }, nil},
		"its API server is told to end": {func(b *electionBuilder) { b.server("a", history.ProcessStopping, 1) }, nil},
		"its API server is paused":      {func(b *electionBuilder) { b.server("a", history.ProcessPaused, 1) }, nil},
		"another one's etcd":            {func(b *electionBuilder) { b.etcd("c", history.ProcessStopping, 1) }, []string{"was made for no candidate for"}},
		"it idles":                      {func(*electionBuilder) {}, []string{"was made for no candidate for"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := controlPlane("1.2.0", "1.2.0").etcd("a", history.ProcessStarted, 1).etcd("c", history.ProcessStarted, 1).elect(managersLease, "b_1").coordinate(15 * s)
			c.stop(b)
			b.deleteLeaseByHarness(managersLease).waitWithChanges(18*s).storeLease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 3600})
			b.wait(7*s).elect(managersLease, "b_1").waitWithChanges(5*s).expectBreaches(t, "CLE-04", c.breaches...)
		})
	}
}

// The next coordinator takes over as soon as it may, and elects as soon as it can.
func TestCLE24_WaitsForTheNextCoordinator(t *testing.T) {
	const s = time.Second
	healed := func(last time.Duration) *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0").elect(managersLease, "b_1").
			fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseInject, history.PhaseWitness).waitWithChanges(20 * s)
		b.coordinate(last).endServer("a", 1).fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseHeal)
		return b.waitWithChanges(20*s).storeLease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 3600})
	}
	healed(15*s).wait(12*s).elect(managersLease, "b_1").wait(s).expectBreaches(t, "CLE-24")
	healed(15*s).waitWithChanges(32*s).expectBreaches(t, "CLE-24", "had no leader for")
}
