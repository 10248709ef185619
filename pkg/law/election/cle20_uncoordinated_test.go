package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// What a coordinator gives that may not coordinate, no instance has taken.
func TestCLE20_AnElectionByACoordinatorIsNoClaim(t *testing.T) {
	const second = time.Second
	alone := func() *electionBuilder {
		told := controlPlane("1.2.0", "1.2.0").storeLease(managersLease, history.Lease{Strategy: oldestStrategy}).storeLease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: 1})
		for _, phase := range []history.Phase{history.PhaseInject, history.PhaseWitness} {
			told.add(history.Event{Kind: history.KindFault, Member: "b", Fault: &history.Fault{
				ID: "f", Type: history.FaultKeys, Action: history.FaultKeysFail, Phase: phase, Proof: "p", Prefixes: []string{leasePrefix + coordinatorsLease}}})
		}
		return told.wait(3*second).ready("a", 200).wait(10 * second)
	}
	expectCount(t, alone().elect(managersLease, "a_1").judge(t, "CLE-20"), "were taken by an instance", 0)
	expectCount(t, alone().storeLease(managersLease, history.Lease{Holder: "a_1", Strategy: oldestStrategy}).judge(t, "CLE-20"), "were taken by an instance", 1)
}

// An instance whose etcd is stopped cannot take a Lease.
func TestCLE20_WaitsForTheEtcdOfTheInstance(t *testing.T) {
	const second = time.Second
	free := func(stopped bool) *electionBuilder {
		b := controlPlane("1.2.0").etcd("a", history.ProcessStarted, 1)
		b.storeLease(managersLease, history.Lease{Strategy: oldestStrategy}).storeLease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: 1})
		b.fault(history.FaultKeys, history.FaultKeysFail, coordinatorsLease, history.PhaseInject, history.PhaseWitness)
		if stopped {
			b.etcd("a", history.ProcessStopping, 1)
		}
		return b.waitWithChanges(90 * second)
	}
	free(true).expectBreaches(t, "CLE-20")
	if r := free(false).judge(t, "CLE-20"); len(r.Violations) != 1 {
		t.Errorf("a Lease that could be taken and was not: %v", r.Violations)
	}
}
