package discovery_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// stories in which a group-version does what a flapping server may have it do: each must be
// blamed where the group-version is a built-in one, and must not where it is foreign.
var flapping = map[requirement.ID]struct {
	tell  func(t *historyBuilder, name string)
	wrong string
}{
	"AD-02": {func(t *historyBuilder, name string) {
		t.pass(time.Minute).looksThrough("a", []string{apps, name + ":rains"}, map[string]int{name: 404})
	}, "does not tell of its resources: it answered 404"},
	"AD-10": {func(t *historyBuilder, name string) {
		words := []string{apps}
		t.pass(time.Minute).looksThrough("a", words, nil)
		// It is served, and not in the document.
		at := len(t.events) - 1
		last := t.events[at]
		t.events = t.events[:at]
		d := history.DiscoveryDocument{Path: groupsPath + "/" + name, Accept: "application/json", Sweep: last.DiscoveryDocument.Sweep, Listing: listingOf("APIResourceList", []string{name + ":rains"})}
		t.answered("a", d)
		again := *last.DiscoveryDocument
		t.answered("a", again)
	}, "but the aggregated document at /apis does not have it"},
	"AD-14": {func(t *historyBuilder, name string) {
		t.does(1, history.BackendHang, history.PhaseInject).hands(201).does(1, history.BackendHang, history.PhaseWitness).pass(time.Minute)
		t.listsAll("a", apps, tides+"/v1:flows!", name+":rains!")
	}, `"Stale", which it hosts itself`},
	"AD-15": {func(t *historyBuilder, name string) {
		t.listsAll("a", apps).pass(time.Minute).looksThrough("a", []string{apps, name + ":rains"}, nil)
	}, "the first document of a when it was ready does not list "},
	"AD-22": {func(t *historyBuilder, name string) {
		t.hands(201).pass(time.Minute).listsAll("a", apps, name+":rains", tides+"/v1:flows")
		t.does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness).pass(time.Second).listsAll("a", apps, name+":rains!", tides+"/v1:flows!")
	}, `calls `},
	"AD-25": {func(t *historyBuilder, name string) {
		t.pass(time.Minute).looksThrough("a", []string{apps, name + ":rains!"}, map[string]int{name: 500})
	}, `"Stale"`},
}

func TestForeign_WhatFlapsIsBlamedOnlyWhereItIsNotForeign(t *testing.T) {
	for id, story := range flapping {
		for name, tc := range map[string]struct {
			version string
			before  func(*historyBuilder)
			after   func(*historyBuilder)
			want    []string
		}{
			"a built-in one":     {weather, func(*historyBuilder) {}, func(*historyBuilder) {}, []string{story.wrong}},
			"there before":       {weather, func(t *historyBuilder) { t.foreign(history.ThirdPartyPresent, weather, "True", 0) }, func(*historyBuilder) {}, nil},
			"told of afterwards": {weather, func(*historyBuilder) {}, func(t *historyBuilder) { t.foreign(history.ThirdPartyAppeared, weather, "True", 2*time.Minute) }, nil},
			"beside a foreign one": {"other.io/v1", func(t *historyBuilder) { t.foreign(history.ThirdPartyPresent, weather, "False", 0) }, func(*historyBuilder) {},
				[]string{story.wrong}},
			"gone long before": {weather, func(t *historyBuilder) {
				t.foreign(history.ThirdPartyPresent, weather, "True", 0).foreign(history.ThirdPartyDeleted, weather, "", 0).pass(time.Minute)
			}, func(*historyBuilder) {}, []string{story.wrong}},
		} {
			t.Run(string(id)+"/"+name, func(t *testing.T) {
				told := lone()
				tc.before(told)
				story.tell(told, tc.version)
				tc.after(told.pass(2 * time.Second))
				told.pass(time.Minute).ready("a", 200, 6).blames(t, id, tc.want...)
			})
		}
	}
}

// Members of one release have one document, but for what is foreign.
func TestForeign_MembersMayDifferInIt(t *testing.T) {
	for _, tc := range []struct {
		foreign bool
		want    []string
	}{{true, nil}, {false, []string{`"Stale"`, "have different documents"}}} {
		told := newHistory()
		for _, member := range []string{"a", "b", "c"} {
			told.starts(member, 1).ready(member, 200, 5)
		}
		if tc.foreign {
			told.foreign(history.ThirdPartyPresent, weather, "True", 0)
		}
		told.pass(time.Minute).looksThrough("a", []string{apps, weather + ":rains"}, nil).looksThrough("b", []string{apps, weather + ":rains!"}, map[string]int{weather: 500})
		told.pass(time.Minute).ready("a", 200, 6).blames(t, "AD-25", tc.want...)
	}
}

// A tag that another content had a moment before or after is no breach if only what is
// foreign differs.
func TestForeign_TagsFollowIt(t *testing.T) {
	first, other := documentOf(apps, weather+":rains"), documentOf(apps, weather+":rains!")
	another := documentOf("apps.io/v1:masts", weather+":rains")
	given := func(l *history.Listing, change func(*history.DiscoveryDocument)) history.DiscoveryDocument {
		d := history.DiscoveryDocument{Path: groupsPath, Accept: askedJSON, Sweep: 7, Listing: l}
		if change != nil {
			change(&d)
		}
		return d
	}
	tagOf := func(l *history.Listing) string { return `"` + fmt.Sprint(l.Groups) + `"` }
	for name, tc := range map[string]struct {
		id      requirement.ID
		between history.DiscoveryDocument
		foreign bool
		want    []string
	}{
		"AD-06 foreign":                     {"AD-06", given(other, func(d *history.DiscoveryDocument) { d.Accept = strings.Replace(askedJSON, "json", "yaml", 1) }), true, nil},
		"AD-06 not foreign":                 {"AD-06", given(other, func(d *history.DiscoveryDocument) { d.Accept = strings.Replace(askedJSON, "json", "yaml", 1) }), false, []string{"in application/yaml"}},
		"AD-06 another":                     {"AD-06", given(another, func(d *history.DiscoveryDocument) { d.Accept = strings.Replace(askedJSON, "json", "yaml", 1) }), true, []string{"in application/yaml"}},
		"AD-08 full":                        {"AD-08", given(other, func(d *history.DiscoveryDocument) { d.IfNoneMatch = tagOf(first) }), true, nil},
		"AD-08 not foreign":                 {"AD-08", given(other, func(d *history.DiscoveryDocument) { d.IfNoneMatch = tagOf(first) }), false, []string{"which is the document's tag, and gave the document: it answered 200"}},
		"AD-08 another":                     {"AD-08", given(another, func(d *history.DiscoveryDocument) { d.IfNoneMatch = tagOf(first) }), true, []string{"which is the document's tag, and gave the document: it answered 200"}},
		"AD-08 no change of the one before": {"AD-08", given(nil, func(d *history.DiscoveryDocument) { d.IfNoneMatch, d.Code = tagOf(other), 304 }), true, nil},
		"AD-08 no change, not foreign":      {"AD-08", given(nil, func(d *history.DiscoveryDocument) { d.IfNoneMatch, d.Code = tagOf(other), 304 }), false, []string{"which is not the document's tag, and did not give the document: it answered 304"}},
		"AD-09 weak":                        {"AD-09", given(other, func(d *history.DiscoveryDocument) { d.IfNoneMatch = "W/" + tagOf(first) }), true, nil},
		"AD-09 weak, not foreign":           {"AD-09", given(other, func(d *history.DiscoveryDocument) { d.IfNoneMatch = "W/" + tagOf(first) }), false, []string{"matches, and did not answer 304: it answered 200"}},
		"AD-09 asterisk":                    {"AD-09", given(other, func(d *history.DiscoveryDocument) { d.IfNoneMatch = "*" }), true, []string{"matches, and did not answer 304: it answered 200"}},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone()
			if tc.foreign {
				told.foreign(history.ThirdPartyPresent, weather, "True", 0)
			}
			told.pass(time.Minute)
			give := func(d history.DiscoveryDocument) {
				told.answered("a", d)
				if l := d.Listing; l != nil {
					told.events[len(told.events)-1].DiscoveryDocument.ETag = tagOf(l)
				}
			}
			alone := given(other, nil)
			alone.Sweep = 0
			give(alone)
			give(given(first, nil))
			give(tc.between)
			give(given(first, func(d *history.DiscoveryDocument) { d.Last = true }))
			told.pass(time.Minute).ready("a", 200, 6).blames(t, tc.id, tc.want...)
		})
	}
}
