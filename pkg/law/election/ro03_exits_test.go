package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/election/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// The loss of the Lease that excuses a controller may be among what a recorder missed. No
// recorder can have missed an excuse of an API server, which has no Lease to lose.
func TestRO03_AnExitIsUnclearIfARecorderMayHaveMissedItsExcuse(t *testing.T) {
	const failed = "exit status 2"
	controllerEnds := func(h *stories.Builder) { h.ManagerProcess(h.Members[2], history.ProcessExited, failed) }
	serverEnds := func(h *stories.Builder) { h.Exit(h.Members[2], failed, false) }
	gap := func(s fact.Source) func(*stories.Builder) {
		return func(h *stories.Builder) {
			h.Emit(history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{Source: string(s), Message: "changes may be missing"}})
		}
	}
	// The controller of cp3 lost its Lease too long ago to end for that.
	lostLongAgo := func(h *stories.Builder) {
		h.ReleaseLease(stories.ManagersLease)
		h.Elect(stories.ManagersLease, "cp1_1")
		wait(h, requirement.MustBound("KEP-4355", "noticesWithin")+2*time.Second)
	}
	for name, tc := range map[string]struct {
		then []func(*stories.Builder)
		want check.Verdict
	}{
		"a controller, and nothing missed":               {[]func(*stories.Builder){controllerEnds}, check.Fail},
		"a controller after a gap of etcd":               {[]func(*stories.Builder){gap(fact.Etcd), controllerEnds}, check.Inconclusive},
		"a controller after a gap of /readyz":            {[]func(*stories.Builder){gap(fact.Readyz), controllerEnds}, check.Inconclusive},
		"a controller after a gap of another recorder":   {[]func(*stories.Builder){gap(fact.Watches), controllerEnds}, check.Fail},
		"a controller right before a gap of etcd":        {[]func(*stories.Builder){controllerEnds, gap(fact.Etcd)}, check.Inconclusive},
		"a controller long before a gap of etcd":         {[]func(*stories.Builder){controllerEnds, tenSeconds, gap(fact.Etcd)}, check.Fail},
		"an API server after a gap of etcd":              {[]func(*stories.Builder){gap(fact.Etcd), serverEnds}, check.Fail},
		"an API server after a gap of /readyz":           {[]func(*stories.Builder){gap(fact.Readyz), serverEnds}, check.Fail},
		"an API server after a gap of no known recorder": {[]func(*stories.Builder){gap("unheard-of"), serverEnds}, check.Inconclusive},
		"an API server before a gap of no known one":     {[]func(*stories.Builder){serverEnds, gap("unheard-of")}, check.Fail},
		"none after a gap of etcd":                       {[]func(*stories.Builder){gap(fact.Etcd)}, check.Inconclusive},
		"none":                                           {nil, check.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-03", led(func(h *stories.Builder) {
				lostLongAgo(h)
				for _, do := range tc.then {
					do(h)
				}
			}), tc.want)
		})
	}
}

// A controller that the machine held up notices the loss of its Lease later. An API server has
// none to lose.
func TestRO03_AnExitOfAControllerIsUnclearIfTheMachineHeldItUp(t *testing.T) {
	const failed, late = "exit status 2", 3 * time.Second
	for name, tc := range map[string]struct {
		ends   func(h *stories.Builder)
		waited time.Duration
		want   check.Verdict
	}{
		"as long as it was late": {func(h *stories.Builder) { h.ManagerProcess(h.Members[2], history.ProcessExited, failed) }, late + time.Second, check.Inconclusive},
		"not as long":            {func(h *stories.Builder) { h.ManagerProcess(h.Members[2], history.ProcessExited, failed) }, late - 2*time.Second, check.Fail},
		"an API server":          {func(h *stories.Builder) { h.Exit(h.Members[2], failed, false) }, late + time.Second, check.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-03", led(func(h *stories.Builder) {
				h.ReleaseLease(stories.ManagersLease)
				h.Elect(stories.ManagersLease, "cp1_1")
				wait(h, requirement.MustBound("KEP-4355", "noticesWithin")+late)
				h.Emit(history.Event{Kind: history.KindStarvation, From: h.Now - int64(10*time.Second), Starvation: &history.Starvation{CPU: int64(tc.waited)}})
				tc.ends(h)
			}), tc.want)
		})
	}
}

// Where only the next start tells that a process has ended, it ended by itself unless the
// harness was at a step that may have ended it. A controller may have lost its Lease before.
func TestRO03_AnEndThatOnlyTheNextStartTells(t *testing.T) {
	serverStarts := func(h *stories.Builder) { h.Start(h.Members[2], "1.2") }
	managerStarts := func(h *stories.Builder) { h.StartManager(h.Members[2], "1.2") }
	during := func(action string, member int, do func(*stories.Builder)) func(*stories.Builder) {
		return func(h *stories.Builder) {
			h.Step(9, action, history.PhaseBegin, h.Members[member], "")
			do(h)
			h.Step(9, action, history.PhaseEnd, h.Members[member], "")
		}
	}
	lost := func(h *stories.Builder) {
		h.ReleaseLease(stories.ManagersLease)
		h.Elect(stories.ManagersLease, "cp1_1")
		managerStarts(h)
	}
	for name, tc := range map[string]struct {
		do   func(*stories.Builder)
		want check.Verdict
	}{
		"an API server":                     {serverStarts, check.Fail},
		"an API server in a hold":           {during("hold", 2, serverStarts), check.Fail},
		"an API server in a step of it":     {during("crash", 2, serverStarts), check.Inconclusive},
		"an API server in one of another":   {during("crash", 0, serverStarts), check.Fail},
		"a controller that leads":           {managerStarts, check.Fail},
		"a controller that lost its Lease":  {lost, check.Inconclusive},
		"a controller that led none":        {func(h *stories.Builder) { h.StartManager(h.Members[0], "1.2") }, check.Inconclusive},
		"an API server that is told to end": {func(h *stories.Builder) { h.Exit(h.Members[2], "exit status 0", true); serverStarts(h) }, check.Pass},
	} {
		t.Run(name, func(t *testing.T) { judgetest.Expect(t, "RO-03", led(tc.do), tc.want) })
	}
}

// An API server that starts while the harness keeps its etcd from running cannot go on. One that
// ends while its etcd is there crashes, and so does one whose etcd ends by itself.
func TestRO03_AnAPIServerThatStartsWithoutItsEtcd(t *testing.T) {
	const s, crashed = time.Second, "the apiserver of a ended by itself"
	etcd := func(change string, members ...string) func(*electionBuilder) {
		return func(b *electionBuilder) {
			for _, m := range members {
				b.etcd(m, change, 1)
			}
		}
	}
	etcdFails := func(b *electionBuilder) {
		b.etcd("a", history.ProcessExited, 1).events[len(b.events)-1].Process.Expected = false
	}
	ready := func(b *electionBuilder) { b.ready("a", 200) }
	nothing := func(*electionBuilder) {}
	ended := etcd(history.ProcessExited, "a")
	for name, c := range map[string]struct {
		before, booting, last func(*electionBuilder)
		breaches              []string
		unclear               int64
	}{
		"its etcd runs":                  {nothing, nothing, nothing, []string{crashed}, 0},
		"its etcd is ended":              {ended, nothing, nothing, nil, 0},
		"its etcd is told to end":        {etcd(history.ProcessStopping, "a"), nothing, nothing, nil, 0},
		"etcd has no majority":           {etcd(history.ProcessExited, "b", "c"), nothing, nothing, nil, 0},
		"the etcd of another is ended":   {etcd(history.ProcessExited, "b"), nothing, nothing, []string{crashed}, 0},
		"its etcd ends by itself":        {etcdFails, nothing, nothing, []string{"the etcd of a ended by itself", crashed}, 0},
		"its etcd runs again":            {ended, etcd(history.ProcessStarted, "a"), nothing, []string{crashed}, 0},
		"its etcd runs again right then": {ended, nothing, etcd(history.ProcessStarted, "a"), nil, 1},
		"its etcd is ended later":        {nothing, ended, nothing, []string{crashed}, 0},
		"it was ready":                   {ended, nothing, ready, []string{crashed}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := controlPlane("1.2.0")
			etcd(history.ProcessStarted, "a", "b", "c")(b)
			b.wait(s).server("a", history.ProcessExited, 1).events[len(b.events)-1].Process.Expected = true
			c.before(b.wait(s))
			b.wait(s).startServer("a", 2).wait(s)
			c.booting(b)
			b.wait(20 * s)
			c.last(b)
			b.wait(time.Millisecond).server("a", history.ProcessExited, 2).events[len(b.events)-1].Process.Exit = failed
			r := b.wait(s).expectBreaches(t, "RO-03", c.breaches...)
			if excused := int64(1 - min(len(c.breaches), 1)); r.Obligations.Unclear != c.unclear || r.Obligations.Excused != excused-c.unclear {
				t.Errorf("the obligations are %+v: %q", r.Obligations, r.Reasons)
			}
		})
	}
}

func tenSeconds(h *stories.Builder) { wait(h, 10*time.Second) }

// An API server whose coordinator has just lost its Lease has no excuse to end: only the
// coordinator in it is to stop (CLE-14).
func TestRO03_TheLeaseOfACoordinatorExcusesNoAPIServer(t *testing.T) {
	b := controlPlane("1.2.0", "1.2.0").ready("a", 200).ready("b", 200).storeLease(coordinatorsLease, history.Lease{Holder: "a_c"}).wait(time.Second)
	b.storeLease(coordinatorsLease, history.Lease{Holder: "b_c"}).wait(time.Second).add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: 1, Exit: failed,
	}}).wait(time.Second).expectBreaches(t, "RO-03", "the apiserver of a ended by itself")
}

// Each end of a process is told up to 300 ms after it: whether the API server of a controller had
// been away for so long that the controller may have given up for that is not always certain.
func TestRO03_AnExitIsUnclearWhereItsAPIServerMayHaveBeenAwayForSoLong(t *testing.T) {
	givesUp := requirement.MustBound("RO-03", "givesUpAfter")
	for after, want := range map[time.Duration]check.Verdict{
		givesUp - time.Second:          check.Fail,
		givesUp - 400*time.Millisecond: check.Inconclusive, // if the server ended as early as it may have
		givesUp - 200*time.Millisecond: check.Inconclusive, // or the controller as late as it may have
		givesUp + time.Second:          check.Pass,
	} {
		t.Run(after.String(), func(t *testing.T) {
			judgetest.Expect(t, "RO-03", led(func(h *stories.Builder) {
				h.ReleaseLease(stories.ManagersLease)
				h.Elect(stories.ManagersLease, "cp1_1")
				wait(h, requirement.MustBound("KEP-4355", "noticesWithin")+2*time.Second)
				h.Exit(h.Members[2], "exit status 0", true)
				wait(h, after)
				h.ManagerProcess(h.Members[2], history.ProcessExited, "exit status 2")
				h.StartManager(h.Members[2], "1.2")
				h.Start(h.Members[2], "1.2")
				h.AnswerReady(h.Members[2], 200, true)
			}), want)
		})
	}
}
