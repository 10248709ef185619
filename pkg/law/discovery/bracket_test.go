package discovery_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// within says on which side of a bound a history lies: inside if nothing is blamed and
// nothing stays unclear, outside if something is blamed, and doubtful else.
func within(t *testing.T, told *historyBuilder, id requirement.ID) string {
	t.Helper()
	r := told.judge(t, id)[0]
	switch {
	case r.Verdict == check.Fail:
		return "outside"
	case r.Obligations.Unclear > 0:
		return "doubtful"
	case r.Obligations.Met == 0:
		return "nothing"
	}
	return "inside"
}

// every has something be recorded again and again for a time, at most a second apart.
func (t *historyBuilder) every(d time.Duration, record func()) *historyBuilder {
	for end := t.now + int64(d); ; {
		record()
		if t.now >= end {
			return t
		}
		t.now = min(t.now+int64(time.Second), end)
	}
}

// TestBounds_InsideOutsideAndBetween has what each bound is about come about just before
// the bound is over, just after it, and at a time that no recorder saw.
func TestBounds_InsideOutsideAndBetween(t *testing.T) {
	const step = 50 * time.Millisecond
	lamps, flows := lights+"/v1:lamps", tides+"/v1:flows"
	for _, tc := range []struct {
		id    requirement.ID
		bound string
		// before begins what is owed, lacking is a document without it, and has one with it.
		before  func() *historyBuilder
		lacking func(*historyBuilder)
		has     func(*historyBuilder)
	}{
		{
			id: "AD-13", bound: "showsWithin",
			before:  func() *historyBuilder { return lone().serves("lamps", 201, "v1") },
			lacking: func(t *historyBuilder) { t.polled("a", steady) },
			has:     func(t *historyBuilder) { t.polled("a", steady, lamps) },
		}, {
			id: "AD-14", bound: "showsWithin",
			before: func() *historyBuilder {
				return lone().does(1, history.BackendHang, history.PhaseInject).hands(201).does(1, history.BackendHang, history.PhaseWitness)
			},
			lacking: func(t *historyBuilder) { t.listsAll("a", steady) },
			has:     func(t *historyBuilder) { t.listsAll("a", steady, flows+"!") },
		}, {
			id: "AD-15", bound: "givesWithin",
			before:  lone,
			lacking: func(t *historyBuilder) { t.denies(503, 0) },
			has:     func(t *historyBuilder) { t.polled("a", steady) },
		}, {
			id: "AD-18", bound: "recoversWithin",
			before: func() *historyBuilder {
				t := lone().hands(201).pass(time.Minute).listsAll("a", flows).does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness)
				return t.listsAll("a", flows+"!").does(1, history.BackendHang, history.PhaseHeal)
			},
			lacking: func(t *historyBuilder) { t.listsAll("a", flows+"!") },
			has:     func(t *historyBuilder) { t.listsAll("a", flows) },
		}, {
			id: "AD-18", bound: "recoversWithin",
			before:  func() *historyBuilder { return lone().hands(201) },
			lacking: func(t *historyBuilder) { t.listsAll("a", flows+"!") },
			has:     func(t *historyBuilder) { t.listsAll("a", flows) },
		}, {
			id: "AD-19", bound: "showsWithin",
			before: func() *historyBuilder {
				return lone().hands(201).polled("a", flows).pass(time.Minute).servesIn(tides, "piers", 201, "v1beta1")
			},
			lacking: func(t *historyBuilder) { t.polled("a", flows) },
			has:     func(t *historyBuilder) { t.polled("a", flows, tides+"/v1beta1:piers") },
		}, {
			id: "AD-26", bound: "givesWithin",
			before:  besides,
			lacking: func(t *historyBuilder) { t.denies(503, 0) },
			has:     func(t *historyBuilder) { t.polled("a", apps, tides+"/v1:flows") },
		}, {
			id: "AD-22", bound: "givesWithin",
			before:  func() *historyBuilder { return struck().polled("a", steady).pass(step) },
			lacking: func(t *historyBuilder) { t.denies(503, 0) },
			has:     func(t *historyBuilder) { t.polled("a", steady) },
		}, {
			id: "AD-24", bound: "peersLeave",
			before: func() *historyBuilder {
				t := fleet()
				for _, member := range []string{"a", "b", "c"} {
					t.looksAt(member, honest(member))
				}
				t.pass(2*time.Second).stops("c", 1).pass(time.Second).leaves("c", 40)
				return t.polled("b", newer...)
			},
			lacking: func(t *historyBuilder) { t.polled("a", both...) },
			has:     func(t *historyBuilder) { t.polled("a", newer...) },
		},
	} {
		t.Run(string(tc.id), func(t *testing.T) {
			bound := requirement.MustBound(tc.id, tc.bound)
			after := func(d time.Duration) string {
				told := tc.before()
				told.every(d, func() { tc.lacking(told) })
				tc.has(told)
				return within(t, told, tc.id)
			}
			if got := after(bound - step); got != "inside" {
				t.Errorf("just before %s it is %s", bound, got)
			}
			if got := after(bound + step); got != "outside" {
				t.Errorf("just after %s it is %s", bound, got)
			}
			// No document was recorded for a while before the one that shows it.
			told := tc.before()
			told.every(bound-time.Second, func() { tc.lacking(told) }).pass(2 * time.Second)
			tc.has(told)
			if got := within(t, told, tc.id); got != "doubtful" {
				t.Errorf("between a second before and after %s it is %s", bound, got)
			}
		})
	}
}

// A bound of AD-17 counts from when the outage is known to have had an effect.
func TestMarksWithin_CountsFromTheWitness(t *testing.T) {
	bound, step := requirement.MustBound("AD-17", "marksWithin"), 50*time.Millisecond
	for d, want := range map[time.Duration]string{bound - step: "inside", bound + step: "outside"} {
		told := lone().hands(201).pass(time.Minute).polled("a", tides+"/v1:flows").does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness)
		told.every(d, func() { told.polled("a", tides+"/v1:flows") })
		told.polled("a", tides+"/v1:flows")
		marked := told.events[len(told.events)-1].DiscoveryDocument
		marked.Listing = listingOf(listKind, []string{tides + "/v1:flows"})
		marked.Listing.Groups[0].Versions[0].Freshness = history.FreshnessStale
		marked.Content, marked.Digest, marked.ETag = "stale", "stale", "stale"
		if got := within(t, told, "AD-17"); got != want {
			t.Errorf("after %s it is %s, want %s", d, got, want)
		}
	}
}

// A document shows the first moment of readiness if it was asked for so soon.
func TestFirstMoment_CountsFromReadiness(t *testing.T) {
	tolerance, step := requirement.MustBound("AD-15", "firstMoment"), 50*time.Millisecond
	for d, want := range map[time.Duration]int64{tolerance - step: 1, tolerance + step: 0} {
		saw(t, lone().pass(d).polled("a", steady).blames(t, "AD-15"), "given right after the server was ready", want)
	}
}

// The clock of what a member owes stands while the harness keeps an etcd from running: what
// is written when the leader of etcd goes may time out.
func TestAble_TheClockStandsWhileAnEtcdIsStopped(t *testing.T) {
	etcd := func(t *historyBuilder, change string, instance int, expected bool) {
		t.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{Component: history.ComponentEtcd, Change: change, Instance: instance, Expected: expected}})
	}
	for name, tc := range map[string]struct {
		stopped bool
		want    string
	}{"the harness stopped it": {true, "inside"}, "it ended by itself": {false, "outside"}} {
		t.Run(name, func(t *testing.T) {
			told := lone()
			etcd(told, history.ProcessStarted, 1, false)
			told.serves("lamps", 201, "v1").polled("a", steady)
			etcd(told, history.ProcessExited, 1, tc.stopped)
			told.every(8*time.Second, func() { told.polled("a", steady) })
			etcd(told, history.ProcessStarted, 2, false)
			told.every(4*time.Second, func() { told.polled("a", steady) }).polled("a", lights+"/v1:lamps")
			if got := within(t, told, "AD-13"); got != tc.want {
				t.Errorf("it is %s, want %s", got, tc.want)
			}
		})
	}
}

// A start beside a dead aggregated server may take so much longer than one without.
func TestDeadCosts_IsAddedToTheLongestStart(t *testing.T) {
	bound, step := requirement.MustBound("AD-16", "deadCosts"), 500*time.Millisecond
	for d, want := range map[time.Duration]string{bound - step: "inside", bound + step: "outside"} {
		told := lone().hands(201).pass(time.Minute).stops("a", 1).pass(time.Second).starts("a", 2).pass(time.Second).ready("a", 200, 6).pass(time.Minute)
		told.does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness).pass(time.Second).stops("a", 2).pass(time.Second).starts("a", 3)
		told.pass(time.Second+d).ready("a", 200, 7)
		if got := within(t, told, "AD-16"); got != want {
			t.Errorf("after %s more it is %s, want %s", d, got, want)
		}
	}
}

// What a start takes while the machine is starved is not what a start takes.
func TestDeadCosts_IsNotAddedToAStarvedStart(t *testing.T) {
	bound := requirement.MustBound("AD-16", "deadCosts")
	for starved, want := range map[time.Duration]string{0: "inside", time.Minute - time.Second: "doubtful"} {
		told := lone().hands(201).pass(time.Minute).stops("a", 1).pass(time.Second)
		from := told.now
		told.starts("a", 2).pass(time.Minute).ready("a", 200, 6)
		told.add(history.Event{Kind: history.KindStarvation, From: from, Starvation: &history.Starvation{CPU: int64(starved)}}).pass(time.Minute)
		told.does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness).pass(time.Second).stops("a", 2).pass(time.Second).starts("a", 3)
		told.pass(time.Minute+bound-time.Second).ready("a", 200, 7)
		if got := within(t, told, "AD-16"); got != want {
			t.Errorf("with a start that was starved for %s it is %s", starved, got)
		}
	}
}

// Members must know each other when peersShow is over, and need not before.
func TestPeersShow_CountsFromTheLastMember(t *testing.T) {
	bound := requirement.MustBound("AD-23", "peersShow")
	for d, want := range map[time.Duration]bool{bound - time.Second: false, bound + time.Second: true} {
		told := fleet()
		for _, member := range []string{"a", "b", "c"} {
			s := honest(member)
			s.union, s.handed = s.local, nil
			told.looksAt(member, s)
		}
		told.pass(d)
		s := honest("a")
		s.union = newer
		r := told.looksAt("a", s).judge(t, "AD-23")[0]
		if got := r.Verdict == check.Fail; got != want {
			t.Errorf("after %s: %s %v", d, r.Verdict, r.Violations)
		}
	}
}
