package discovery_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// besides is a control plane beside a foreign server that has just begun to flap: it hosts
// apps, and the server of tides.
func besides() *historyBuilder {
	t := lone().hands(201).listsAll("a", apps, tides+"/v1:flows").pass(time.Minute).listsAll("a", apps, tides+"/v1:flows")
	return t.foreign(history.ThirdPartyAppeared, weather, "False", time.Second)
}

func (t *historyBuilder) listsOften(words ...string) *historyBuilder {
	for range 12 {
		t.listsAll("a", words...).pass(time.Second)
	}
	return t
}

func TestAD26_ForeignServersTakeNothingElseOut(t *testing.T) {
	tidesGV, gone := tides+"/v1:flows", []string(nil)
	for name, tc := range map[string]struct {
		tell func(*historyBuilder)
		want []string
	}{
		"nothing":                        {func(t *historyBuilder) { t.listsAll("a", apps, tidesGV, weather+":rains!") }, nil},
		"the foreign one goes":           {func(t *historyBuilder) { t.listsAll("a", apps, tidesGV) }, nil},
		"a built-in one goes":            {func(t *historyBuilder) { t.listsAll("a", tidesGV, weather+":rains!") }, []string{"while the foreign APIService v1.weather.io is in trouble, a does not list apps.io/v1"}},
		"a built-in one is stale":        {func(t *historyBuilder) { t.listsAll("a", apps+"!", tidesGV) }, []string{`while the foreign APIService v1.weather.io is in trouble, a calls apps.io/v1 "Stale"`}},
		"a built-in one loses something": {func(t *historyBuilder) { t.listsAll("a", "apps.io/v1:", tidesGV) }, []string{"lists other resources in apps.io/v1"}},
		"an aggregated one goes":         {func(t *historyBuilder) { t.listsAll("a", apps) }, []string{"while the foreign APIService v1.weather.io is in trouble, a does not list tides.io/v1"}},
		"an aggregated one is stale":     {func(t *historyBuilder) { t.listsAll("a", apps, tidesGV+"!") }, []string{`while the foreign APIService v1.weather.io is in trouble, a calls tides.io/v1 "Stale"`}},
		"an aggregated one that fails": {func(t *historyBuilder) {
			t.does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness).listsAll("a", apps, tidesGV+"!")
		}, nil},
		"an aggregated one that was deleted": {func(t *historyBuilder) {
			t.hands(201)
			t.events[len(t.events)-1].Request.Defines.Versions = gone
			t.listsAll("a", apps)
		}, nil},
		"a new one is not fetched yet": {func(t *historyBuilder) {
			t.exits("a", 1).starts("a", 2).pass(time.Second).ready("a", 200, 6).pass(12*time.Second).listsAll("a", apps, tidesGV+"!")
		}, nil},
		"a new process does not list an aggregated one": {func(t *historyBuilder) {
			t.exits("a", 1).starts("a", 2).pass(time.Second).ready("a", 200, 6).pass(12*time.Second).listsAll("a", apps)
		}, []string{"does not list tides.io/v1"}},
		"no document": {func(t *historyBuilder) {
			t.answered("a", history.DiscoveryDocument{Path: groupsPath, Accept: askedJSON, Code: 500})
		},
			[]string{"while the foreign APIService v1.weather.io is in trouble, a answers 500 for the discovery document"}},
		"busy": {func(t *historyBuilder) {
			t.answered("a", history.DiscoveryDocument{Path: groupsPath, Accept: askedJSON, Code: 503})
		}, nil},
		"while it recovers": {func(t *historyBuilder) {
			t.foreign(history.ThirdPartyChanged, weather, "True", time.Second).pass(time.Minute).listsAll("a", tidesGV)
		}, []string{"apps.io/v1"}},
		"long after": {func(t *historyBuilder) {
			t.foreign(history.ThirdPartyChanged, weather, "True", time.Second).pass(3*time.Minute).listsAll("a", tidesGV)
		}, nil},
		"the plain list loses one": {func(t *historyBuilder) {
			t.looksThrough("a", []string{apps, tidesGV}, nil)
			for i := range t.events {
				if d := t.events[i].DiscoveryDocument; d != nil && d.Listing != nil && d.Listing.Kind == "APIGroupList" {
					d.Listing = listingOf("APIGroupList", []string{tidesGV})
					d.Content = "without"
				}
			}
		}, []string{"a does not have apps.io/v1 in its list of groups that is not aggregated"}},
	} {
		t.Run(name, func(t *testing.T) {
			told := besides()
			tc.tell(told)
			told.pass(time.Minute).ready("a", 200, 7).blames(t, "AD-26", tc.want...)
		})
	}
}

// What was listed before the recorder told that it is foreign is not a built-in one.
func TestAD26_WhatIsToldLateIsForeignAllTheSame(t *testing.T) {
	told := lone().pass(time.Minute).listsAll("a", apps, weather+":rains").foreign(history.ThirdPartyAppeared, weather, "False", 2*time.Second)
	told.pass(30*time.Second).foreign(history.ThirdPartyDeleted, weather, "", time.Second).pass(30*time.Second).listsAll("a", apps)
	told.pass(time.Minute).ready("a", 200, 7).blames(t, "AD-26")
}

// A member that has no document for long takes all groups out; one that is busy for a moment, or
// hindered by a fault, takes none.
func TestAD26_AMemberGivesTheDocumentBesideAForeignServer(t *testing.T) {
	words := []string{apps, tides + "/v1:flows"}
	for name, c := range map[string]struct {
		looks   int
		trouble bool
		want    []string
	}{
		"for long":                  {3, true, []string{"a is ready, and has given no discovery document"}},
		"for a moment":              {1, true, nil},
		"for long, at another time": {3, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := besides().listsOften(words...)
			if !c.trouble {
				told.foreign(history.ThirdPartyDeleted, weather, "", time.Second).pass(2 * time.Minute)
			}
			for range c.looks {
				told.denies(0, 10*time.Second).ready("a", 200, 7)
			}
			told.listsOften(words...).blames(t, "AD-26", c.want...)
		})
	}
}

func TestAD26_NeedsTroubleToPass(t *testing.T) {
	if r := besides().listsOften(apps, tides+"/v1:flows").blames(t, "AD-26"); r.Verdict != check.Pass {
		t.Errorf("%s %q", r.Verdict, r.Reasons)
	}
	quiet := lone().hands(201).pass(time.Minute).listsOften(apps, tides+"/v1:flows")
	if r := quiet.blames(t, "AD-26"); r.Verdict != check.Inconclusive {
		t.Errorf("%s without anything foreign", r.Verdict)
	}
	alone := besides()
	alone.events = alone.events[:2]
	r := alone.foreign(history.ThirdPartyAppeared, weather, "False", time.Second).listsOften(apps).blames(t, "AD-26")
	reason(t, r, "documents with an aggregated server of the harness in them")
}
