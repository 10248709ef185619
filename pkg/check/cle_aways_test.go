package check

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// deaf lets time pass of which etcd tells nothing, while others do.
func (t *tale) deaf(lasts time.Duration) *tale {
	for until := t.now + int64(lasts); t.now < until; {
		t.idle(time.Second)
	}
	return t
}

// tick has etcd tell of one thing that matters to nobody. Where it comes before what is
// waited for, it is what a check goes by: both were done while nobody heard of it.
func (t *tale) tick() *tale {
	return t.etcdHas(history.Stored{Type: history.StoredPut, Key: "/registry/configmaps/default/tick"})
}

// failing has a fault fail requests about a Lease, as far as the phases say.
func (t *tale) failing(kind, action, key string, phases ...history.Phase) *tale {
	for _, phase := range phases {
		t.add(history.Event{Kind: history.KindFault, Member: "b", Fault: &history.Fault{
			ID: "f", Type: kind, Action: action, Phase: phase, Proof: "p", Prefixes: []string{leasePrefix + key}}})
	}
	return t
}

// byOthers is a strategy of somebody else's.
const byOthers = "example.com/draft"

// dissents has a second candidate for the Lease of the harness stand, which wants another
// strategy than the first.
func (t *tale) dissents() *tale {
	return t.etcdHas(history.Stored{Type: history.StoredPut, Key: candidatePrefix + "kube-system/evenkeel-rowers-b", Candidate: &history.Candidate{
		Lease: own(rowersLease), Binary: "1.2.0", Emulation: "1.2.0", Strategy: byOthers, Renewed: t.wall()}})
}

// What elections bring about in time is blamed on nobody because the recorder of etcd
// could not hear of it. Only the time counts in which it really could not: without an
// away, and with a short one, the same is late.
func TestAwaysExcuseWhatIsToldAfterThem(t *testing.T) {
	const (
		s     = time.Second
		short = 2 * s
	)
	// Who leads goes on until he is told to give way, and gives the Lease up then.
	led := history.Lease{Holder: "a_1", Strategy: byOldest, Coordinator: "a_c", Duration: 3600}
	free := history.Lease{Strategy: byOldest, Coordinator: "a_c", Duration: 1}
	acting := func() *tale {
		return underway("1.2.0", "1.2.0").elects(managersLease, "a_1").acting(managersLease, "a_1")
	}
	passed := func() *tale {
		return underway("1.2.0", "1.2.0", "1.2.0").elects(managersLease, "a_1").controller("a", history.ProcessExited, killed).
			failing(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseInject, history.PhaseWitness).ticks(18*s).
			failing(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseHeal)
	}
	for _, tc := range []struct {
		id requirement.ID
		// what is done in time, and told late.
		what string
		// before is what is told until the recorder hears nothing, for so long, and after what
		// it tells then.
		before func() *tale
		away   time.Duration
		after  func(*tale) *tale
		late   string
	}{
		{"CLE-01", "a first candidate", func() *tale {
			return underway("1.2.0").controller("b", history.ProcessStarted, "").ticks(20 * s)
		}, 20 * s, func(t *tale) *tale {
			return t.tick().declares("b_1", managersLease, "1.2.0")
		}, "the controller-manager of b has run for 30s, and is no candidate"},
		{"CLE-01", "a candidate that is there again", func() *tale {
			return underway("1.2.0", "1.2.0").withdraws("b_1").ticks(320 * s)
		}, 20 * s, func(t *tale) *tale {
			return t.tick().declares("b_1", managersLease, "1.2.0")
		}, "the controller-manager of b has run for 5m30s, and is no candidate"},
		{"CLE-08", "a leader that gives way", func() *tale {
			return underway("1.3.0", "1.2.0").lease(managersLease, led).ticks(36 * s)
		}, 12 * s, func(t *tale) *tale {
			return t.tick().marks(managersLease, "a_1", "b_1").lease(managersLease, free).elects(managersLease, "b_1")
		}, "a_1 (1.3.0) has held " + managersLease + " for 48s while"},
		{"CLE-12", "an action of before the Lease ran out", func() *tale {
			return acting().ticks(8 * s)
		}, 20 * s, func(t *tale) *tale {
			return t.acting(managersLease, "a_1").elects(managersLease, "b_1")
		}, "a_1 acted as the leader of " + managersLease},
		{"CLE-12", "a candidate again", func() *tale {
			return acting().ticks(16*s).elects(managersLease, "b_1").withdraws("a_1").ticks(20 * s)
		}, 20 * s, func(t *tale) *tale {
			return t.tick().declares("a_1", managersLease, "1.2.0")
		}, "a_1 has lost " + managersLease + ", its process runs, and it is no candidate any more"},
		{"CLE-20", "a claim", func() *tale {
			return underway("1.2.0", "1.2.0").lease(managersLease, history.Lease{Strategy: byOldest}).lease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: 1}).
				failing(history.FaultKeys, history.FaultKeysFail, coordinatorsLease, history.PhaseInject, history.PhaseWitness).ticks(24 * s)
		}, 30 * s, func(t *tale) *tale {
			return t.lease(managersLease, history.Lease{Holder: "a_1", Strategy: byOldest})
		}, "nobody coordinates, and nobody has taken " + managersLease},
		{"CLE-22", "a strategy of several", func() *tale {
			return underway().declares("evenkeel-rowers-a", rowersLease, "1.2.0").dissents().ticks(12 * s)
		}, 12 * s, func(t *tale) *tale {
			return t.lease(rowersLease, history.Lease{Strategy: byOthers, Coordinator: "a_c"})
		}, "the candidates of " + rowersLease + " want different strategies, and for"},
		{"CLE-24", "an election after failures", func() *tale {
			return passed().ticks(20 * s)
		}, 24 * s, func(t *tale) *tale {
			return t.tick().elects(managersLease, "c_1")
		}, "nobody holds " + managersLease + ", 44s after writes to it could pass again"},
		{"CLE-24", "an election after failures, of which it tells at once", func() *tale {
			return passed().ticks(20 * s)
		}, 24 * s, func(t *tale) *tale {
			return t.elects(managersLease, "c_1")
		}, "nobody held " + managersLease + " for 44s after writes to it could pass again"},
		{"CLE-25", "coordination again", func() *tale {
			told := underway("1.2.0", "1.2.0").exits("b", 1)
			told.add(history.Event{Kind: history.KindProcess, Member: "b", Process: &history.Process{
				Component: history.ComponentAPIServer, Change: history.ProcessStarted, Instance: 2, Off: []string{history.FeatureCoordination}}})
			return told.claims(managersLease, "a_1").exits("b", 2).starts("b", 3).ready("b", 200, 0).ticks(36 * s)
		}, 12 * s, func(t *tale) *tale {
			return t.elects(managersLease, "b_1")
		}, "all servers have coordination again, and for 48s nobody leads " + managersLease + " by it"},
	} {
		t.Run(string(tc.id)+"/"+tc.what, func(t *testing.T) {
			tc.after(tc.before().deaf(tc.away)).blames(t, tc.id, tc.late)
			tc.after(tc.before().deaf(tc.away).away(short)).blames(t, tc.id, tc.late)
			tc.after(tc.before().deaf(tc.away).away(tc.away)).ticks(s).blames(t, tc.id)
		})
	}
}

// What an away excuses proves nothing either.
func TestWhatAnAwayExcusesIsNotCounted(t *testing.T) {
	s := time.Second
	acted := underway("1.2.0", "1.2.0").elects(managersLease, "a_1").acting(managersLease, "a_1").ticks(8*s).deaf(20*s).away(20*s).
		acting(managersLease, "a_1").elects(managersLease, "b_1")
	saw(t, acted.blames(t, "CLE-12"), "leaders that could not renew", 0)

	denied := func(t *tale, phases ...history.Phase) *tale {
		return t.failing(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, phases...)
	}
	// It was held all the time: that it was renewed is told when the writes pass again.
	held := underway("1.2.0", "1.2.0").elects(managersLease, "a_1").keeps(managersLease, "a_1", 20*s).deaf(8 * s)
	held = denied(denied(held, history.PhaseInject, history.PhaseWitness).deaf(5*s), history.PhaseHeal).deaf(5*s).away(23*s).
		extends(managersLease, "a_1").keeps(managersLease, "a_1", 20*s)
	saw(t, held.blames(t, "CLE-24"), "elections that writes had failed", 0)
}

// A candidate of which nobody heard for a while may be that of a process that has ended.
func TestACandidateOfTheProcessBefore(t *testing.T) {
	s := time.Second
	runs := func(t *tale, change, exit, release string) *tale {
		return t.add(history.Event{Kind: history.KindProcess, Member: "b", Process: &history.Process{
			Component: history.ComponentControllerManager, Change: change, Exit: exit, Release: release, Expected: exit == killed}})
	}
	replaced := func() *tale {
		t := runs(underway("1.2.0").deaf(2*s), history.ProcessStarted, "", "1.2").deaf(5 * s)
		return runs(runs(t, history.ProcessExited, killed, "1.2").deaf(s), history.ProcessStarted, "", "1.3").deaf(6 * s)
	}
	wrong := `candidate kube-system/b_1 says that it is "1.2.0", and b runs 1.3`
	replaced().away(13*s).declares("b_1", managersLease, "1.2.0").withdraws("b_1").declares("b_2", managersLease, "1.3.0").ticks(10*s).blames(t, "CLE-01")
	replaced().declares("b_1", managersLease, "1.2.0").blames(t, "CLE-01", wrong)
	replaced().away(4*s).ticks(8*s).declares("b_1", managersLease, "1.2.0").blames(t, "CLE-01", wrong)
	// No process before it was of this release.
	replaced().away(13*s).declares("b_1", managersLease, "1.1.0").blames(t, "CLE-01", `says that it is "1.1.0"`)
}
