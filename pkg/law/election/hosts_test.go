package election_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	election "github.com/evenkeel/evenkeel/pkg/law/election/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// hostsOnly leaves of who acts and who coordinates no more than the host, as it is
// known of published components.
func hostsOnly(events []history.Event) {
	for i := range events {
		s := events[i].Stored
		if s == nil {
			continue
		}
		if a := s.LeaderAction; a != nil {
			s.LeaderAction = &history.LeaderAction{Lease: a.Lease, Host: history.Host(a.Holder), Number: a.Number}
		}
		if l := s.Lease; l != nil {
			l.Coordinator = history.Host(l.Coordinator)
		}
		if c := s.Candidate; c != nil {
			c.Coordinator = history.Host(c.Coordinator)
		}
	}
}

// What is known of hosts is enough for the verdicts by who acts and who coordinates.
func TestHosts_TheHostOfAHolderIsEnoughForTheVerdicts(t *testing.T) {
	for _, id := range []requirement.ID{"CLE-10", "CLE-12", "CLE-13", "CLE-18"} {
		for _, want := range []check.Verdict{check.Pass, check.Fail, check.Inconclusive} {
			s := story.Named(election.All(), fmt.Sprintf("%s/%s", id, want)).Whole()
			events := s.Events()
			hostsOnly(events)
			if got := judgeEvents(t, s.Header(), events, id); got.Verdict != want {
				t.Errorf("%s: %s: %q %v", s.Name, got.Verdict, got.Reasons, got.Violations)
			}
		}
	}
}

// An instance that never had the Lease must not act while another one has it.
func TestCLE10_AnInstanceThatNeverHadTheLeaseDoesNotAct(t *testing.T) {
	for _, tc := range []struct {
		name string
		acts func(*election.Builder)
		want check.Verdict
	}{
		{"beside a leader", func(h *election.Builder) { h.Act("cp2_1") }, check.Fail},
		{"beside one of whom only the host is known", func(h *election.Builder) { h.Act("cp2"); hostsOnly(h.Events[len(h.Events)-1:]) }, check.Fail},
		{"and no instance of a member does", func(*election.Builder) {}, check.Pass},
	} {
		t.Run(tc.name, func(t *testing.T) {
			events := election.Impaired(map[string]func(*election.Builder){"led": tc.acts})
			if got := judgeEvents(t, story.NewHeader(), events, "CLE-10"); got.Verdict != tc.want {
				t.Errorf("%s, want %s: %q %v", got.Verdict, tc.want, got.Reasons, got.Violations)
			}
		})
	}
}

// otherFault is that nothing keeps the leader from renewing: it was told to give up.
const otherFault = "beside a fault of another component"

// A published leader that cannot renew ends its process, and is started again.
func TestCLE12_ALeaderThatCannotRenewMayEndItsProcess(t *testing.T) {
	for _, tc := range []struct {
		name string
		exit string
		// again is whether the next process is a candidate.
		again bool
		// acts is how long after another one leads it acts; 0 is not at all.
		acts time.Duration
		// vacant is whether the Lease stays vacant until it can be written again.
		vacant bool
		want   check.Verdict
	}{
		{"and is a candidate again", "exit status 1", true, 0, false, check.Pass},
		{"and is none any more", "exit status 1", false, 0, false, check.Fail},
		{"and something of it still acts", "exit status 1", true, 25 * time.Second, false, check.Fail},
		{"where that is not seen", history.ExitUnseen, true, 0, false, check.Pass},
		{"and no instance leads", "exit status 1", true, 0, true, check.Pass},
		{"and no instance leads, nor is it a candidate", "exit status 1", false, 0, true, check.Fail},
		{"because it was killed", "signal: killed", true, 0, false, check.Inconclusive},
		{"because it was killed, and no instance leads", "signal: killed", true, 0, true, check.Inconclusive},
		{"because it was asked to", "exit status 0", true, 0, false, check.Inconclusive},
		{otherFault, "exit status 1", true, 0, false, check.Inconclusive},
	} {
		t.Run(tc.name, func(t *testing.T) {
			end := 0
			e := &story.Edit{Events: election.Impaired(map[string]func(*election.Builder){"cannot renew begins": func(h *election.Builder) {
				cp3 := h.Members[2]
				led := func(seconds int) {
					if tc.vacant {
						h.RenewFor(seconds, election.ManagersLease)
					} else {
						h.RenewFor(seconds)
					}
				}
				h.Advance(9000)
				h.ManagerProcess(cp3, history.ProcessExited, tc.exit)
				h.Advance(500)
				next := "cp3_2"
				if tc.again {
					next = h.StartManager(cp3, "1.2")
				} else {
					h.Managers[cp3.Name]++
					h.ManagerProcess(cp3, history.ProcessStarted, "")
				}
				h.Advance(7500)
				h.Ping("cp1_1", "cp2_1")
				h.AnswerPing("cp1_1", "cp2_1")
				if !tc.vacant {
					h.Elect(election.ManagersLease, "cp1_1")
				}
				led(5 + int(tc.acts.Seconds()))
				if tc.acts > 0 {
					h.Act("cp3_1")
				}
				h.Fault(cp3, "leader-cannot-renew-1", history.FaultHTTP, history.FaultHTTPAbort, history.ComponentControllerManager, history.PhaseHeal)
				led(40)
				if tc.again {
					h.Ping(next)
					h.AnswerPing(next)
				}
				led(5)
				end = len(h.Events) - 1
			}})}
			e.StopAt(end)
			hostsOnly(e.Events)
			if tc.name == otherFault {
				for i := range e.Events {
					if f := e.Events[i].Fault; f != nil && f.ID == "leader-cannot-renew-1" {
						f.Component = history.ComponentScheduler
					}
				}
			}
			if got := judgeEvents(t, story.NewHeader(), e.Events, "CLE-12"); got.Verdict != tc.want {
				t.Errorf("%s, want %s: %q %v", got.Verdict, tc.want, got.Reasons, got.Violations)
			}
		})
	}
}
