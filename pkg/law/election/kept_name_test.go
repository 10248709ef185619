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

// A leader that gave up stands again by the candidate that its next process goes on with, not by what it
// left behind.
func TestCLE12_ACandidateThatKeepsItsNameStandsForTheProcessThatRenewsIt(t *testing.T) {
	const s = time.Second
	for _, name := range []string{"b", "b_1"} {
		lost := func() *electionBuilder {
			b := controlPlane().managerOf("b", history.ProcessStarted, "", "1.2").declare(name, managersLease, "1.2.0").wait(3 * s)
			b.elect(managersLease, name).act(managersLease, name).fault(history.FaultKeys, history.FaultKeysHold, managersLease, history.PhaseInject, history.PhaseWitness)
			b.waitWithChanges(12*s).managerOf("b", history.ProcessExited, failed, "1.2").waitWithChanges(s).fault(history.FaultKeys, history.FaultKeysHold, managersLease, history.PhaseHeal)
			return b.managerOf("b", history.ProcessStarted, "", "1.2").waitWithChanges(10 * s)
		}
		back := lost().declare(name, managersLease, "1.2.0").waitWithChanges(60*s).expectBreaches(t, "CLE-12")
		expectCount(t, back, "of those, leaders that were candidates again", 1)
		lost().waitWithChanges(60*s).expectBreaches(t, "CLE-12", "it has been no candidate for")
		lost().waitWithChanges(60*s).declare(name, managersLease, "1.2.0").waitWithChanges(s).expectBreaches(t, "CLE-12", "it has been no candidate for")
	}
}

// A Lease that is free while none coordinates is for the process to take that goes on with a candidate.
func TestCLE20_ACandidateThatKeepsItsNameCanClaim(t *testing.T) {
	const s = time.Second
	for _, name := range []string{"b", "b_1"} {
		free := func(b *electionBuilder) *electionBuilder {
			b.storeLease(managersLease, history.Lease{Strategy: oldestStrategy}).storeLease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: 1})
			for _, phase := range []history.Phase{history.PhaseInject, history.PhaseWitness} {
				b.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{
					ID: "f", Type: history.FaultKeys, Action: history.FaultKeysFail, Phase: phase, Proof: "p", Prefixes: []string{leasePrefix + coordinatorsLease}}})
			}
			return b.waitWithChanges(90 * s)
		}
		free(again(name, "1.2").declare(name, managersLease, "1.2.0")).expectBreaches(t, "CLE-20", "no instance has taken "+managersLease)
		free(again(name, "1.2")).expectBreaches(t, "CLE-20")
	}
}

// An election is one among several releases where a process goes on with the candidate of one before.
func TestCLE17_ACandidateThatKeepsItsNameIsOfTheReleaseThatRenewedIt(t *testing.T) {
	const s = time.Second
	elects := func(b *electionBuilder) *electionBuilder {
		return b.manager("a", history.ProcessStarted, "").wait(s).declare("a_1", managersLease, "1.1.0").wait(3*s).elect(managersLease, "a_1").wait(s)
	}
	mixed := func(b *electionBuilder, want int64) {
		expectCount(t, b.judge(t, "CLE-17"), "changes of leader while candidates of several releases stood", want)
	}
	for _, name := range []string{"b", "b_1"} {
		renewed := func(b *electionBuilder) *electionBuilder { return b.declare(name, managersLease, "1.3.0").wait(s) }
		mixed(elects(again(name, "1.3")).ready("a", 200), 0)
		mixed(elects(renewed(again(name, "1.3"))).ready("a", 200), 1)
		mixed(renewed(elects(again(name, "1.3"))).ready("a", 200), 0)
	}
}

// A leader that is told to give way and ends was well until then, whichever process declared its candidate.
func TestCLE17_ACandidateThatKeepsItsNameIsOfTheLeaderThatWasToldToGiveWay(t *testing.T) {
	const s = time.Second
	b := again("b", "1.2").declare("b", managersLease, "1.2.0")
	b.manager("a", history.ProcessStarted, "").declare("a", managersLease, "1.2.0").wait(s).manager("a", history.ProcessExited, killed).wait(s)
	b.manager("a", history.ProcessStarted, "").wait(s).declare("a", managersLease, "1.2.0").wait(3*s).elect(managersLease, "a")
	for i := range 2 {
		from, to := []string{"a", "b"}[i%2], []string{"b", "a"}[i%2]
		b.renewFor(managersLease, from, 60*s).mark(managersLease, from, to).waitWithChanges(10 * s)
		b.manager(from, history.ProcessExited, failed).waitWithChanges(6*s).elect(managersLease, to)
		b.manager(from, history.ProcessStarted, "").wait(s).declare(from, managersLease, "1.2.0")
	}
	b.expectBreaches(t, "CLE-17", "and had changed")
}

// The process that goes on with a candidate can lead by it.
func TestRO04_ACandidateThatKeepsItsNameIsEligible(t *testing.T) {
	const s = time.Second
	b := again("b", "1.2").declare("b", managersLease, "1.2.0").wait(s).elect(managersLease, "b")
	b.deleteLeaseByHarness(managersLease).waitWithChanges(2*time.Minute).expectBreaches(t, "RO-04", managersLease+" had no leader")
}
