package check

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const (
	weather = "weather.io/v1"
	apps    = "apps.io/v1:decks"
)

// foreign tells of an APIService that the harness did not make; it may have been so for
// ago.
func (t *tale) foreign(change, name, available string, ago time.Duration) *tale {
	g, v := parted(name)
	return t.add(history.Event{Kind: history.KindForeign, From: max(t.now-int64(ago), 1), Foreign: &history.Foreign{
		Type: history.ForeignAPIService, Name: v + "." + g, Change: change, Group: g, Version: v, Available: available,
	}})
}

// documentOf lists words as listingOf does; one with an exclamation mark is stale.
func documentOf(words ...string) *history.Listing {
	var names []string
	for _, word := range words {
		names = append(names, strings.TrimSuffix(word, "!"))
	}
	l := listingOf(listKind, names)
	for _, word := range words {
		if name, ok := strings.CutSuffix(word, "!"); ok {
			name, _, _ = strings.Cut(name, ":")
			g, v := parted(name)
			found := versionIn(l, g, v)
			found.Freshness, found.Inventory, found.Resources = history.FreshnessStale, "inventory none", nil
		}
	}
	return l
}

// lists has a member give a document.
func (t *tale) listsAll(member string, words ...string) *tale {
	return t.answered(member, history.Document{Path: groupsPath, Accept: askedJSON, Listing: documentOf(words...)})
}

// looksThrough has a member looked at thoroughly: it gives the document, the list of groups
// of the same, and the codes of the endpoints of group-versions.
func (t *tale) looksThrough(member string, words []string, codes map[string]int) *tale {
	number := int64(len(t.events) + 1)
	all := func(last bool) history.Document {
		return history.Document{Path: groupsPath, Accept: askedJSON, Sweep: number, Last: last, Listing: documentOf(words...)}
	}
	t.answered(member, all(false))
	plain := documentOf(words...)
	plain.Kind = "APIGroupList"
	t.answered(member, history.Document{Path: groupsPath, Accept: "application/json", ContentType: "application/json", Sweep: number, Listing: plain})
	for _, word := range words {
		name, _, _ := strings.Cut(strings.TrimSuffix(word, "!"), ":")
		d := history.Document{Path: groupsPath + "/" + name, Accept: "application/json", Sweep: number, Code: codes[name]}
		if d.Code == 0 {
			d.Code, d.Listing = 200, listingOf("APIResourceList", []string{strings.TrimSuffix(word, "!")})
		}
		t.answered(member, d)
	}
	return t.answered(member, all(true))
}

func TestForeign_TellsSinceWhenAGroupVersionIs(t *testing.T) {
	second := int64(time.Second)
	for name, tc := range map[string]struct {
		tell func(*tale)
		at   int64
		gv   string
		want bool
	}{
		"before it may have been there": {func(t *tale) { t.foreign(history.ForeignAppeared, weather, "True", 5*time.Second) }, 94 * second, weather, false},
		"when it may have been there":   {func(t *tale) { t.foreign(history.ForeignAppeared, weather, "True", 5*time.Second) }, 96 * second, weather, true},
		"there before the run":          {func(t *tale) { t.foreign(history.ForeignPresent, weather, "True", 100*time.Second) }, 1 * second, weather, true},
		"another version":               {func(t *tale) { t.foreign(history.ForeignPresent, weather, "True", 0) }, 101 * second, "weather.io/v2", false},
		"another group":                 {func(t *tale) { t.foreign(history.ForeignPresent, weather, "True", 0) }, 101 * second, "apps.io/v1", false},
		"just gone": {func(t *tale) {
			t.foreign(history.ForeignPresent, weather, "True", 0).pass(10*time.Second).foreign(history.ForeignWent, weather, "", time.Second)
		}, 119 * second, weather, true},
		"long gone": {func(t *tale) {
			t.foreign(history.ForeignPresent, weather, "True", 0).pass(10*time.Second).foreign(history.ForeignWent, weather, "", time.Second)
		}, 121 * second, weather, false},
		"any version of a custom resource": {func(t *tale) {
			t.add(history.Event{Kind: history.KindForeign, From: t.now, Foreign: &history.Foreign{Type: history.ForeignCRD, Name: "rains.weather.io", Change: history.ForeignAppeared, Group: "weather.io", Resource: "rains"}})
		}, 101 * second, "weather.io/v7", true},
		"defined by the harness": {func(t *tale) { t.foreign(history.ForeignAppeared, tides+"/v1", "True", 0).hands(201) }, 101 * second, tides + "/v1", false},
		"a Lease": {func(t *tale) {
			t.add(history.Event{Kind: history.KindForeign, Foreign: &history.Foreign{Type: history.ForeignLease, Name: "ns/x", Change: history.ForeignAppeared}})
		}, 101 * second, "/", false},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone()
			told.now = 100 * second
			tc.tell(told)
			g, v := parted(tc.gv)
			if got := told.world().isForeign("a", g, v, tc.at); got != tc.want {
				t.Errorf("foreign: %v", got)
			}
		})
	}
}

// A member that was frozen while something foreign went may show it for a while after.
func TestForeign_AFrozenMemberMayShowWhatIsGone(t *testing.T) {
	told := lone().foreign(history.ForeignPresent, weather, "True", 0).pass(time.Second).froze("a", history.ProcessPaused).
		foreign(history.ForeignWent, weather, "", 0).pass(time.Minute).froze("a", history.ProcessResumed).ready("a", 200, 5)
	w := told.world()
	if !w.isForeign("a", "weather.io", "v1", w.Now+int64(5*time.Second)) || w.isForeign("a", "weather.io", "v1", w.Now+int64(15*time.Second)) {
		t.Error("what a frozen member shows is not foreign for the time that it has to catch up")
	}
}

// stories in which a group-version does what a flapping server may have it do: each must be
// blamed where the group-version is a built-in one, and must not where it is foreign.
var flapping = map[requirement.ID]struct {
	tell  func(t *tale, name string)
	wrong string
}{
	"AD-02": {func(t *tale, name string) {
		t.pass(time.Minute).looksThrough("a", []string{apps, name + ":rains"}, map[string]int{name: 404})
	}, "does not tell of its resources: it answered 404"},
	"AD-10": {func(t *tale, name string) {
		words := []string{apps}
		t.pass(time.Minute).looksThrough("a", words, nil)
		// It is served, and not in the document.
		at := len(t.events) - 1
		last := t.events[at]
		t.events = t.events[:at]
		d := history.Document{Path: groupsPath + "/" + name, Accept: "application/json", Sweep: last.Document.Sweep, Listing: listingOf("APIResourceList", []string{name + ":rains"})}
		t.answered("a", d)
		again := *last.Document
		t.answered("a", again)
	}, "but the aggregated document at /apis does not have it"},
	"AD-14": {func(t *tale, name string) {
		t.does(1, history.BackendHang, history.PhaseInject).hands(201).does(1, history.BackendHang, history.PhaseWitness).pass(time.Minute)
		t.listsAll("a", apps, tides+"/v1:flows!", name+":rains!")
	}, `"Stale", which it hosts itself`},
	"AD-15": {func(t *tale, name string) {
		t.listsAll("a", apps).pass(time.Minute).looksThrough("a", []string{apps, name + ":rains"}, nil)
	}, "when it was ready first it did not list it"},
	"AD-22": {func(t *tale, name string) {
		t.hands(201).pass(time.Minute).listsAll("a", apps, name+":rains", tides+"/v1:flows")
		t.does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness).pass(time.Second).listsAll("a", apps, name+":rains!", tides+"/v1:flows!")
	}, `calls `},
	"AD-25": {func(t *tale, name string) {
		t.pass(time.Minute).looksThrough("a", []string{apps, name + ":rains!"}, map[string]int{name: 500})
	}, `"Stale"`},
}

func TestForeign_WhatFlapsIsBlamedOnlyWhereItIsNotForeign(t *testing.T) {
	for id, story := range flapping {
		for name, tc := range map[string]struct {
			version string
			before  func(*tale)
			after   func(*tale)
			want    []string
		}{
			"a built-in one":     {weather, func(*tale) {}, func(*tale) {}, []string{story.wrong}},
			"there before":       {weather, func(t *tale) { t.foreign(history.ForeignPresent, weather, "True", 0) }, func(*tale) {}, nil},
			"told of afterwards": {weather, func(*tale) {}, func(t *tale) { t.foreign(history.ForeignAppeared, weather, "True", 2*time.Minute) }, nil},
			"beside a foreign one": {"other.io/v1", func(t *tale) { t.foreign(history.ForeignPresent, weather, "False", 0) }, func(*tale) {},
				[]string{story.wrong}},
			"gone long before": {weather, func(t *tale) {
				t.foreign(history.ForeignPresent, weather, "True", 0).foreign(history.ForeignWent, weather, "", 0).pass(time.Minute)
			}, func(*tale) {}, []string{story.wrong}},
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
		told := tell()
		for _, member := range []string{"a", "b", "c"} {
			told.starts(member, 1).ready(member, 200, 5)
		}
		if tc.foreign {
			told.foreign(history.ForeignPresent, weather, "True", 0)
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
	given := func(l *history.Listing, change func(*history.Document)) history.Document {
		d := history.Document{Path: groupsPath, Accept: askedJSON, Sweep: 7, Listing: l}
		if change != nil {
			change(&d)
		}
		return d
	}
	tagOf := func(l *history.Listing) string { return `"` + contentOf(l) + `"` }
	for name, tc := range map[string]struct {
		id      requirement.ID
		between history.Document
		foreign bool
		want    []string
	}{
		"AD-06 foreign":                     {"AD-06", given(other, func(d *history.Document) { d.Accept = strings.Replace(askedJSON, "json", "yaml", 1) }), true, nil},
		"AD-06 not foreign":                 {"AD-06", given(other, func(d *history.Document) { d.Accept = strings.Replace(askedJSON, "json", "yaml", 1) }), false, []string{"in application/yaml"}},
		"AD-06 another":                     {"AD-06", given(another, func(d *history.Document) { d.Accept = strings.Replace(askedJSON, "json", "yaml", 1) }), true, []string{"in application/yaml"}},
		"AD-08 full":                        {"AD-08", given(other, func(d *history.Document) { d.IfNoneMatch = tagOf(first) }), true, nil},
		"AD-08 not foreign":                 {"AD-08", given(other, func(d *history.Document) { d.IfNoneMatch = tagOf(first) }), false, []string{"which is the document's tag, and answered 200"}},
		"AD-08 another":                     {"AD-08", given(another, func(d *history.Document) { d.IfNoneMatch = tagOf(first) }), true, []string{"which is the document's tag, and answered 200"}},
		"AD-08 no change of the one before": {"AD-08", given(nil, func(d *history.Document) { d.IfNoneMatch, d.Code = tagOf(other), 304 }), true, nil},
		"AD-08 no change, not foreign":      {"AD-08", given(nil, func(d *history.Document) { d.IfNoneMatch, d.Code = tagOf(other), 304 }), false, []string{"which is not the document's tag, and answered 304"}},
		"AD-09 weak":                        {"AD-09", given(other, func(d *history.Document) { d.IfNoneMatch = "W/" + tagOf(first) }), true, nil},
		"AD-09 weak, not foreign":           {"AD-09", given(other, func(d *history.Document) { d.IfNoneMatch = "W/" + tagOf(first) }), false, []string{"matches, and answered 200"}},
		"AD-09 asterisk":                    {"AD-09", given(other, func(d *history.Document) { d.IfNoneMatch = "*" }), true, []string{"matches, and answered 200"}},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone()
			if tc.foreign {
				told.foreign(history.ForeignPresent, weather, "True", 0)
			}
			told.pass(time.Minute)
			give := func(d history.Document) {
				told.answered("a", d)
				if l := d.Listing; l != nil {
					told.events[len(told.events)-1].Document.ETag = tagOf(l)
				}
			}
			alone := given(other, nil)
			alone.Sweep = 0
			give(alone)
			give(given(first, nil))
			give(tc.between)
			give(given(first, func(d *history.Document) { d.Last = true }))
			told.pass(time.Minute).ready("a", 200, 6).blames(t, tc.id, tc.want...)
		})
	}
}
