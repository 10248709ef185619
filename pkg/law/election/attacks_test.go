package election_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/election/stories"
)

// Kubernetes issue 127783: a coordinator that had lost its Lease never stood for it again, and
// its API server lived on. No server had ended, so that nothing had begun to be owed.
func TestCLE13_TheCoordinatorsLeaseIsTakenAgainThoughNoServerEnded(t *testing.T) {
	const second = time.Second
	alive := func() *electionBuilder { return controlPlane("1.2.0").coordinate(15 * second) }
	forced := history.Lease{Holder: history.AbsentHolder, Duration: 60}
	quorumLost := func(phases ...history.Phase) func(*electionBuilder) {
		return func(b *electionBuilder) {
			for _, member := range []string{"a", "b"} {
				for _, phase := range phases {
					b.add(history.Event{Kind: history.KindFault, Member: member, Fault: &history.Fault{ID: "cut-" + member, Type: "NetworkChaos", Action: "partition", Phase: phase, Proof: "p"}})
				}
			}
		}
	}
	for name, tc := range map[string]struct {
		do   func(b *electionBuilder)
		want []string
	}{
		"it runs out, and no server takes it": {func(b *electionBuilder) { b.waitWithChanges(60 * second) }, []string{"no API server coordinates for"}},
		"it is given up, and no server takes it": {func(b *electionBuilder) {
			b.storeLease(coordinatorsLease, history.Lease{Duration: 1}).waitWithChanges(40 * second)
		}, []string{"no API server coordinates for"}},
		"it is deleted, and no server makes it": {func(b *electionBuilder) {
			b.deleteLeaseByHarness(coordinatorsLease).waitWithChanges(40 * second)
		}, []string{"no API server coordinates for"}},
		"it runs out, and another server takes it": {func(b *electionBuilder) {
			b.waitWithChanges(20*second).storeLease(coordinatorsLease, history.Lease{Holder: "b_c", Duration: 15})
		}, nil},
		"the harness has it for long": {func(b *electionBuilder) {
			b.storeLease(coordinatorsLease, forced).waitWithChanges(62 * second).coordinate(15 * second)
		}, nil},
		"etcd has no majority": {func(b *electionBuilder) {
			quorumLost(history.PhaseInject, history.PhaseWitness)(b)
			b.waitWithChanges(60 * second)
			quorumLost(history.PhaseHeal)(b)
			b.waitWithChanges(5 * second).coordinate(15 * second)
		}, nil},
		"no server has coordination": {func(b *electionBuilder) {
			for _, member := range []string{"a", "b", "c"} {
				b.endServer(member, 1).server(member, history.ProcessStarted, 2, history.FeatureCoordination).ready(member, 200)
			}
			b.waitWithChanges(60 * second)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := alive()
			tc.do(b)
			b.expectBreaches(t, "CLE-13", tc.want...)
		})
	}
}

// The other candidates renew, which says nothing of one that does not.
func TestCLE02_ACandidateThatNeverRenewsIsNotMadeUpForByAnotherOne(t *testing.T) {
	b := controlPlane("1.2.0", "1.2.0")
	for range 3 {
		b.wait(300*time.Second).declare("a_1", managersLease, "1.2.0")
	}
	b.expectBreaches(t, "CLE-02", "candidate kube-system/b_1 did not renew for")

	// One whose process has ended need not.
	b = controlPlane("1.2.0", "1.2.0").manager("b", history.ProcessExited, killed)
	for range 3 {
		b.wait(300*time.Second).declare("a_1", managersLease, "1.2.0")
	}
	b.expectBreaches(t, "CLE-02")
}

// A coordinator that goes on pinging a dead candidate does not keep it.
func TestCLE16_PingsOfADeadCandidateDoNotRestartTheClock(t *testing.T) {
	const dead = "evenkeel-rowers-a"
	b := controlPlane().declare(dead, probeLease, "1.2.0")
	for range 3 {
		b.wait(25*time.Minute).ping(dead, probeLease, "1.2.0", 0)
	}
	b.deleteCandidate(dead).expectBreaches(t, "CLE-16", "was there after it had expired for")
}

// Writes pass again while no candidate runs that could be elected.
func TestCLE24_NothingIsOwedWhileNoCandidateIsEligible(t *testing.T) {
	const second = time.Second
	b := controlPlane("1.2.0").elect(managersLease, "a_1").
		fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseInject, history.PhaseWitness).
		manager("a", history.ProcessExited, killed).waitWithChanges(18*second).
		fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseHeal).waitWithChanges(60 * second)
	b.manager("a", history.ProcessStarted, "").declare("a_2", managersLease, "1.2.0").waitWithChanges(10*second).elect(managersLease, "a_2")
	b.expectBreaches(t, "CLE-24")
}

// A deletion that a server refused is not the harness's.
func TestCLE09_ARefusedDeletionIsNotTheHarnesss(t *testing.T) {
	b := controlPlane("1.2.0").elect(managersLease, "a_1").wait(time.Second)
	from := b.now
	b.deleteLease(managersLease).requestDeletion(managersLease, from)
	b.events[len(b.events)-1].Request.Code = http.StatusForbidden
	b.expectBreaches(t, "CLE-09", "was deleted, which the harness had not asked for")
}

// A leader stops to renew its Lease and ends, though nothing kept it from renewing. That it
// had lost its Lease is no reason to end then.
func TestRO03_ALeaderThatGivesUpWithoutAReasonIsNoPass(t *testing.T) {
	judgetest.Expect(t, "RO-03", led(func(h *stories.Builder) {
		wait(h, 11*time.Second)
		h.ManagerProcess(h.Members[2], history.ProcessExited, "exit status 1")
	}), check.Inconclusive)
}

// An API server has no Lease whose loss lets it end: its coordinator stops alone.
func TestRO03_AnAPIServerDoesNotEndBecauseItsCoordinatorLostItsLease(t *testing.T) {
	judgetest.Expect(t, "RO-03", at(stories.Seized, "seized", func(h *stories.Builder) {
		h.Exit(h.Members[0], "exit status 1", false)
		h.Start(h.Members[0], "1.2")
		h.AnswerReady(h.Members[0], 200, true)
	}), check.Fail)
}

// A program that is no part of the control plane runs on the host of a member and leads by a Lease of its own, as
// operators do that use the network of their host.
func TestRO10_AProgramThatOutlivesTheControllerManagerOfItsHostIsNoInstance(t *testing.T) {
	const operator = "kube-system/operator-lock"
	events := at(stories.Steady, "alone", func(h *stories.Builder) {
		h.ReleaseLease(stories.ManagersLease)
		h.Elect(stories.ManagersLease, "cp3_1")
		h.ClaimLease(operator, "cp2_op")
		h.ManagerProcess(h.Members[1], history.ProcessExited, "exit status 0")
		h.Advance(2000)
		h.StartManager(h.Members[1], "1.2")
		h.Advance(2000)
		h.RenewIdly(operator)
	})
	cp2IsNewer(events)
	judgetest.Expect(t, "RO-10", events, check.Pass)
}

// A leader that renews its Lease only after that has run out leads for a part of the time.
func TestCLE15_ALeaderThatRenewsTooRarely(t *testing.T) {
	b := controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").renewFor(managersLease, "a_1", 2*time.Minute)
	b.expectBreaches(t, "CLE-15")
	b.waitWithChanges(40*time.Second).renew(managersLease, "a_1").expectBreaches(t, "CLE-15", "had run out when its holder renewed it")
}
