package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cutEtcd has faults at two of three members in the given phases: while they last, etcd cannot write.
func (b *electionBuilder) cutEtcd(phases ...history.Phase) *electionBuilder {
	for _, member := range []string{"a", "b"} {
		for _, phase := range phases {
			b.add(history.Event{Kind: history.KindFault, Member: member, Fault: &history.Fault{
				ID: "cut-" + member, Type: "NetworkChaos", Action: "partition", Phase: phase, Proof: "p"}})
		}
	}
	return b
}

// An election is nothing but writes: one member is whole, and can elect as little as the others.
func TestElections_AreNotOwedWithoutAMajorityOfEtcd(t *testing.T) {
	const s = time.Second
	outage := func(b *electionBuilder, then time.Duration) *electionBuilder {
		b.waitWithoutEtcd(80 * s).etcdDelayed(79 * s).cutEtcd(history.PhaseHeal).coordinate(15 * s)
		return b.waitWithChanges(then).elect(managersLease, "c_1").wait(3 * s)
	}
	outlasted := func(then time.Duration) *electionBuilder {
		return outage(controlPlane("1.2.0", "1.2.0", "1.2.0").elect(managersLease, "c_1").cutEtcd(history.PhaseInject, history.PhaseWitness), then)
	}
	outlasted(2*s).expectBreaches(t, "RO-04")
	outlasted(80*s).expectBreaches(t, "RO-04", "had no leader for")

	crashed := func(then time.Duration) *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0", "1.2.0").elect(managersLease, "b_1").wait(s).cutEtcd(history.PhaseInject, history.PhaseWitness)
		return outage(b.manager("b", history.ProcessExited, killed), then)
	}
	crashed(2*s).expectBreaches(t, "CLE-11")
	crashed(80*s).expectBreaches(t, "CLE-11", "had no leader for")

	denied := func(then time.Duration) *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0", "1.2.0").elect(managersLease, "b_1").
			fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseInject, history.PhaseWitness).waitWithChanges(30 * s)
		b.cutEtcd(history.PhaseInject, history.PhaseWitness).
			fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseHeal)
		return outage(b, then)
	}
	denied(2*s).expectBreaches(t, "CLE-24")
	denied(80*s).expectBreaches(t, "CLE-24", "had no leader for")
}

// A better candidate gets no Lease, and an instance declares none, while etcd cannot write.
func TestDuties_StandStillWithoutAMajorityOfEtcd(t *testing.T) {
	const s = time.Second
	outage := func(b *electionBuilder, then time.Duration) *electionBuilder {
		return b.cutEtcd(history.PhaseInject, history.PhaseWitness).waitWithoutEtcd(80 * s).etcdDelayed(79 * s).
			cutEtcd(history.PhaseHeal).waitWithChanges(then)
	}
	long := func(leader string) *electionBuilder {
		b := controlPlane("1.3.0").storeLease(coordinatorsLease, history.Lease{Holder: "c_c", Duration: 3600})
		return b.storeLease(managersLease, history.Lease{Holder: leader, Strategy: oldestStrategy, Coordinator: "a_c", Duration: 3600})
	}
	better := func(then time.Duration) *electionBuilder {
		b := long("a_1").manager("c", history.ProcessStarted, "").declare("c_1", managersLease, "1.2.0")
		return outage(b, then).elect(managersLease, "c_1").wait(s)
	}
	better(2*s).expectBreaches(t, "CLE-08")
	better(80*s).expectBreaches(t, "CLE-08", "a_1 (1.3.0) held")
	starts := func(then time.Duration) *electionBuilder {
		return outage(long("a_1").manager("c", history.ProcessStarted, ""), then).declare("c_1", managersLease, "1.3.0").wait(s)
	}
	starts(2*s).expectBreaches(t, "CLE-01")
	starts(80*s).expectBreaches(t, "CLE-01", "the controller-manager of c ran and was no candidate for")
}

// What removes dead candidates is a part of coordination.
func TestCLE16_WhereNoServerCoordinatesDeadCandidatesStay(t *testing.T) {
	dead := func(off ...string) *electionBuilder {
		b := controlPlane().declare("evenkeel-rowers-a", probeLease, "1.2.0")
		for _, member := range []string{"a", "b", "c"} {
			b.endServer(member, 1).server(member, history.ProcessStarted, 2, off...).ready(member, 200)
		}
		for range 40 {
			b.wait(2 * time.Minute).changeAnother()
		}
		return b
	}
	dead(history.FeatureCoordination).expectBreaches(t, "CLE-16")
	dead().expectBreaches(t, "CLE-16", "was there after it had expired for")
}
