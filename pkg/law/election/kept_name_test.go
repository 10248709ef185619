package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// again is a control plane whose manager at b was a candidate of a name, and is started again.
func again(name, release string) *electionBuilder {
	b := controlPlane().managerOf("b", history.ProcessStarted, "", "1.2").declare(name, managersLease, "1.2.0").wait(10 * time.Second)
	return b.managerOf("b", history.ProcessExited, killed, "1.2").wait(5*time.Second).managerOf("b", history.ProcessStarted, "", release).wait(2 * time.Second)
}

// A candidate of the process before is that of the next process only as far as this shows in it.
func TestCLE01_ACandidateThatKeepsItsNameCountsForTheProcessThatRenewsIt(t *testing.T) {
	const s = time.Second
	none := "the controller-manager of b ran and was no candidate"
	declared := func(b *electionBuilder, want int64, messages ...string) {
		t.Helper()
		expectCount(t, b.wait(40*s).ready("a", 200).expectBreaches(t, "CLE-01", messages...), "processes that declared themselves", want)
	}
	declared(again("b_1", "1.2"), 1, none)
	declared(again("b_1", "1.2").declare("b_1", managersLease, "1.2.0"), 2)
	declared(again("b_1", "1.3").declare("b_1", managersLease, "1.3.0"), 2)
	declared(again("b_1", "1.3").declare("b_1", managersLease, "1.2.0"), 2, `candidate kube-system/b_1 says that it is "1.2.0"`)
	// What renewed late may have been the candidate of this process all the time.
	declared(again("b_1", "1.2").wait(60*s).declare("b_1", managersLease, "1.2.0"), 1)
	// The name of a host tells no process from the next one.
	declared(again("b", "1.2"), 1)
	declared(again("b", "1.2").declare("b", managersLease, "1.2.0"), 2)
	declared(again("b", "1.2").deleteCandidate("b").wait(30*s).ready("a", 200), 1)
}

// Where the recorder of etcd hears late of a candidate, it may be that of the process before.
func TestCLE01_ACandidateOfUncertainTimeMayBeOfTheProcessBefore(t *testing.T) {
	const s = time.Second
	restarted := func() *electionBuilder {
		b := controlPlane().managerOf("b", history.ProcessStarted, "", "1.2").waitWithoutEtcd(5 * s)
		return b.managerOf("b", history.ProcessExited, killed, "1.2").waitWithoutEtcd(2*s).managerOf("b", history.ProcessStarted, "", "1.2").waitWithoutEtcd(5 * s)
	}
	count := "processes that declared themselves"
	renewed := func(ago time.Duration) *electionBuilder {
		b := restarted().etcdDelayed(12 * s)
		return b.storeCandidate("b_1", managersLease, "1.2.0", time.Time{}, b.wall().Add(-ago)).wait(5*s).ready("a", 200)
	}
	expectCount(t, renewed(s).expectBreaches(t, "CLE-01"), count, 1)
	r := renewed(8*s).expectBreaches(t, "CLE-01")
	expectCount(t, r, count, 0)
	if r.Obligations.Unclear != 1 {
		t.Errorf("%+v", r.Obligations)
	}
}

// Each process renews on its own account: the first renewal after a start follows no renewal of the
// process before, and what is owed after that is the new process's.
func TestCLE02_ACandidateThatKeepsItsNameIsRenewedByEachOfItsProcesses(t *testing.T) {
	const s = time.Second
	renews := func(b *electionBuilder, name string) *electionBuilder { return b.declare(name, managersLease, "1.2.0") }
	for _, name := range []string{"b", "b_1"} {
		renews(again(name, "1.2"), name).wait(s).ready("a", 200).expectBreaches(t, "CLE-02")
		expectCount(t, renews(renews(again(name, "1.2"), name).wait(300*s), name).expectBreaches(t, "CLE-02"), "renewals of candidates", 1)
		renews(renews(again(name, "1.2"), name).wait(30*s), name).expectBreaches(t, "CLE-02", "renewed without being asked, 30s after the last time")
		renews(again(name, "1.2"), name).wait(330*s).ready("a", 200).expectBreaches(t, "CLE-02", "did not renew for 5m")
	}
	again("b", "1.2").wait(330*s).ready("a", 200).expectBreaches(t, "CLE-02", "did not renew for 5m")
	// The candidate of a process that has gone is renewed by none.
	again("b_1", "1.2").declare("b_2", managersLease, "1.2.0").wait(310*s).ready("a", 200).expectBreaches(t, "CLE-02")
	again("b", "1.2").declare("b_2", managersLease, "1.2.0").wait(310*s).ready("a", 200).expectBreaches(t, "CLE-02")
}

// The process that goes on with a candidate answers for it, from when it has first renewed it.
func TestCLE03_TheProcessThatKeepsACandidateAnswersForIt(t *testing.T) {
	const s = time.Second
	within := requirement.MustBound("CLE-03", "answersWithin")
	for _, name := range []string{"b", "b_1"} {
		pinged := func(b *electionBuilder) *electionBuilder {
			var renewed time.Time
			for _, ev := range b.events {
				if ev.Stored != nil && ev.Stored.Candidate != nil {
					renewed = ev.Stored.Candidate.Renewed
				}
			}
			return b.wait(s).storeCandidate(name, managersLease, "1.2.0", b.wall(), renewed)
		}
		kept := func() *electionBuilder { return pinged(again(name, "1.2").declare(name, managersLease, "1.2.0")) }
		kept().waitWithChanges(within+2*s).expectBreaches(t, "CLE-03", "did not answer a ping for")
		expectCount(t, kept().waitWithChanges(within-2*s).declare(name, managersLease, "1.2.0").expectBreaches(t, "CLE-03"), "pings", 1)
		// One that has not renewed it yet is to declare itself first, and one that has ended is gone.
		pinged(again(name, "1.2")).waitWithChanges(within+2*s).expectBreaches(t, "CLE-03")
		kept().managerOf("b", history.ProcessExited, killed, "1.2").waitWithChanges(within+2*s).expectBreaches(t, "CLE-03")
	}
	// One that stands by another name does not answer for the candidate of the one before.
	pinged := again("b_1", "1.2").declare("b_2", managersLease, "1.2.0").wait(s)
	pinged.ping("b_1", managersLease, "1.2.0", 0).waitWithChanges(within+2*s).expectBreaches(t, "CLE-03")
}

// The process that goes on with a candidate can lead by it.
func TestRO04_ACandidateThatKeepsItsNameIsEligible(t *testing.T) {
	const s = time.Second
	b := again("b", "1.2").declare("b", managersLease, "1.2.0").wait(s).elect(managersLease, "b")
	b.deleteLeaseByHarness(managersLease).waitWithChanges(2*time.Minute).expectBreaches(t, "RO-04", managersLease+" had no leader")
}
