package discovery_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// marked is a control plane whose server of tides hangs, and that has marked it stale in
// time; the resources of tides stay listed.
func marked() (*historyBuilder, func(freshness, inventory string)) {
	told := lone().hands(201).pass(time.Minute).polled("a", tides+"/v1:flows")
	told.does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness)
	lists := func(freshness, inventory string) {
		told.answered("a", history.DiscoveryDocument{Path: groupsPath, Accept: askedJSON, Listing: &history.Listing{Kind: listKind, Groups: []history.ListedGroup{
			{Name: tides, Versions: []history.ListedVersion{{Version: "v1", Freshness: freshness, Inventory: inventory, Resources: []history.ListedResource{{Name: "flows"}}}}},
		}}})
	}
	told.pass(time.Second)
	lists(history.FreshnessStale, "inventory flows")
	return told, lists
}

// What was marked stale in time stays so for as long as its server is lost.
func TestAD17_WhatIsMarkedStaysMarked(t *testing.T) {
	for name, tc := range map[string]struct {
		freshness, inventory string
		after                time.Duration
		want                 []string
	}{
		"it stays":                       {history.FreshnessStale, "inventory flows", 2 * time.Minute, nil},
		"it is called current again":     {history.FreshnessCurrent, "inventory flows", 2 * time.Minute, []string{"a does not mark it stale with its resources"}},
		"it is so before it has to show": {history.FreshnessCurrent, "inventory flows", 10 * time.Second, nil},
		"its resources are lost at once": {history.FreshnessStale, "inventory none", 10 * time.Second, []string{"a has lost what it knew of its resources"}},
	} {
		t.Run(name, func(t *testing.T) {
			told, lists := marked()
			told.pass(tc.after)
			lists(tc.freshness, tc.inventory)
			told.pass(time.Second).blames(t, "AD-17", tc.want...)
		})
	}
}

// A process that has just started has to ask an aggregated server that is back by itself.
func TestAD18_EachProcessAsksByItself(t *testing.T) {
	bound := requirement.MustBound("AD-18", "recoversWithin")
	for name, c := range map[string]struct {
		first, second time.Duration // for how long each process calls it stale
		shows         bool          // the first one calls it current then
		want          string
	}{
		"the second one in time":                       {bound - 5*time.Second, 20 * time.Second, false, "inside"},
		"the first one too late":                       {bound + time.Second, time.Second, false, "outside"},
		"the second one too late":                      {bound - 5*time.Second, bound + time.Second, false, "outside"},
		"the second one too late, after the first one": {time.Second, bound + time.Second, true, "outside"},
		"the second one in time, after the first one":  {time.Second, bound - time.Second, true, "inside"},
	} {
		t.Run(name, func(t *testing.T) {
			flows := tides + "/v1:flows"
			told := lone().hands(201).polled("a", flows).pass(time.Minute).does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness)
			stale := func() { told.listsAll("a", flows+"!") }
			told.every(10*time.Second, stale).does(1, history.BackendHang, history.PhaseHeal).every(c.first, stale)
			if c.shows {
				told.polled("a", flows)
			}
			told.stops("a", 1).starts("a", 2).ready("a", 200, 7).every(c.second, stale).polled("a", flows)
			if got := within(t, told, "AD-18"); got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
		})
	}
}

// A server that goes over from one misbehavior to another is lost all the time.
func TestAD17_TheClockRunsOnThroughOutagesThatFollowEachOther(t *testing.T) {
	bound := requirement.MustBound("AD-17", "marksWithin")
	for name, c := range map[string]struct {
		each    time.Duration
		answers bool
		want    string
	}{
		"marked in time":                   {bound/2 - time.Second, false, "inside"},
		"marked too late":                  {bound/2 + time.Second, false, "outside"},
		"the server answered between them": {bound/2 + time.Second, true, "inside"},
	} {
		t.Run(name, func(t *testing.T) {
			flows := tides + "/v1:flows"
			told := lone().hands(201).pass(time.Minute).polled("a", flows)
			for i, action := range []string{history.BackendHang, history.BackendRefuse} {
				told.does(i+1, action, history.PhaseInject, history.PhaseWitness).every(c.each, func() { told.polled("a", flows) })
				if c.answers && i == 0 {
					told.does(i+1, action, history.PhaseHeal).every(time.Second, func() { told.polled("a", flows) })
				}
			}
			told.polled("a", flows)
			marked := told.events[len(told.events)-1].DiscoveryDocument
			marked.Listing.Groups[0].Versions[0].Freshness = history.FreshnessStale
			marked.Content, marked.Digest, marked.ETag = "stale", "stale", "stale"
			if got := within(t, told, "AD-17"); got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
		})
	}
}

// A member that was frozen when an APIService was deleted lists it until it has learned of that.
func TestAD14_AMemberThatWasFrozenHasItsTime(t *testing.T) {
	other := func(t *historyBuilder, versions ...string) {
		t.hands(201).events[len(t.events)-1].Request.Defines = &history.Definition{Remote: true, Group: "other.io", Versions: versions}
	}
	for again, want := range map[time.Duration][]string{time.Second: nil, 11 * time.Second: {`calls other.io/v1 "Stale", which it hosts itself`}} {
		told := lone().does(1, history.BackendHang, history.PhaseInject).hands(201).does(1, history.BackendHang, history.PhaseWitness)
		told.pass(time.Second).listsAll("a", steady, tides+"/v1:flows!").pass(time.Minute)
		other(told, "v1")
		told.froze("a", history.ProcessPaused)
		other(told)
		told.pass(time.Minute).froze("a", history.ProcessResumed).ready("a", 200, 6).pass(again)
		told.listsAll("a", steady, tides+"/v1:flows!", "other.io/v1:flows!").pass(time.Second).blames(t, "AD-14", want...)
	}
}

// A kind of misbehavior counts when every member has borne it.
func TestAD22_EveryMemberHasToBearAKind(t *testing.T) {
	for name, asked := range map[string]struct {
		members []string
		kinds   int64
	}{"both": {[]string{"a", "b"}, 1}, "one": {[]string{"a"}, 0}} {
		t.Run(name, func(t *testing.T) {
			told := newHistory()
			told.header.Members = told.header.Members[:2]
			for _, m := range []string{"a", "b"} {
				told.starts(m, 1).ready(m, 200, 5)
			}
			told.hands(201).pass(time.Minute).polled("a", steady).polled("b", steady)
			told.does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness).pass(time.Second)
			for _, m := range asked.members {
				told.polled(m, steady)
			}
			told.pass(time.Second).does(1, history.BackendHang, history.PhaseHeal)
			saw(t, told.blames(t, "AD-22"), "kinds of misbehavior", asked.kinds)
		})
	}
}

// Members of different programs may list different things, and each has to go on to list
// what it listed.
func TestAD22_ComparesWithTheSameProgram(t *testing.T) {
	told := func(during string) *historyBuilder {
		t := newHistory()
		t.header.Members = t.header.Members[:2]
		t.starts("a", 1).starts("b", 1)
		t.ready("a", 200, 5).ready("b", 200, 5).hands(201).pass(time.Minute).polled("a", apps, steady).polled("b", apps, steady)
		t.stops("b", 1).starts("b", 2)
		t.events[len(t.events)-1].Process.Release = "2"
		t.ready("b", 200, 6).pass(time.Minute).polled("b", apps).polled("a", apps, steady)
		return t.does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness).pass(time.Second).polled("a", apps, during).pass(time.Second)
	}
	told(steady).blames(t, "AD-22")
	told("steady.io/v1:rains").blames(t, "AD-22")
	told(apps).blames(t, "AD-22", "a does not list steady.io/v1")
}

// An endpoint that gives no answer is no proof that it is there.
func TestAD02_AnEndpointWithoutAnAnswerIsUnclear(t *testing.T) {
	for code, want := range map[int]int64{200: 0, 503: 1, 429: 1} {
		told := lone().pass(time.Minute).looksThrough("a", []string{apps}, nil)
		for _, ev := range told.events {
			if d := ev.DiscoveryDocument; d != nil && d.Path == groupsPath+"/apps.io/v1" && code != 200 {
				d.Code, d.Listing, d.Content = code, nil, ""
			}
		}
		r := told.blames(t, "AD-02")
		if r.Obligations.Unclear != want || r.Verdict == check.Pass {
			t.Errorf("%d: %s with %+v", code, r.Verdict, r.Obligations)
		}
	}
}

// A document that harms other groups counts as soon as a server misbehaves, and while another one
// does of which nothing shows that it had an effect.
func TestAD22_LooksBesideAnyMisbehaviorCount(t *testing.T) {
	const gone = "a does not list steady.io/v1"
	borne := func(told *historyBuilder) *historyBuilder { return told.polled("a", apps, steady).pass(time.Second) }
	quiet := func() *historyBuilder { return borne(lone().hands(201).pass(time.Minute)) }
	other := func(told *historyBuilder, phase history.Phase) *historyBuilder {
		told.does(9, history.BackendGarbage, phase)
		told.events[len(told.events)-1].Fault.Group = "other.io"
		return told
	}
	for name, told := range map[string]func(...string) *historyBuilder{
		"before its effect was shown": func(during ...string) *historyBuilder {
			return borne(quiet().does(1, history.BackendHang, history.PhaseInject).polled("a", during...).does(1, history.BackendHang, history.PhaseWitness))
		},
		"beside another one": func(during ...string) *historyBuilder {
			told := borne(other(quiet(), history.PhaseInject).does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness).polled("a", during...))
			return borne(other(told, history.PhaseHeal))
		},
		"answered when it was over": func(during ...string) *historyBuilder {
			told := borne(quiet().does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness))
			from := told.now
			told.pass(time.Second).does(1, history.BackendHang, history.PhaseHeal).polled("a", during...)
			told.events[len(told.events)-1].From = from
			return told
		},
	} {
		t.Run(name, func(t *testing.T) {
			told(apps).blames(t, "AD-22", gone)
			told(apps, steady).blames(t, "AD-22")
		})
	}
}
