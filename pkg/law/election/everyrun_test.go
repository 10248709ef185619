package election_test

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/election/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// at builds a story with something else at one of its points.
func at(build func(map[string]func(*stories.Builder)) []history.Event, point string, do func(*stories.Builder)) []history.Event {
	return build(map[string]func(*stories.Builder){point: do})
}

// wait lets time pass, in which coordinators renew their Lease.
func wait(h *stories.Builder, whole time.Duration) {
	const every = 5 * time.Second
	for whole > every {
		h.RenewFor(int(every.Seconds()), stories.ManagersLease)
		whole -= every
	}
	h.Advance(whole.Milliseconds())
}

func TestLedWithin_Bracket(t *testing.T) {
	judgetest.Bracket(t, "RO-04", "ledWithin", func(took time.Duration) []history.Event {
		// The story goes on with an election some milliseconds later.
		return at(stories.Upgrade, "erased", func(h *stories.Builder) { wait(h, took) })
	})
}

// Where no instance is a candidate, those that run owe a leader.
func TestLedWithin_WithoutCandidates(t *testing.T) {
	led, starts := requirement.MustBound("RO-04", "ledWithin"), requirement.MustBound("RO-04", "startsWithin")
	begin := func() *electionBuilder {
		b := controlPlane().manager("a", history.ProcessStarted, "").claim(managersLease, "a_1").renewFor(managersLease, "a_1", 60*time.Second)
		return b.manager("b", history.ProcessStarted, "").renewFor(managersLease, "a_1", 60*time.Second)
	}
	// The Lease lasts for 15 s after the last renewal, which is 5 s old.
	late := "while a controller-manager ran, " + managersLease + " had no leader"
	for name, c := range map[string]struct {
		after func(*electionBuilder)
		want  []string
	}{
		"in time":  {func(b *electionBuilder) { b.waitWithChanges(10*time.Second + led - time.Second) }, nil},
		"too late": {func(b *electionBuilder) { b.waitWithChanges(10*time.Second + led + time.Second) }, []string{late}},
		"another one has only started": {func(b *electionBuilder) {
			b.manager("b", history.ProcessExited, killed).waitWithChanges(20*time.Second).manager("b", history.ProcessStarted, "").waitWithChanges(starts + led - time.Second)
		}, nil},
		"another one has started long ago": {func(b *electionBuilder) {
			b.manager("b", history.ProcessExited, killed).waitWithChanges(20*time.Second).manager("b", history.ProcessStarted, "").waitWithChanges(starts + led + time.Second)
		}, []string{late}},
		"none runs": {func(b *electionBuilder) {
			b.manager("b", history.ProcessExited, killed).waitWithChanges(5*time.Minute).manager("b", history.ProcessStarted, "")
		}, nil},
		"its API server does not serve": {func(b *electionBuilder) {
			b.endServer("b", 1).waitWithChanges(5*time.Minute).startServer("b", 2).ready("b", 200)
		}, nil},
		"a fault is about the Lease": {func(b *electionBuilder) {
			b.fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseInject, history.PhaseWitness).waitWithChanges(5*time.Minute).
				fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseHeal)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := begin().manager("a", history.ProcessExited, killed)
			c.after(b)
			b.claim(managersLease, "b_2").renewFor(managersLease, "b_2", 20*time.Second).expectBreaches(t, "RO-04", c.want...)
		})
	}
}

// The candidate that the leader is to give way to is gone before it leads; those that are left owe
// a leader while there is a coordinator to elect one.
func TestLedWithin_CandidatesOfTheHarness(t *testing.T) {
	const leader = "evenkeel-rowers-a"
	led := requirement.MustBound("RO-04", "ledWithin")
	for name, c := range map[string]struct {
		waits time.Duration
		after func(*electionBuilder)
		want  []string
	}{
		"in time":                  {led - time.Second, func(*electionBuilder) {}, nil},
		"too late":                 {led + 2*time.Second, func(*electionBuilder) {}, []string{"while a candidate was eligible, " + probeLease + " had no leader"}},
		"there is no coordinator":  {10 * time.Minute, func(b *electionBuilder) { b.endServer("a", 1).endServer("b", 1) }, nil},
		"the others are gone, too": {10 * time.Minute, func(b *electionBuilder) { b.deleteCandidate(leader) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := controlPlane().declare(leader, probeLease, "1.2.0").wait(20*time.Second).elect(probeLease, leader).renew(probeLease, leader).
				declare("evenkeel-rowers-b", probeLease, "1.1.0").wait(2*time.Second).storeLease(probeLease, history.Lease{Holder: leader, Preferred: "evenkeel-rowers-b", Strategy: oldestStrategy, Coordinator: "a_c"}).
				deleteCandidate("evenkeel-rowers-b").wait(15 * time.Second)
			c.after(b)
			b.waitWithChanges(c.waits).elect(probeLease, leader).renew(probeLease, leader).expectBreaches(t, "RO-04", c.want...)
		})
	}
}

func TestActsWithin_Bracket(t *testing.T) {
	judgetest.Bracket(t, "RO-05", "actsWithin", func(took time.Duration) []history.Event {
		return at(stories.Upgrade, "at rest", func(h *stories.Builder) {
			leader := h.Leases[stories.ManagersLease].Holder
			h.Act(leader)
			for left := took; left > 0; left -= time.Second / 2 {
				h.Advance(500)
				if left.Truncate(4*time.Second) == left {
					h.RenewIdly(stories.ManagersLease)
				}
			}
			h.Act(leader)
		})
	})
}

func exitAfter(took time.Duration) []history.Event {
	return at(stories.Processes, "cannot renew", func(h *stories.Builder) {
		renewed := h.Leases[stories.ManagersLease].Renewed
		h.Advance((took - h.WallTime().Sub(renewed)).Milliseconds())
		h.ManagerProcess(h.Members[2], history.ProcessExited, "exit status 1")
	})
}

func TestGivesUpAfter_Bracket(t *testing.T) {
	least := requirement.MustBound("RO-03", "givesUpAfter")
	judgetest.Expect(t, "RO-03", exitAfter(least+time.Second), check.Pass)
	judgetest.Expect(t, "RO-03", exitAfter(least-time.Second), check.Fail)
}

// led builds the story in which no leader gives up, with something else while one leads.
func led(do func(*stories.Builder)) []history.Event {
	return stories.Processes(map[string]func(*stories.Builder){"led": do, "cannot renew": func(h *stories.Builder) {
		h.ManagerProcess(h.Members[2], history.ProcessExited, "exit status 0")
	}})
}

func TestExits_WrongGreens(t *testing.T) {
	notices := requirement.MustBound("KEP-4355", "noticesWithin")
	cp3Ends := func(h *stories.Builder) {
		h.ManagerProcess(h.Members[2], history.ProcessExited, "exit status 2")
		h.StartManager(h.Members[2], "1.2")
	}
	gaveUp := func(h *stories.Builder) {
		h.ReleaseLease(stories.ManagersLease)
		h.Elect(stories.ManagersLease, "cp1_1")
	}
	t.Run("a controller that just lost its Lease may end", func(t *testing.T) {
		judgetest.Expect(t, "RO-03", led(func(h *stories.Builder) {
			gaveUp(h)
			wait(h, notices-2*time.Second)
			cp3Ends(h)
		}), check.Pass)
	})
	// A coordinator elects the candidate of a process that is about to end.
	t.Run("one that is named anew before it ends may end, too", func(t *testing.T) {
		judgetest.Expect(t, "RO-03", led(func(h *stories.Builder) {
			h.ReleaseLease(stories.ManagersLease)
			h.Name(stories.ManagersLease, "cp3_1")
			cp3Ends(h)
		}), check.Pass)
	})
	t.Run("one that lost it long ago may not", func(t *testing.T) {
		judgetest.Expect(t, "RO-03", led(func(h *stories.Builder) {
			gaveUp(h)
			wait(h, notices+2*time.Second)
			cp3Ends(h)
		}), check.Fail)
	})
	t.Run("the API server was away for a moment only", func(t *testing.T) {
		judgetest.Expect(t, "RO-03", led(func(h *stories.Builder) {
			gaveUp(h)
			wait(h, notices+2*time.Second)
			h.Exit(h.Members[2], "exit status 0", true)
			cp3Ends(h)
			h.Start(h.Members[2], "1.2")
			h.AnswerReady(h.Members[2], 200, true)
		}), check.Fail)
	})
	t.Run("the API server of the controller is away for long", func(t *testing.T) {
		judgetest.Expect(t, "RO-03", led(func(h *stories.Builder) {
			gaveUp(h)
			wait(h, notices+2*time.Second)
			h.Exit(h.Members[2], "exit status 0", true)
			wait(h, requirement.MustBound("RO-03", "givesUpAfter")+time.Second)
			cp3Ends(h)
			h.Start(h.Members[2], "1.2")
			h.AnswerReady(h.Members[2], 200, true)
		}), check.Pass)
	})
}

// The clock of a Lease without a leader does not begin anew when candidates come and go.
func TestLed_ClockGoesOnWhileCandidatesChange(t *testing.T) {
	judgetest.Expect(t, "RO-04", at(stories.Upgrade, "erased", func(h *stories.Builder) {
		for range 3 {
			wait(h, 20*time.Second)
			for _, name := range []string{"cp1_1", "cp2_1", "cp3_1"} {
				h.Withdraw(name)
			}
			for _, name := range []string{"cp1_1", "cp2_1", "cp3_1"} {
				h.Declare(name, stories.ManagersLease, "1.2.0", "1.2.0")
			}
		}
	}), check.Fail)
}

// A leader that never acts has leaders beside it that did: those show that there is work.
func TestWorks_LeaderThatNeverActs(t *testing.T) {
	judgetest.Expect(t, "RO-05", at(stories.Upgrade, "at rest", func(h *stories.Builder) {
		h.ReleaseLease(stories.ManagersLease)
		h.Leases[stories.ManagersLease].Holder = "cp1_2"
		h.RenewIdly(stories.ManagersLease)
		h.IdleFor(40)
	}), check.Fail)
}

// A controller manager that uses another Lease name from one release on shows in a rollout,
// by its first candidate of that release.
func TestLock_StandsForAnotherLeaseFromOneReleaseOn(t *testing.T) {
	const next = "1.3"
	renamed := 0
	events := stories.Upgrade(nil)
	for i := range events {
		if s := events[i].Stored; s != nil && s.Candidate != nil && strings.HasPrefix(s.Candidate.Binary, next) {
			s.Candidate.Lease = "kube-controller-manager-next"
			renamed++
		}
	}
	if renamed == 0 {
		t.Fatalf("no candidate of release %s stands", next)
	}
	judgetest.Expect(t, "RO-10", stories.Upgrade(nil), check.Pass)
	judgetest.Expect(t, "RO-10", events, check.Fail)
}

// An instance that ended before it had come to its second candidate stands for no other
// Lease; one that had the time for it does.
func TestLock_AnInstanceThatEndsSoonMayNotHaveDeclaredAll(t *testing.T) {
	declares := requirement.MustBound("RO-10", "declaresWithin")
	if cle01 := requirement.MustBound("CLE-01", "declaresWithin"); declares != cle01 {
		t.Errorf("RO-10 gives an instance %s for its candidates, and CLE-01 %s", declares, cle01)
	}
	for lived, breaches := range map[time.Duration][]string{declares - time.Second: nil, declares + time.Second: {"the controller-manager of c () stands for " + managersLease}} {
		b := controlPlane("1.2.0", "1.2.0").declare("a_2", probeLease, "1.2.0").declare("b_2", probeLease, "1.2.0")
		b.manager("c", history.ProcessStarted, "").declare("c_1", managersLease, "1.2.0").wait(lived).manager("c", history.ProcessExited, killed)
		b.wait(declares).expectBreaches(t, "RO-10", breaches...)
	}
}

// Instances of different releases that lead by different Leases need no candidates for
// that.
func TestLock_LeadByDifferentLeases(t *testing.T) {
	events := at(stories.Steady, "alone", func(h *stories.Builder) {
		h.ClaimLease("kube-system/kube-controller-manager-next", "cp2_1")
	})
	cp2IsNewer(events)
	judgetest.Expect(t, "RO-10", events, check.Fail)
}

// cp2IsNewer has the controller manager of cp2 be of the next release, and takes all candidates out.
func cp2IsNewer(events []history.Event) {
	for i := range events {
		ev := &events[i]
		if ev.Process != nil && ev.Process.Component == history.ComponentControllerManager && ev.Member == "cp2" {
			ev.Process.Release = "1.3"
		}
		if ev.Stored != nil && ev.Stored.Candidate != nil {
			ev.Stored.Candidate = nil
		}
	}
}
