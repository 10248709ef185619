package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// What was done in time and told late, because the recorder was away, is no breach.
func TestDelays_AChangeToldLateWhileTheRecorderWasDelayedIsNoBreach(t *testing.T) {
	const s = time.Second
	polls := func(t *electionBuilder, lasts time.Duration) *electionBuilder {
		for until := t.now + int64(lasts); t.now < until; {
			t.wait(s).ready("a", 200)
		}
		return t
	}
	t.Run("CLE-04", func(t *testing.T) {
		told := controlPlane("1.2.0").elect(managersLease, "a_1").deleteLeaseByHarness(managersLease).waitWithChanges(4 * s)
		polls(told, 14*s).etcdDelayed(14*s).elect(managersLease, "a_1").waitWithChanges(4*s).expectBreaches(t, "CLE-04")
	})
	t.Run("CLE-11", func(t *testing.T) {
		told := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").manager("a", history.ProcessExited, killed).waitWithChanges(20 * s)
		polls(told, 28*s).etcdDelayed(28*s).elect(managersLease, "b_1").waitWithChanges(4*s).expectBreaches(t, "CLE-11")
	})
	t.Run("CLE-13", func(t *testing.T) {
		told := controlPlane("1.2.0").coordinate(15*s).endServer("a", 1).waitWithChanges(14 * s)
		polls(told, 12*s).etcdDelayed(12*s).storeLease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 15}).waitWithChanges(4*s).expectBreaches(t, "CLE-13")
	})
	t.Run("CLE-17", func(t *testing.T) {
		told := controlPlane("1.3.0", "1.2.0").elect(managersLease, "a_1").renewFor(managersLease, "a_1", 10*s).mark(managersLease, "a_1", "b_1").waitWithChanges(14 * s)
		told.storeLease(managersLease, history.Lease{Holder: "a_1", Preferred: "b_1", Strategy: oldestStrategy, Coordinator: "a_c", Duration: 3600})
		polls(told, 24*s).etcdDelayed(24*s).elect(managersLease, "b_1").waitWithChanges(4*s).expectBreaches(t, "CLE-17")
	})
	t.Run("CLE-15", func(t *testing.T) {
		told := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").renewFor(managersLease, "a_1", 100*s)
		polls(told, 12*s).etcdDelayed(12*s).ping("b_1", managersLease, "1.2.0", 0).expectBreaches(t, "CLE-15")
	})
}

// A change that came about in time is no breach where the recorder of etcd could not hear
// of it in time. Only the time counts in which it could not: without a delay, and with a
// short one, the same change is late.
func TestDelays_AChangeToldLateIsLateOnlyIfTheRecorderWasNotDelayed(t *testing.T) {
	const (
		s     = time.Second
		short = 2 * s
	)
	// The leader goes on until it is told to give way, and gives the Lease up then.
	led := history.Lease{Holder: "a_1", Strategy: oldestStrategy, Coordinator: "a_c", Duration: 3600}
	free := history.Lease{Strategy: oldestStrategy, Coordinator: "a_c", Duration: 1}
	acting := func() *electionBuilder {
		return controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1")
	}
	passed := func() *electionBuilder {
		return controlPlane("1.2.0", "1.2.0", "1.2.0").elect(managersLease, "a_1").manager("a", history.ProcessExited, killed).
			fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseInject, history.PhaseWitness).waitWithChanges(18*s).
			fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseHeal)
	}
	for _, tc := range []struct {
		id requirement.ID
		// what is done in time, and told late.
		what string
		// before is what is told until the recorder hears nothing, for so long, and after what
		// it tells then.
		before func() *electionBuilder
		away   time.Duration
		after  func(*electionBuilder) *electionBuilder
		late   string
	}{
		{"CLE-01", "a first candidate", func() *electionBuilder {
			return controlPlane("1.2.0").manager("b", history.ProcessStarted, "").waitWithChanges(20 * s)
		}, 20 * s, func(t *electionBuilder) *electionBuilder {
			return t.changeAnother().declare("b_1", managersLease, "1.2.0")
		}, "the controller-manager of b ran and was no candidate for 3"},
		{"CLE-01", "a candidate that is there again", func() *electionBuilder {
			return controlPlane("1.2.0", "1.2.0").deleteCandidate("b_1").waitWithChanges(320 * s)
		}, 20 * s, func(t *electionBuilder) *electionBuilder {
			return t.changeAnother().declare("b_1", managersLease, "1.2.0")
		}, "the controller-manager of b ran and was no candidate for 5m3"},
		{"CLE-08", "a leader that gives way", func() *electionBuilder {
			return controlPlane("1.3.0", "1.2.0").storeLease(managersLease, led).waitWithChanges(36 * s)
		}, 12 * s, func(t *electionBuilder) *electionBuilder {
			return t.changeAnother().mark(managersLease, "a_1", "b_1").storeLease(managersLease, free).elect(managersLease, "b_1")
		}, "a_1 (1.3.0) held " + managersLease + " for 4"},
		{"CLE-12", "an action of before the Lease ran out", func() *electionBuilder {
			return acting().waitWithChanges(8 * s)
		}, 20 * s, func(t *electionBuilder) *electionBuilder {
			return t.act(managersLease, "a_1").elect(managersLease, "b_1")
		}, "a_1 acted as the leader of " + managersLease},
		{"CLE-12", "a candidate again", func() *electionBuilder {
			return acting().waitWithChanges(16*s).elect(managersLease, "b_1").deleteCandidate("a_1").waitWithChanges(20 * s)
		}, 20 * s, func(t *electionBuilder) *electionBuilder {
			return t.changeAnother().declare("a_1", managersLease, "1.2.0")
		}, "a_1 has lost " + managersLease + ", its process runs, and it has been no candidate for 3"},
		{"CLE-20", "a claim", func() *electionBuilder {
			return controlPlane("1.2.0", "1.2.0").storeLease(managersLease, history.Lease{Strategy: oldestStrategy}).storeLease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: 1}).
				fault(history.FaultKeys, history.FaultKeysFail, coordinatorsLease, history.PhaseInject, history.PhaseWitness).waitWithChanges(24 * s)
		}, 30 * s, func(t *electionBuilder) *electionBuilder {
			return t.storeLease(managersLease, history.Lease{Holder: "a_1", Strategy: oldestStrategy})
		}, "no server coordinates, and though there are candidates no instance has taken " + managersLease},
		{"CLE-22", "a strategy of several", func() *electionBuilder {
			return controlPlane().declare("evenkeel-rowers-a", probeLease, "1.2.0").declareWith("evenkeel-rowers-b", thirdPartyStrategy).waitWithChanges(12 * s)
		}, 12 * s, func(t *electionBuilder) *electionBuilder {
			return t.storeLease(probeLease, history.Lease{Strategy: thirdPartyStrategy, Coordinator: "a_c"})
		}, "the candidates of " + probeLease + " want different strategies"},
		{"CLE-24", "an election after failures", func() *electionBuilder {
			return passed().waitWithChanges(20 * s)
		}, 24 * s, func(t *electionBuilder) *electionBuilder {
			return t.changeAnother().elect(managersLease, "c_1")
		}, managersLease + " had no leader for 4"},
		{"CLE-24", "an election after failures, of which it tells at once", func() *electionBuilder {
			return passed().waitWithChanges(20 * s)
		}, 24 * s, func(t *electionBuilder) *electionBuilder {
			return t.elect(managersLease, "c_1")
		}, managersLease + " had no leader for 4"},
		{"CLE-25", "coordination again", func() *electionBuilder {
			told := controlPlane("1.2.0", "1.2.0").endServer("b", 1).server("b", history.ProcessStarted, 2, history.FeatureCoordination).wait(s)
			return told.claim(managersLease, "a_1").endServer("b", 2).wait(s).startServer("b", 3).ready("b", 200).waitWithChanges(36 * s)
		}, 12 * s, func(t *electionBuilder) *electionBuilder {
			return t.elect(managersLease, "b_1")
		}, "all servers have coordination again, and no leader has "},
	} {
		t.Run(string(tc.id)+"/"+tc.what, func(t *testing.T) {
			tc.after(tc.before().waitWithoutEtcd(tc.away)).expectBreaches(t, tc.id, tc.late)
			tc.after(tc.before().waitWithoutEtcd(tc.away).etcdDelayed(short)).expectBreaches(t, tc.id, tc.late)
			tc.after(tc.before().waitWithoutEtcd(tc.away).etcdDelayed(tc.away)).waitWithChanges(s).expectBreaches(t, tc.id)
		})
	}
}

// What an away excuses proves nothing either.
func TestDelays_AnActionOfUncertainTimeIsNotCounted(t *testing.T) {
	s := time.Second
	acted := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").waitWithChanges(8*s).waitWithoutEtcd(20*s).etcdDelayed(20*s).
		act(managersLease, "a_1").elect(managersLease, "b_1")
	expectCount(t, acted.expectBreaches(t, "CLE-12"), "leaders that could not renew", 0)

	denied := func(t *electionBuilder, phases ...history.Phase) *electionBuilder {
		return t.fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, phases...)
	}
	// It was held all the time: that it was renewed is told when the writes pass again.
	held := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").renewFor(managersLease, "a_1", 20*s).waitWithoutEtcd(8 * s)
	held = denied(denied(held, history.PhaseInject, history.PhaseWitness).waitWithoutEtcd(5*s), history.PhaseHeal).waitWithoutEtcd(5*s).etcdDelayed(23*s).
		renew(managersLease, "a_1").renewFor(managersLease, "a_1", 20*s)
	expectCount(t, held.expectBreaches(t, "CLE-24"), "elections that writes had failed", 0)
}

// What a delay hides stays unclear, and what is certain all the same stays a breach.
func TestDelays_ALeaderThatMayHaveBeenOutrankedForTooLongIsNoPass(t *testing.T) {
	const s = time.Second
	outranked := func(after time.Duration) *electionBuilder {
		b := controlPlane("1.3.0", "1.2.0").elect(managersLease, "a_1").renewFor(managersLease, "a_1", after)
		b.mark(managersLease, "a_1", "b_1").storeLease(managersLease, history.Lease{Strategy: oldestStrategy, Coordinator: "a_c", Duration: 1})
		return b.elect(managersLease, "b_1").wait(s)
	}
	for _, id := range []requirement.ID{"CLE-08", "CLE-17"} {
		outranked(60*s).expectBreaches(t, id, "while an older candidate was eligible")
		// The recorder told of all of it at last.
		b := outranked(60 * s)
		hidden := b.etcdDelayed(time.Duration(b.now-int64(s))).expectBreaches(t, id)
		if hidden.Obligations.Unclear == 0 {
			t.Errorf("%s: %+v", id, hidden.Obligations)
		}
		soon := outranked(20 * s)
		if r := soon.etcdDelayed(time.Duration(soon.now-int64(s))).expectBreaches(t, id); r.Obligations.Unclear > 0 {
			t.Errorf("%s: %+v %q", id, r.Obligations, r.Reasons)
		}
	}
}
