package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const (
	managersLease = "kube-system/kube-controller-manager"
	rowersLease   = "kube-system/evenkeel-rowers"
)

// wall is the wall clock of all who write.
func (t *tale) wall() time.Time { return started.Add(time.Duration(t.now)) }

// etcdHas stores something at the next revision.
func (t *tale) etcdHas(s history.Stored) *tale {
	s.Revision = int64(len(t.events) + 1)
	return t.stored(s)
}

// lease has a Lease written, renewed now and for 15 s where nothing else is said.
func (t *tale) lease(key string, l history.Lease) *tale {
	if l.Renewed.IsZero() {
		l.Renewed = t.wall()
	}
	if l.Duration == 0 {
		l.Duration = 15
	}
	return t.etcdHas(history.Stored{Type: history.StoredPut, Key: leasePrefix + key, Lease: &l})
}

// elects has the coordinator at a give a Lease to somebody, who renews it.
func (t *tale) elects(key, holder string) *tale { return t.names(key, holder).extends(key, holder) }

// names is elects by which nobody renews anything.
func (t *tale) names(key, holder string) *tale {
	return t.lease(key, history.Lease{Holder: holder, Strategy: byOldest, Coordinator: "a_c", Duration: 10})
}

func (t *tale) extends(key, holder string) *tale {
	return t.lease(key, history.Lease{Holder: holder, Strategy: byOldest, Coordinator: "a_c"})
}

// marks has it told to give way.
func (t *tale) marks(key, holder, preferred string) *tale {
	return t.lease(key, history.Lease{Holder: holder, Preferred: preferred, Strategy: byOldest, Coordinator: "a_c"})
}

// claims has somebody without coordination hold a Lease.
func (t *tale) claims(key, holder string) *tale { return t.lease(key, history.Lease{Holder: holder}) }

// drops deletes a Lease, and erases has the harness do so.
func (t *tale) drops(key string) *tale {
	return t.etcdHas(history.Stored{Type: history.StoredDelete, Key: leasePrefix + key})
}

func (t *tale) erases(key string) *tale {
	from := t.now
	t.drops(key)
	return t.add(history.Event{Kind: history.KindRequest, Member: "a", From: from, Request: &history.Request{
		Class: history.ClassElection, Election: history.ElectionDelete, Verb: "delete", Resource: "leases", Name: key, Code: 200,
	}})
}

// declares makes a candidate of a version, pinged has it asked and renews has it
// answer.
func (t *tale) declares(name, lease, version string) *tale {
	return t.candidate(name, lease, version, time.Time{}, t.wall())
}

func (t *tale) pinged(name, lease, version string, renewed time.Duration) *tale {
	return t.candidate(name, lease, version, t.wall(), started.Add(renewed))
}

func (t *tale) candidate(name, lease, version string, pinged, renewed time.Time) *tale {
	return t.etcdHas(history.Stored{Type: history.StoredPut, Key: candidatePrefix + "kube-system/" + name, Candidate: &history.Candidate{
		Lease: own(lease), Binary: version, Emulation: version, Strategy: byOldest, Pinged: pinged, Renewed: renewed, Coordinator: "a_c",
	}})
}

// withdraws has a candidate go.
func (t *tale) withdraws(name string) *tale {
	return t.etcdHas(history.Stored{Type: history.StoredDelete, Key: candidatePrefix + "kube-system/" + name})
}

// controller tells of a member's controller manager.
func (t *tale) controller(member, change, exit string) *tale {
	return t.add(history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{
		Component: history.ComponentControllerManager, Change: change, Exit: exit, Expected: exit == killed,
	}})
}

const (
	killed = "signal: killed"
	failed = "exit status 1"
)

// acting has somebody act as the leader of a Lease.
func (t *tale) acting(key, holder string) *tale {
	return t.etcdHas(history.Stored{Type: history.StoredPut, Key: "/registry/configmaps/kube-system/acting", Acted: &history.Acted{Lease: key, Holder: holder, Number: int64(len(t.events))}})
}

// underway is a control plane whose coordinator is at a, with the controller managers
// of a, b and c as candidates a_1, b_1 and c_1 of the given versions.
func underway(versions ...string) *tale {
	t := tell()
	for _, member := range []string{"a", "b", "c"} {
		t.starts(member, 1).ready(member, 200, 0)
	}
	t.lease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: 3600})
	for i, version := range versions {
		member := []string{"a", "b", "c"}[i]
		t.controller(member, history.ProcessStarted, "").declares(member+"_1", managersLease, version)
	}
	return t.pass(3 * time.Second)
}

// Who is asked over and over, and answers every time, is there all the time, and so is
// what should be done about it.
func TestPingsDoNotPutOffWhatIsDue(t *testing.T) {
	const second = time.Second
	pings := func(t *tale, name, version string, answers bool) *tale {
		renewed := time.Duration(t.now)
		for range 12 {
			t.pinged(name, managersLease, version, renewed).pass(10 * time.Millisecond)
			if answers {
				renewed = time.Duration(t.now)
				t.candidate(name, managersLease, version, t.wall().Add(-time.Millisecond), t.wall())
			}
			t.pass(5 * second)
		}
		return t
	}
	t.Run("a Lease that is not made", func(t *testing.T) {
		pings(underway("1.2.0"), "a_1", "1.2.0", true).blames(t, "CLE-04", "there is no Lease "+managersLease)
		pings(underway("1.2.0"), "a_1", "1.2.0", false).blames(t, "CLE-04")
	})
	t.Run("a leader that somebody better waits for", func(t *testing.T) {
		for id, want := range map[string]string{"CLE-08": "a_1 (1.3.0) has held", "CLE-17": "a_1 (1.3.0) has led"} {
			led := func() *tale {
				return underway("1.3.0", "1.2.0").lease(managersLease, history.Lease{Holder: "a_1", Strategy: byOldest, Coordinator: "a_c", Duration: 3600})
			}
			pings(led(), "b_1", "1.2.0", true).blames(t, requirement.ID(id), want)
			pings(led(), "b_1", "1.2.0", false).blames(t, requirement.ID(id))
		}
	})
	t.Run("a leader that has crashed", func(t *testing.T) {
		crash := func() *tale {
			return underway("1.2.0", "1.2.0").elects(managersLease, "a_1").controller("a", history.ProcessExited, killed)
		}
		pings(crash(), "b_1", "1.2.0", true).blames(t, "CLE-11", "has no leader")
		pings(crash(), "b_1", "1.2.0", false).blames(t, "CLE-11")
	})
	t.Run("an answer that comes too late", func(t *testing.T) {
		told := underway("1.2.0")
		for range 6 {
			asked := told.wall()
			told.pinged("a_1", managersLease, "1.2.0", 0).pass(8*second).candidate("a_1", managersLease, "1.2.0", asked, told.wall())
		}
		told.blames(t, "CLE-04")
	})
}

// A Lease that somebody without coordination holds is his until it expires, whichever
// way it is taken.
func TestALegacyLeaseIsNotStolen(t *testing.T) {
	const second = time.Second
	held := func() *tale { return underway().claims(rowersLease, "legacy") }
	for name, tc := range map[string]struct {
		told *tale
		want []string
	}{
		"given to another one": {held().pass(5*second).elects(rowersLease, "evenkeel-rowers-a"), []string{`held ` + rowersLease + ` without coordination, and a coordinator gave it to "evenkeel-rowers-a"`}},
		"made its own": {held().pass(5*second).lease(rowersLease, history.Lease{Holder: "legacy", Strategy: byOldest, Coordinator: "a_c", Renewed: started.Add(100 * time.Millisecond)}),
			[]string{`gave it to "legacy" (strategy "` + byOldest + `")`}},
		"told to go":                  {held().pass(5*second).marks(rowersLease, "legacy", "evenkeel-rowers-a"), []string{"was told that evenkeel-rowers-a should"}},
		"deleted":                     {held().pass(5*second).drops(rowersLease).pass(10*second).ready("a", 200, 0), []string{"was deleted before it expired"}},
		"deleted by an administrator": {held().pass(5*second).erases(rowersLease).pass(10*second).ready("a", 200, 0), nil},
		"taken when it had expired":   {held().pass(15*second).elects(rowersLease, "evenkeel-rowers-a"), nil},
		"deleted when it had expired": {held().pass(15*second).drops(rowersLease).pass(10*second).ready("a", 200, 0), nil},
		"taken by an instance itself": {held().pass(5*second).claims(rowersLease, "another"), nil},
		"all fields that are tried out": {underway().claims(ownFields+"x", "x").
			lease(ownFields+"x", history.Lease{Holder: "x", Preferred: "x-next", Strategy: byOldest}), nil},
		"fields that are tried out": {underway().claims(ownFields+"x", "x").lease(ownFields+"x", history.Lease{Holder: "x", Strategy: byOldest}), nil},
	} {
		t.Run(name, func(t *testing.T) { tc.told.blames(t, "CLE-19", tc.want...) })
	}
}

// A deletion that was told before its request was answered is explained all the same.
func TestDeletionsByTheHarness(t *testing.T) {
	const second = time.Second
	request := func(t *tale, key string, from int64) *tale {
		return t.add(history.Event{Kind: history.KindRequest, Member: "a", From: from, Request: &history.Request{
			Class: history.ClassElection, Election: history.ElectionDelete, Verb: "delete", Resource: "leases", Name: key,
		}})
	}
	held := func() *tale { return underway().claims(rowersLease, "legacy").pass(second) }
	late := held()
	from := late.now
	request(late.drops(rowersLease).pass(3*second), rowersLease, from).pass(10*second).ready("a", 200, 0).blames(t, "CLE-19")
	other := held()
	from = other.now
	request(other.drops(rowersLease).pass(3*second), managersLease, from).pass(10*second).ready("a", 200, 0).blames(t, "CLE-19", "was deleted")
	long := held()
	request(long, rowersLease, long.now).claims(rowersLease, "legacy").pass(6*second).drops(rowersLease).pass(10*second).ready("a", 200, 0).blames(t, "CLE-19", "was deleted")
}

// A Lease that says nothing sensible of time has expired, or will in a thousand years.
func TestExpiryOfOddLeases(t *testing.T) {
	w := newWorld(history.Header{Started: started})
	if over := w.expires(&history.Lease{Duration: 1 << 30}); over >= 0 || over-int64(longAgo) >= 0 {
		t.Errorf("without a time it expires at %d", over)
	}
	if over := w.expires(&history.Lease{Renewed: started.AddDate(1000, 0, 0), Duration: 1 << 30}); over <= int64(longAgo) || over+int64(longAgo) <= 0 {
		t.Errorf("in a thousand years is %d", over)
	}
}

// A leader that goes on until a moment before another one could begin has stopped too
// late, however soon the recorder tells of it.
func TestStoppingInTime(t *testing.T) {
	const second = time.Second
	// The Lease of a_1 runs out 15 s after this.
	led := func() *tale {
		return underway("1.2.0", "1.2.0").elects(managersLease, "a_1").acting(managersLease, "a_1")
	}
	renews := func(t *tale) *tale {
		return t.lease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: 3600})
	}
	fault := func(t *tale, kind, action string, phase history.Phase) *tale {
		return t.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "f", Type: kind, Action: action, Phase: phase, Proof: "p"}})
	}
	const (
		early = "after its Lease had run out"
		late  = "after it has lost the Lease"
	)
	acts := func(t *tale) *tale { return t.acting(managersLease, "a_1") }
	taken := func(t *tale) *tale { return t.elects(managersLease, "b_1") }
	for name, tc := range map[string]struct {
		told *tale
		want []string
	}{
		"four seconds late":                       {taken(acts(renews(led().pass(19 * second))).pass(second)), []string{early}},
		"told late, of before":                    {taken(renews(acts(led().pass(19 * second))).pass(second)), nil},
		"a moment late":                           {taken(acts(renews(led().pass(15*second + second/2))).pass(second)), nil},
		"just behind the other one's taking":      {acts(taken(led().pass(16 * second))), []string{late}},
		"behind the harness's, by force":          {acts(led().pass(5*second).lease(managersLease, history.Lease{Holder: history.ElectionNobody}).pass(2 * second)), nil},
		"long behind that":                        {acts(led().pass(5*second).lease(managersLease, history.Lease{Holder: history.ElectionNobody}).pass(6 * second)), []string{late}},
		"beside a fault that answers at once":     {acts(taken(fault(fault(led(), history.FaultAdmission, history.FaultAdmissionDeny, history.PhaseInject), history.FaultAdmission, "", history.PhaseWitness).pass(16 * second))), []string{late}},
		"beside one that holds requests up":       {acts(taken(fault(fault(led(), history.FaultHTTP, history.FaultHTTPDelay, history.PhaseInject), history.FaultHTTP, "", history.PhaseWitness).pass(16 * second))), nil},
		"long behind, whatever holds requests up": {acts(taken(fault(led(), history.FaultHTTP, history.FaultHTTPDelay, history.PhaseInject).pass(16 * second)).pass(6 * second)), []string{late}},
		"told late, the recorder was away": {acts(taken(fault(led(), history.FaultHTTP, history.FaultHTTPDelay, history.PhaseInject).pass(16 * second)).pass(9 * second).
			add(history.Event{Kind: history.KindAway, From: int64(21 * second), Away: &history.Away{Source: string(SourceEtcd)}})), nil},
		"when it has the Lease again": {acts(acts(taken(led().pass(16*second)).pass(second).lease(managersLease, history.Lease{Strategy: byOldest}).elects(managersLease, "a_1").pass(second)).
			lease(managersLease, history.Lease{Strategy: byOldest})), nil},
		"after a process had stood still": {acts(taken(led().pass(second).controller("c", history.ProcessPaused, "").pass(15 * second))), nil},
	} {
		t.Run(name, func(t *testing.T) { tc.told.blames(t, "CLE-12", tc.want...) })
	}
}

// deposes has the leader told to give way to another one, and end, as a leader may that
// has lost its Lease; it is started again under a new name a second later.
func (t *tale) deposes(member, holder, other, again, version string) *tale {
	t.marks(managersLease, holder, other).lease(managersLease, history.Lease{Strategy: byOldest, Coordinator: "a_c", Duration: 1}).
		pass(100*time.Millisecond).elects(managersLease, other)
	t.withdraws(holder).controller(member, history.ProcessExited, failed).pass(time.Second)
	return t.controller(member, history.ProcessStarted, "").declares(again, managersLease, version)
}

// flaps has the leadership go from a to b and back over and over.
func (t *tale) flaps(times int, period time.Duration) *tale {
	names := []string{"a_1", "b_1"}
	for i := range times {
		from, to, member := names[i%2], names[(i+1)%2], []string{"a", "b"}[i%2]
		names[i%2] = fmt.Sprintf("%s_%d", member, i+2)
		t.keeps(managersLease, from, period).deposes(member, from, to, names[i%2], "1.2.0")
	}
	return t
}

// keeps has a leader renew its Lease for a while.
func (t *tale) keeps(key, holder string, lasts time.Duration) *tale {
	for until := t.now + int64(lasts); t.now < until; t.pass(5 * time.Second) {
		t.extends(key, holder)
	}
	return t
}

// What is moved without need is no excuse for the next needless move, and neither is what
// those do who lose their Lease by it.
func TestNeedlessMovesExcuseNothing(t *testing.T) {
	const second = time.Second
	led := func() *tale { return underway("1.2.0", "1.2.0").elects(managersLease, "a_1") }
	for _, period := range []time.Duration{30 * second, 40 * second} {
		r := led().flaps(6, period).judge(t, "CLE-15")[0]
		if r.Verdict != Fail {
			t.Errorf("CLE-15 is %s where leaders change every %s: %q", r.Verdict, period, r.Reasons)
		}
	}
	for _, period := range []time.Duration{15 * second, 25 * second, 30 * second, 100 * second} {
		r := led().flaps(4, period).judge(t, "CLE-17")[0]
		if r.Verdict != Fail {
			t.Errorf("CLE-17 is %s where leaders change every %s: %q", r.Verdict, period, r.Reasons)
		}
	}
	step := func(t *tale) *tale {
		return t.add(history.Event{Kind: history.KindStep, Step: &history.Step{Action: "upgrade", Phase: history.PhaseBegin}})
	}
	for name, told := range map[string]*tale{
		"one that may have a reason": led().flaps(1, 60*second).keeps(managersLease, "b_1", 60*second),
		"one for each step": step(led().flaps(1, 60*second).keeps(managersLease, "b_1", 30*second)).keeps(managersLease, "b_1", 60*second).
			deposes("b", "b_1", "a_2", "b_2", "1.2.0"),
		"Leases that run out": led().pass(60*second).elects(managersLease, "b_1").pass(100*second).elects(managersLease, "a_1").pass(100*second).elects(managersLease, "b_1"),
		"crashes": led().keeps(managersLease, "a_1", 60*second).controller("a", history.ProcessExited, failed).pass(15*second).elects(managersLease, "b_1").
			controller("a", history.ProcessStarted, "").declares("a_2", managersLease, "1.2.0").keeps(managersLease, "b_1", 60*second).
			controller("b", history.ProcessExited, failed).pass(15*second).elects(managersLease, "a_2"),
	} {
		t.Run(name, func(t *testing.T) { told.blames(t, "CLE-17") })
	}
}

// A better candidate that was away for long is a reason for an election, whatever it was
// away for.
func TestAReturnIsAReason(t *testing.T) {
	const second = time.Second
	told := underway("1.2.0", "1.3.0").elects(managersLease, "a_1").keeps(managersLease, "a_1", 60*second)
	told.controller("a", history.ProcessExited, failed).pass(16*second).elects(managersLease, "b_1").keeps(managersLease, "b_1", 200*second)
	told.controller("a", history.ProcessStarted, "").declares("a_2", managersLease, "1.2.0").pass(3*second).
		marks(managersLease, "b_1", "a_2").pass(15*second).elects(managersLease, "a_2")
	told.blames(t, "CLE-15")

	// One that was made to go, and takes long to come back.
	seized := underway("1.2.0", "1.3.0").elects(managersLease, "a_1").keeps(managersLease, "a_1", 60*second)
	seized.erases(managersLease).elects(managersLease, "b_1").controller("a", history.ProcessExited, failed).keeps(managersLease, "b_1", 200*second)
	seized.controller("a", history.ProcessStarted, "").declares("a_2", managersLease, "1.2.0").pass(3*second).
		marks(managersLease, "b_1", "a_2").pass(15*second).elects(managersLease, "a_2")
	seized.blames(t, "CLE-15")
}

// A Lease that the harness has deleted is elected for with reason; one that nobody has
// asked to be deleted is not.
func TestDeletionsInQuietTimes(t *testing.T) {
	led := func() *tale {
		return underway("1.2.0").elects(managersLease, "a_1").keeps(managersLease, "a_1", 60*time.Second)
	}
	led().erases(managersLease).elects(managersLease, "a_1").keeps(managersLease, "a_1", 20*time.Second).blames(t, "CLE-15")
	led().drops(managersLease).elects(managersLease, "a_1").keeps(managersLease, "a_1", 20*time.Second).blames(t, "CLE-15", "was deleted, and nothing had happened")
}

// Who was only named leads nobody: one that is dead never will.
func TestOnlyTheLivingLead(t *testing.T) {
	const second = time.Second
	crashed := func() *tale {
		return underway("1.2.0", "1.2.0", "1.2.0").elects(managersLease, "a_1").
			controller("b", history.ProcessExited, killed).controller("a", history.ProcessExited, killed).pass(16 * second)
	}
	for name, tc := range map[string]struct {
		told     *tale
		replaced int64
		want     []string
	}{
		"a dead one":      {crashed().names(managersLease, "b_1").pass(30*second).ready("a", 200, 0), 0, []string{"has no leader"}},
		"one that renews": {crashed().names(managersLease, "c_1").pass(2*second).extends(managersLease, "c_1").pass(40*second).ready("a", 200, 0), 1, nil},
		"one that acts":   {crashed().names(managersLease, "c_1").pass(2*second).acting(managersLease, "c_1").pass(40*second).ready("a", 200, 0), 1, nil},
		"one that is named in time and renews later":  {crashed().pass(28*second).names(managersLease, "c_1").pass(2*second).extends(managersLease, "c_1"), 1, nil},
		"one that never renews, and is told to be on": {crashed().lease(managersLease, history.Lease{Holder: "c_1", Strategy: byOldest, Coordinator: "a_c", Duration: 3600}).pass(40*second).ready("a", 200, 0), 0, []string{"has no leader"}},
		"one that takes it by itself":                 {crashed().claims(managersLease, "c_1").pass(40*second).ready("a", 200, 0), 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			saw(t, tc.told.blames(t, "CLE-11", tc.want...), "crashes of a leader", tc.replaced)
		})
	}

	// The same after writes that had failed.
	failing := func() *tale {
		told := underway("1.2.0", "1.2.0", "1.2.0").elects(managersLease, "a_1").controller("b", history.ProcessExited, killed)
		for _, phase := range []history.Phase{history.PhaseInject, history.PhaseWitness, history.PhaseHeal} {
			told.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{
				ID: "f", Type: history.FaultAdmission, Action: history.FaultAdmissionDeny, Phase: phase, Proof: "p", Prefixes: []string{leasePrefix + managersLease}}}).pass(18 * second)
		}
		return told
	}
	saw(t, failing().names(managersLease, "b_1").pass(5*second).ready("a", 200, 0).pass(20*second).ready("a", 200, 0).blames(t, "CLE-24", "nobody holds"), "elections that writes had failed for", 0)
	saw(t, failing().names(managersLease, "c_1").pass(second).extends(managersLease, "c_1").pass(40*second).ready("a", 200, 0).blames(t, "CLE-24"), "elections that writes had failed for", 1)
}

// Who has gone may be elected as long as an election takes, and not after that.
func TestWhoHasGoneIsNotElected(t *testing.T) {
	const second = time.Second
	stood := func() *tale {
		return underway().declares("evenkeel-rowers-a", rowersLease, "1.2.0").pass(3 * second).withdraws("evenkeel-rowers-a")
	}
	stood().pass(3*second).elects(rowersLease, "evenkeel-rowers-a").blames(t, "CLE-05")
	stood().pass(60*second).elects(rowersLease, "evenkeel-rowers-a").blames(t, "CLE-05", "evenkeel-rowers-a was elected for "+rowersLease+", and had withdrawn")
	stood().pass(50*second).declares("evenkeel-rowers-a", rowersLease, "1.2.0").pass(second).elects(rowersLease, "evenkeel-rowers-a").blames(t, "CLE-05")
	stood().pass(60*second).lease(rowersLease, history.Lease{Holder: "evenkeel-rowers-a"}).blames(t, "CLE-05")

	expired := underway().candidate("evenkeel-rowers-a", rowersLease, "1.2.0", time.Time{}, started.Add(-candidateValidity-second)).withdraws("evenkeel-rowers-a").pass(second)
	expired.elects(rowersLease, "evenkeel-rowers-a").blames(t, "CLE-16", "had expired and was removed before")

	many := tell()
	for i := range keptDeparted + 10 {
		name := fmt.Sprintf("evenkeel-rowers-%d", i)
		many.declares(name, rowersLease, "1.2.0").withdraws(name)
	}
	if w := many.world(); len(w.elections.departed) != keptDeparted || w.elections.departed["kube-system/evenkeel-rowers-9"] != nil {
		t.Errorf("%d are remembered", len(w.elections.departed))
	}
}

// What a coordinator gives that may not coordinate, no instance has taken.
func TestClaimsAreNoCoordinators(t *testing.T) {
	const second = time.Second
	alone := func() *tale {
		told := underway("1.2.0", "1.2.0").lease(managersLease, history.Lease{Strategy: byOldest}).lease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: 1})
		for _, phase := range []history.Phase{history.PhaseInject, history.PhaseWitness} {
			told.add(history.Event{Kind: history.KindFault, Member: "b", Fault: &history.Fault{
				ID: "f", Type: history.FaultKeys, Action: history.FaultKeysFail, Phase: phase, Proof: "p", Prefixes: []string{leasePrefix + coordinatorsLease}}})
		}
		return told.pass(3*second).ready("a", 200, 0).pass(10 * second)
	}
	saw(t, alone().elects(managersLease, "a_1").judge(t, "CLE-20")[0], "were taken by an instance", 0)
	saw(t, alone().lease(managersLease, history.Lease{Holder: "a_1", Strategy: byOldest}).judge(t, "CLE-20")[0], "were taken by an instance", 1)
}

// A leader that is told to give way does so itself: to take its Lease is no handover.
func TestAHandoverIsNoSeizure(t *testing.T) {
	const second = time.Second
	told := func() *tale {
		return underway("1.3.0", "1.2.0").elects(managersLease, "a_1").pass(second).marks(managersLease, "a_1", "b_1")
	}
	free := history.Lease{Strategy: byOldest, Coordinator: "a_c", Duration: 1}
	handed := "leaders that were told to give way"
	saw(t, told().pass(2*second).extends(managersLease, "a_1").pass(second).elects(managersLease, "b_1").blames(t, "CLE-08", "was told to give "+managersLease+" up, and it was given to b_1"), handed, 0)
	saw(t, told().pass(2*second).lease(managersLease, free).pass(second).elects(managersLease, "b_1").blames(t, "CLE-08"), handed, 1)
	saw(t, told().pass(16*second).elects(managersLease, "b_1").blames(t, "CLE-08"), handed, 1)
	saw(t, told().pass(2*second).lease(managersLease, history.Lease{Holder: history.ElectionNobody, Strategy: byOldest, Coordinator: "a_c"}).blames(t, "CLE-08"), handed, 0)
}

// A holder that somebody else has given stays for good, not for a moment.
func TestWhatOthersGiveStays(t *testing.T) {
	const (
		second = time.Second
		others = "example.com/draft"
	)
	given := func() *tale {
		told := underway()
		told.etcdHas(history.Stored{Type: history.StoredPut, Key: candidatePrefix + "kube-system/evenkeel-rowers-a", Candidate: &history.Candidate{
			Lease: own(rowersLease), Binary: "1.2.0", Strategy: others, Renewed: told.wall()}})
		return told.lease(rowersLease, history.Lease{Strategy: others, Coordinator: "a_c"}).pass(second).
			lease(rowersLease, history.Lease{Holder: history.ElectionThirdParty, Duration: 3600, Strategy: others}).pass(6*second).ready("a", 200, 0)
	}
	kept := "holders that somebody else had given and that stayed"
	later := func(t *tale) *tale { return t.pass(10*second).ready("a", 200, 0) }
	saw(t, later(given()).blames(t, "CLE-21"), kept, 1)
	saw(t, given().lease(rowersLease, history.Lease{Strategy: others, Coordinator: "a_c"}).blames(t, "CLE-21", "was taken from the holder"), kept, 1)
	given().lease(rowersLease, history.Lease{Holder: history.ElectionThirdParty, Preferred: "evenkeel-rowers-a", Duration: 3600, Strategy: others}).blames(t, "CLE-21", "was taken from the holder")
	later(given().drops(rowersLease)).blames(t, "CLE-21", rowersLease+" was deleted, which somebody else had given a holder")
	later(given().erases(rowersLease)).blames(t, "CLE-21")
	later(given().withdraws("evenkeel-rowers-a").drops(rowersLease)).blames(t, "CLE-21")
}

// A process that is no candidate any more has as long as it does not renew to come back.
func TestACandidateThatGoesComesBack(t *testing.T) {
	stood := func() *tale {
		return underway("1.2.0", "1.2.0").pass(time.Minute).withdraws("a_1")
	}
	later := func(t *tale) *tale { return t.pass(declaresAgainWithin+time.Second).ready("a", 200, 0) }
	later(stood()).blames(t, "CLE-01", "the controller-manager of a has run for 5m30s, and is no candidate")
	later(stood().pass(time.Minute).declares("a_1", managersLease, "1.2.0")).blames(t, "CLE-01")
	later(stood().controller("a", history.ProcessExited, killed)).blames(t, "CLE-01")
	stood().pass(4*time.Minute).ready("a", 200, 0).blames(t, "CLE-01")
	later(stood().controller("a", history.ProcessPaused, "")).blames(t, "CLE-01")
	later(underway("1.2.0").controller("a", history.ProcessExited, killed).controller("a", history.ProcessStarted, "").declares("a_2", managersLease, "1.2.0").withdraws("a_1")).blames(t, "CLE-01")
}

// Whoever leads cannot know at once that an administrator has deleted its Lease. It has to
// find out in time, and a coordinator may not do the same.
func TestActingAfterADeletion(t *testing.T) {
	const second = time.Second
	acting := func(t *tale, who string) *tale { return t.acting(managersLease, who) }
	led := func() *tale {
		return acting(underway("1.2.0", "1.2.0").elects(managersLease, "a_1"), "a_1").pass(second)
	}
	next := func(t *tale) *tale { return acting(t.elects(managersLease, "b_1"), "b_1").pass(second) }
	for _, id := range []requirement.ID{"CLE-10", "CLE-18"} {
		beside := "a_1 acted as the leader of " + managersLease
		acting(acting(next(led().erases(managersLease)), "a_1"), "b_1").blames(t, id)
		acting(next(led().erases(managersLease)).pass(noticesWithin), "a_1").blames(t, id, beside)
		acting(next(led().drops(managersLease)), "a_1").blames(t, id, beside)
		acting(next(led()), "a_1").blames(t, id, beside)
		// Who takes the Lease after the deletion knows of it.
		again := next(led().erases(managersLease)).elects(managersLease, "a_1").elects(managersLease, "b_1")
		acting(acting(again, "b_1"), "a_1").blames(t, id, beside)
	}
}

// The KEP has candidates renew every 300 seconds and whenever they are asked. That one
// renewal comes right after an answer is no matter; two of the first sort in a row are.
func TestAnswersPutOffNoRenewal(t *testing.T) {
	const second = time.Second
	renews := func(t *tale, asked time.Time) *tale {
		return t.candidate("a_1", managersLease, "1.2.0", asked, t.wall())
	}
	// asked has it asked so long after it was declared, and answer.
	asked := func(after time.Duration) (*tale, time.Time) {
		t := underway().controller("a", history.ProcessStarted, "")
		declared := t.wall()
		renews(t, time.Time{}).pass(after)
		at := t.wall()
		t.candidate("a_1", managersLease, "1.2.0", at, declared).pass(20 * time.Millisecond)
		return renews(t, at).pass(100 * time.Millisecond), at
	}
	told, at := asked(300 * second)
	saw(t, renews(told, at).blames(t, "CLE-02"), "renewals of candidates that nobody had asked for", 1)

	told, at = asked(300 * second)
	renews(renews(told, at).pass(second), at).blames(t, "CLE-02", "renewed without being asked, 1s after the last time")

	told, at = asked(60 * second)
	renews(told, at).blames(t, "CLE-02", "renewed without being asked, 1m0s after the last time")
}
