package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// A fault at a member may keep a leader from its work. An aggregated server that misbehaves does not.
func TestRO05_AFaultOfAnAggregatedServerExcusesNoLeader(t *testing.T) {
	for kind, want := range map[string][]string{history.FaultBackend: {"did none of its work"}, history.FaultKeys: nil} {
		b := controlPlane("1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1")
		b.fault(kind, "hang", "/registry/pods/", history.PhaseInject, history.PhaseWitness)
		b.renewFor(managersLease, "a_1", 2*time.Minute).expectBreaches(t, "RO-05", want...)
	}
}

// A leader that nothing disturbs for five seconds cannot be idle for too long. Such a time counts
// only if the leader did something.
func TestRO05_AShortTimeProvesNothingWithoutAnAction(t *testing.T) {
	for acts, want := range map[bool]check.Verdict{true: check.Pass, false: check.Inconclusive} {
		b := controlPlane("1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").wait(time.Second)
		for range 2 {
			b.fault(history.FaultKeys, "deny", "/registry/pods/", history.PhaseInject, history.PhaseWitness, history.PhaseHeal).renewFor(managersLease, "a_1", 4*time.Second)
			if acts {
				b.act(managersLease, "a_1")
			}
		}
		if r := b.renewFor(managersLease, "a_1", time.Second).judge(t, "RO-05"); r.Verdict != want {
			t.Errorf("a leader that acts (%t): %s, want %s; %+v", acts, r.Verdict, want, r.Obligations)
		}
	}
}
