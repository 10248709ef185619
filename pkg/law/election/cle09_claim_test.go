package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// What another one writes into a Lease takes nothing from the time that its holder has.
func TestCLE09_CLE08_AClaimIsTheHoldersOwn(t *testing.T) {
	const s = time.Second
	told := func(now history.Lease) *electionBuilder {
		b := controlPlane("1.3.0", "1.2.0").elect(managersLease, "a_1").wait(3*s).renew(managersLease, "a_1")
		now.Strategy, now.Coordinator, now.Renewed = oldestStrategy, "a_c", b.events[len(b.events)-1].Stored.Lease.Renewed
		mark := now
		mark.Holder, mark.Preferred = "a_1", "b_1"
		return b.wait(s).storeLease(managersLease, mark).wait(s).storeLease(managersLease, now)
	}
	shortened := func() *electionBuilder {
		return told(history.Lease{Holder: "a_1", Preferred: "b_1", Duration: 1}).wait(2 * s)
	}
	shortened().elect(managersLease, "b_1").expectBreaches(t, "CLE-09", "before it expired")
	shortened().elect(managersLease, "b_1").expectBreaches(t, "CLE-08", "before it expired")
	shortened().waitWithChanges(13*s).elect(managersLease, "b_1").expectBreaches(t, "CLE-09")

	// Whether the holder or a coordinator emptied it does not show.
	emptied := func() *electionBuilder { return told(history.Lease{}).wait(s) }
	for _, id := range []requirement.ID{"CLE-08", "CLE-09"} {
		b := emptied().elect(managersLease, "b_1")
		if r := b.judge(t, id); r.Verdict != check.Inconclusive || r.Obligations.Unclear != 1 {
			t.Errorf("%s is %s with %+v, want one that is unclear", id, r.Verdict, r.Obligations)
		}
		late := emptied().waitWithChanges(14*s).elect(managersLease, "b_1")
		if r := late.judge(t, id); r.Obligations.Unclear != 0 {
			t.Errorf("%s of a Lease that had run out has %+v, want none that is unclear", id, r.Obligations)
		}
	}
	if r := emptied().deleteLease(managersLease).judge(t, "CLE-09"); r.Obligations.Unclear != 1 {
		t.Errorf("CLE-09 of a Lease that was emptied and deleted has %+v, want one that is unclear", r.Obligations)
	}
}

// A clock that is ahead has no Lease of another one expire.
func TestCLE09_ATakerWhoseClockIsAheadTakesNothingEarly(t *testing.T) {
	const s = time.Second
	taken := func(after time.Duration) *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").waitWithChanges(after)
		return b.storeLease(managersLease, history.Lease{Holder: "b_1", Strategy: oldestStrategy, Coordinator: "a_c", Renewed: b.wall().Add(11 * s)})
	}
	taken(9*s).expectBreaches(t, "CLE-09", "before it expired")
	taken(16*s).expectBreaches(t, "CLE-09")
}

// What the harness writes into a Lease, as another administrator may, is what counts from then on.
func TestCLE09_AClaimThatTheHarnessWroteIsTheHarnesss(t *testing.T) {
	const s = time.Second
	written := func(now history.Lease) *electionBuilder {
		b := controlPlane("1.3.0", "1.2.0").elect(managersLease, "a_1").wait(3*s).renew(managersLease, "a_1")
		now.Renewed = b.events[len(b.events)-1].Stored.Lease.Renewed
		return b.wait(s).choose(managersLease, now).wait(3 * s)
	}
	for name, now := range map[string]history.Lease{
		"shortened": {Holder: "a_1", Strategy: newestStrategy, Duration: 1}, "emptied": {Strategy: newestStrategy},
	} {
		r := written(now).elect(managersLease, "b_1").expectBreaches(t, "CLE-09")
		if r.Obligations.Unclear != 0 {
			t.Errorf("%s: %+v", name, r.Obligations)
		}
	}
}

// An instance that has lost the Lease does not give up that of the one that has it now.
func TestCLE09_OnlyItsHolderGivesALeaseUp(t *testing.T) {
	const s = time.Second
	const breach = "the instance of a gave up kube-system/kube-controller-manager, which b_1 had, 12"
	emptied := func(by string, after time.Duration) *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0").elect(managersLease, "b_1").waitWithChanges(after)
		return b.storeLease(managersLease, history.Lease{Duration: 1, Renewer: by})
	}
	emptied("a", 2*s).expectBreaches(t, "CLE-09", breach)
	// What comes of it, the first one may never notice.
	emptied("a", 2*s).wait(s).claim(managersLease, "b_1").expectBreaches(t, "CLE-09", breach)
	emptied("a", 2*s).wait(s).elect(managersLease, "a_1").expectBreaches(t, "CLE-09", breach)

	for name, b := range map[string]*electionBuilder{
		"the holder gives it up":             emptied("b", 2*s).wait(s).elect(managersLease, "a_1"),
		"who gave it up is not known":        emptied("", 2*s).wait(s).elect(managersLease, "a_1"),
		"it is of no member":                 emptied("elsewhere", 2*s).wait(s).elect(managersLease, "a_1"),
		"it had run out":                     emptied("a", 18*s).wait(s).elect(managersLease, "a_1"),
		"the one that renewed it is another": controlPlane("1.2.0", "1.2.0").elect(managersLease, "b_1").waitWithChanges(2*s).storeLease(managersLease, history.Lease{Holder: "b_1", Renewer: "a"}),
	} {
		t.Run(name, func(t *testing.T) { b.expectBreaches(t, "CLE-09") })
	}
}

// Instances that take Leases by themselves wait for the end of the one before as well.
func TestCLE09_IsOwedWithoutCoordination(t *testing.T) {
	const s = time.Second
	taken := func(key string, after time.Duration) *electionBuilder {
		b := newElection()
		for _, member := range []string{"a", "b", "c"} {
			b.startServer(member, 1).ready(member, 200).manager(member, history.ProcessStarted, "")
		}
		return b.wait(s).claim(key, "a_1").waitWithChanges(after).claim(key, "b_1")
	}
	taken(managersLease, 5*s).expectBreaches(t, "CLE-09", "b_1 took kube-system/kube-controller-manager from a_1 ")
	taken(managersLease, 17*s).expectBreaches(t, "CLE-09")
	taken("default/another", 5*s).expectBreaches(t, "CLE-09")
}
