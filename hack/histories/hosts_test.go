package main

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// hostsOnly leaves of who acts and who coordinates no more than the host, as it is
// known of published components.
func hostsOnly(events []history.Event) {
	for i := range events {
		s := events[i].Stored
		if s == nil {
			continue
		}
		if a := s.Acted; a != nil {
			s.Acted = &history.Acted{Lease: a.Lease, Host: history.Host(a.Holder), Number: a.Number}
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
func TestHostsAreEnough(t *testing.T) {
	of := map[requirement.ID]bool{"CLE-10": true, "CLE-12": true, "CLE-13": true, "CLE-18": true}
	for _, c := range cases {
		if !of[c.id] {
			continue
		}
		delete(of, c.id)
		for want, change := range map[check.Verdict]func(*edit){check.Pass: nil, check.Fail: c.fail, check.Inconclusive: c.weak} {
			e := c.make(change)
			hostsOnly(e.events)
			if got := judge(t, &c, e.events)[c.id]; got.Verdict != want {
				t.Errorf("%s: %s, want %s: %q %v", c.id, got.Verdict, want, got.Reasons, got.Violations)
			}
		}
	}
	for id := range of {
		t.Errorf("%s has no case", id)
	}
}

// Somebody who has never had the Lease must not act while somebody has it.
func TestStrangersDoNotAct(t *testing.T) {
	for _, tc := range []struct {
		name string
		acts func(*helm)
		want check.Verdict
	}{
		{"beside a leader", func(h *helm) { h.act("cp2_1") }, check.Fail},
		{"beside one of whom only the host is known", func(h *helm) { h.act("cp2"); hostsOnly(h.events[len(h.events)-1:]) }, check.Fail},
		{"and nobody of members either", func(*helm) {}, check.Pass},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := &edit{tellStranded(map[string]func(*helm){"led": tc.acts})}
			if got := judge(t, caseOf(t, "CLE-10"), e.events)["CLE-10"]; got.Verdict != tc.want {
				t.Errorf("%s, want %s: %q %v", got.Verdict, tc.want, got.Reasons, got.Violations)
			}
		})
	}
}

// otherFault is that nothing keeps the leader from renewing: it was told to give up.
const otherFault = "beside a fault of another component"

// A published leader that cannot renew ends its process, and is started again.
func TestALeaderMayEndItsProcess(t *testing.T) {
	for _, tc := range []struct {
		name string
		exit string
		// again is whether the next process is a candidate.
		again bool
		// acts is how long after that somebody else leads it acts; 0 is not at all.
		acts time.Duration
		// vacant is whether nobody takes the Lease before that can be written again.
		vacant bool
		want   check.Verdict
	}{
		{"and is a candidate again", "exit status 1", true, 0, false, check.Pass},
		{"and is none any more", "exit status 1", false, 0, false, check.Fail},
		{"and something of it still acts", "exit status 1", true, 25 * time.Second, false, check.Fail},
		{"where that is not seen", history.ExitUnseen, true, 0, false, check.Pass},
		{"and nobody leads", "exit status 1", true, 0, true, check.Pass},
		{"and nobody leads, nor is it a candidate", "exit status 1", false, 0, true, check.Fail},
		{"because it was killed", "signal: killed", true, 0, false, check.Inconclusive},
		{"because it was killed, and nobody leads", "signal: killed", true, 0, true, check.Inconclusive},
		{"because it was asked to", "exit status 0", true, 0, false, check.Inconclusive},
		{otherFault, "exit status 1", true, 0, false, check.Inconclusive},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := &edit{tellStranded(map[string]func(*helm){"cannot renew begins": func(h *helm) {
				cp3 := h.members[2]
				led := func(seconds int) {
					if tc.vacant {
						h.sail(seconds, managersLease)
					} else {
						h.sail(seconds)
					}
				}
				h.pass(9000)
				h.process(cp3, history.ProcessExited, tc.exit)
				h.pass(500)
				next := "cp3_2"
				if tc.again {
					next = h.manager(cp3, "1.2")
				} else {
					h.managers[cp3.name]++
					h.process(cp3, history.ProcessStarted, "")
				}
				h.pass(7500)
				h.ping("cp1_1", "cp2_1")
				h.answer("cp1_1", "cp2_1")
				if !tc.vacant {
					h.elect(managersLease, "cp1_1")
				}
				led(5 + int(tc.acts.Seconds()))
				if tc.acts > 0 {
					h.act("cp3_1")
				}
				h.fault(cp3, "leader-cannot-renew-1", history.FaultHTTP, history.FaultHTTPAbort, history.ComponentControllerManager, history.PhaseHeal)
				led(40)
				if tc.again {
					h.ping(next)
					h.answer(next)
				}
				led(5)
			}})}
			e.stopAt(e.find(1, func(ev *history.Event) bool {
				return ev.Fault != nil && ev.Fault.ID == "leader-cannot-renew-1" && ev.Fault.Phase == history.PhaseHeal
			}) + 30)
			hostsOnly(e.events)
			if tc.name == otherFault {
				for i := range e.events {
					if f := e.events[i].Fault; f != nil && f.ID == "leader-cannot-renew-1" {
						f.Component = history.ComponentScheduler
					}
				}
			}
			c := caseOf(t, "CLE-12")
			if got := judge(t, c, e.events)["CLE-12"]; got.Verdict != tc.want {
				t.Errorf("%s, want %s: %q %v", got.Verdict, tc.want, got.Reasons, got.Violations)
			}
		})
	}
}

func caseOf(t *testing.T, id requirement.ID) *testCase {
	t.Helper()
	for i := range cases {
		if cases[i].id == id {
			return &cases[i]
		}
	}
	t.Fatalf("%s has no case", id)
	return nil
}
