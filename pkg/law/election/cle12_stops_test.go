package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// A leader that goes on until a moment before another one could begin has stopped too
// late, however soon the recorder tells of it.
func TestCLE12_AnActionAfterTheLeaseRanOutIsABreach(t *testing.T) {
	const second = time.Second
	// The Lease of a_1 runs out 15 s after this.
	led := func() *electionBuilder {
		return controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1")
	}
	renews := func(t *electionBuilder) *electionBuilder {
		return t.storeLease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: 3600})
	}
	fault := func(t *electionBuilder, kind, action string, phase history.Phase) *electionBuilder {
		return t.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "f", Type: kind, Action: action, Phase: phase, Proof: "p"}})
	}
	const (
		early = "after its Lease had run out"
		late  = "after its Lease had run out"
	)
	acts := func(b *electionBuilder) *electionBuilder { return b.act(managersLease, "a_1") }
	taken := func(b *electionBuilder) *electionBuilder { return b.elect(managersLease, "b_1") }
	for name, tc := range map[string]struct {
		told *electionBuilder
		want []string
	}{
		"four seconds late":                       {taken(acts(renews(led().wait(19 * second))).wait(second)), []string{early}},
		"told late, of before":                    {taken(renews(acts(led().wait(19 * second)).etcdDelayed(6 * second)).wait(second)), nil},
		"a moment late":                           {taken(acts(renews(led().wait(15*second + second/2))).wait(second)), nil},
		"just behind the other one's taking":      {acts(taken(led().wait(16 * second))), []string{late}},
		"behind the harness's, by force":          {acts(led().wait(5*second).storeLease(managersLease, history.Lease{Holder: history.AbsentHolder}).wait(2 * second)), nil},
		"long behind that":                        {acts(led().wait(5*second).storeLease(managersLease, history.Lease{Holder: history.AbsentHolder}).wait(17 * second)), []string{"after the harness had taken its Lease"}},
		"beside a fault that answers at once":     {acts(taken(fault(fault(led(), history.FaultAdmission, history.FaultAdmissionDeny, history.PhaseInject), history.FaultAdmission, "", history.PhaseWitness).wait(16 * second))), []string{late}},
		"beside one that holds requests up":       {acts(taken(fault(fault(led(), history.FaultHTTP, history.FaultHTTPDelay, history.PhaseInject), history.FaultHTTP, "", history.PhaseWitness).wait(16 * second))), nil},
		"beside an aggregated server that hangs":  {acts(taken(fault(led(), history.FaultBackend, history.BackendHang, history.PhaseInject).wait(16 * second))), []string{late}},
		"long behind, whatever holds requests up": {acts(taken(fault(led(), history.FaultHTTP, history.FaultHTTPDelay, history.PhaseInject).wait(16 * second)).wait(6 * second)), []string{late}},
		"told late, the recorder was away": {acts(taken(fault(led(), history.FaultHTTP, history.FaultHTTPDelay, history.PhaseInject).wait(16 * second)).wait(9 * second).
			add(history.Event{Kind: history.KindRecorderDelayed, From: int64(21 * second), RecorderDelayed: &history.RecorderDelayed{Source: string(fact.Etcd)}})), nil},
		"when it has the Lease again": {acts(acts(taken(led().wait(16*second)).wait(second).storeLease(managersLease, history.Lease{Strategy: oldestStrategy}).elect(managersLease, "a_1").wait(second)).
			storeLease(managersLease, history.Lease{Strategy: oldestStrategy})), nil},
		"after a process had stood still": {acts(taken(led().wait(second).manager("c", history.ProcessPaused, "").wait(15 * second))), nil},
	} {
		t.Run(name, func(t *testing.T) { tc.told.expectBreaches(t, "CLE-12", tc.want...) })
	}
}

// A coordinator that pings the former leader over and over does not hide that it answers.
func TestCLE12_ACandidateThatAnswersEachOfManyPingsIsBack(t *testing.T) {
	const second = time.Second
	lost := func() *electionBuilder {
		return controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").wait(16*second).elect(managersLease, "b_1")
	}
	asked := func(b *electionBuilder, answers bool) *electionBuilder {
		renewed := b.wall().Add(-second)
		for range 100 {
			b.storeCandidate("a_1", managersLease, "1.2.0", b.wall(), renewed).wait(50 * time.Millisecond)
			if answers {
				renewed = b.wall()
				b.storeCandidate("a_1", managersLease, "1.2.0", renewed, renewed)
			}
			b.wait(350 * time.Millisecond)
		}
		return b
	}
	asked(lost(), true).expectBreaches(t, "CLE-12")
	asked(lost(), false).expectBreaches(t, "CLE-12", "it has been no candidate for")
}

// A leader whose Lease was taken by force was able to renew it, and shows nothing of what
// a leader does that is not.
func TestCLE12_ALeaderWhoseLeaseTheHarnessTookCountsForNothing(t *testing.T) {
	const second = time.Second
	told := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").wait(second).
		storeLease(managersLease, history.Lease{Holder: history.AbsentHolder}).wait(16*second).elect(managersLease, "b_1").
		storeCandidate("a_1", managersLease, "1.2.0", time.Time{}, started.Add(30*second)).wait(40*second).ready("a", 200)
	r := told.expectBreaches(t, "CLE-12")
	expectCount(t, r, "leaders that could not renew", 0)
	expectCount(t, r, "of those, leaders that were candidates again", 0)
}

// A leader that may have stood still when it lost its Lease has done nothing wrong for certain, and
// owes nothing for certain.
func TestCLE12_ALossThatIsNotCertainIsNoBreach(t *testing.T) {
	const second = time.Second
	lost := func() *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").wait(17*second).
			manager("a", history.ProcessPaused, "").wait(second).manager("a", history.ProcessResumed, "").wait(second)
		return b.elect(managersLease, "b_1").etcdDelayed(2500 * time.Millisecond).wait(second)
	}
	if r := lost().wait(10*second).act(managersLease, "a_1").expectBreaches(t, "CLE-12"); r.Obligations.Unclear == 0 {
		t.Errorf("an action: %+v", r.Obligations)
	}
	if r := lost().expectBreaches(t, "CLE-12"); r.Obligations.Unclear+r.Obligations.Met != 0 {
		t.Errorf("no action: %+v", r.Obligations)
	}
}
