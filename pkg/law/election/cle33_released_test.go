package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// released is a control plane whose leaders release their Lease on exit, and a_1 leads.
func released(setting string) *electionBuilder {
	b := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").wait(time.Second)
	b.header.Topology = &history.Topology{Name: "t", Settings: map[string]string{"leaderElectReleaseOnExit": setting}}
	return b
}

// end has a_1 end once it was told to, with what it does about its Lease in between.
func (b *electionBuilder) end(between func(*electionBuilder)) *electionBuilder {
	b.manager("a", history.ProcessStopping, "").wait(300 * time.Millisecond)
	between(b)
	return b.wait(time.Second).manager("a", history.ProcessExited, "signal: killed").ready("a", 200)
}

// What one leader in three does, two others do not make up for.
func TestCLE33_ALeaderThatIsToldToEndGivesItsLeaseUp(t *testing.T) {
	const s = time.Second
	const breach = "a_1 was told to end while it had kube-system/kube-controller-manager"
	free := history.Lease{Strategy: oldestStrategy, Duration: 1}
	gives := func(b *electionBuilder) { b.storeLease(managersLease, free) }
	keeps := func(*electionBuilder) {}
	for name, tc := range map[string]struct {
		told *electionBuilder
		want []string
	}{
		"it gives it up":                   {released("on").end(gives), nil},
		"it keeps it":                      {released("on").end(keeps), []string{breach}},
		"it renews once more and keeps it": {released("on").end(func(b *electionBuilder) { b.renew(managersLease, "a_1") }), []string{breach}},
		"another one takes it later":       {released("on").end(keeps).wait(16*s).elect(managersLease, "b_1"), []string{breach}},
		"it is emptied when it has ended":  {released("on").end(keeps).wait(3*s).storeLease(managersLease, free), []string{breach}},
		"leaders are to keep theirs":       {released("off").end(keeps), nil},
		"it is killed":                     {released("on").manager("a", history.ProcessExited, killed), nil},
		"it was told to give way":          {released("on").mark(managersLease, "a_1", "b_1").wait(s).end(keeps), nil},
		"it had run out":                   {released("on").wait(17 * s).end(keeps), nil},
		"another one takes it meanwhile":   {released("on").end(func(b *electionBuilder) { b.elect(managersLease, "b_1") }), nil},
		"it had run out, and is emptied":   {released("on").wait(17 * s).end(gives), nil},
		"it had been given up before":      {released("on").storeLease(managersLease, free).wait(s).end(keeps), nil},
		"it was given up before, by its time": {released("on").end(func(b *electionBuilder) {
			earlier := free
			earlier.Renewed = b.wall().Add(-400 * time.Millisecond)
			b.storeLease(managersLease, earlier)
		}), nil},
		"the harness deletes it meanwhile":  {released("on").end(func(b *electionBuilder) { b.deleteLeaseByHarness(managersLease) }), nil},
		"its API server is away":            {released("on").endServer("a", 1).wait(s).end(keeps), nil},
		"it does not lead":                  {released("on").manager("b", history.ProcessStopping, "").wait(s).manager("b", history.ProcessExited, killed), nil},
		"it was named, and did not show it": {controlPlane("1.2.0").electSilent(managersLease, "a_1").end(keeps), nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, gaveUp := tc.told.expectBreaches(t, "CLE-33", tc.want...), int64(0)
			if name == "it gives it up" {
				gaveUp = 1
			}
			if r.Obligations.Met != gaveUp || r.Obligations.Unclear != 0 {
				t.Errorf("%d leaders gave their Lease up, want %d, and %d may have", r.Obligations.Met, gaveUp, r.Obligations.Unclear)
			}
		})
	}
	if r := released("on").end(gives).judge(t, "CLE-33"); r.Verdict != check.Inconclusive || r.Obligations.Met != 1 {
		t.Errorf("one leader that gave its Lease up is %s with %+v", r.Verdict, r.Obligations)
	}
	if r := released("on").manager("a", history.ProcessStopping, "").wait(s).judge(t, "CLE-33"); r.Obligations.Open != 1 {
		t.Errorf("a leader that has not ended has %+v, want one that is open", r.Obligations)
	}
	if r := released("on").endServer("a", 1).wait(s).end(keeps).judge(t, "CLE-33"); r.Obligations.Excused != 1 {
		t.Errorf("a leader without an API server has %+v, want one that is excused", r.Obligations)
	}
}
