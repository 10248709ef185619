package discovery

import (
	"slices"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// at is when the events of observed are: the first one that a test gives is at the hundredth
// second, the next one a second later.
func at(event int) int64 { return int64(100+event) * int64(time.Second) }

func defines(verb string, code int, versions ...string) history.Event {
	return history.Event{Request: &history.Request{Verb: verb, Code: code, Defines: &history.Definition{Group: "lights.io", Resource: "lamps", Versions: versions}}}
}

func TestDefinition_WhatWasSentWithoutAnAnswerMayBeThere(t *testing.T) {
	f := observed(defines("create", 201, "v1"), defines("update", 0, "v2"), defines("update", 200, "v3"), defines("update", 409, "v4"), defines("delete", 404))
	d := f.definitions[0]
	if len(f.definitions) != 1 || len(d.changes) != 4 {
		t.Fatalf("there are %d definitions, the first with %d changes", len(f.definitions), len(d.changes))
	}
	for name, tc := range map[string]struct {
		version  string
		from, to int64
		want     bool
	}{
		"before it was sent":             {"v1", 0, at(0) - 1, false},
		"since it was sent":              {"v1", at(0), at(0), true},
		"until the next certain change":  {"v1", at(1) + 1, at(2), true},
		"after the next certain change":  {"v1", at(2) + 1, at(3), false},
		"one whose outcome is not known": {"v2", at(1), at(1), true},
		"one that was refused":           {"v4", 0, at(9), false},
		"until it was deleted":           {"v3", at(4), at(9), true},
		"after it was deleted":           {"v3", at(4) + 1, at(9), false},
	} {
		if got := d.possible(tc.version, tc.to, func(over int64) bool { return tc.from <= over }); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	if d.certain(at(0)) == nil || !d.uncertain(at(1)) || d.uncertain(at(2)) {
		t.Error("the outcome of the second change alone is not known")
	}
	if last := d.latest(at(9)); !slices.Equal(last.before, []string{"v3"}) || !slices.Equal(last.ever, []string{"v1", "v2", "v3"}) || last.begun != at(0) {
		t.Errorf("before the deletion there were %v, and ever %v since %d", last.before, last.ever, last.begun)
	}
	if f.settled(at(5), at(6)) || !f.settled(at(4)+int64(showsWithin()), at(60)) {
		t.Error("nothing is settled until the last change has to show")
	}
}

func misbehaves(phase history.Phase, action string) history.Event {
	return history.Event{Fault: &history.Fault{Type: history.FaultBackend, Group: "tides.io", Action: action, Phase: phase, Proof: "asked"}}
}

func TestOutage_OneThatFollowsAtOnceIsPartOfTheSameSilence(t *testing.T) {
	hang, refuse, garbage := history.BackendHang, history.BackendRefuse, history.BackendGarbage
	for name, tc := range map[string]struct {
		events []history.Event
		dead   int64
	}{
		"without a healing between":      {[]history.Event{misbehaves(history.PhaseInject, hang), misbehaves(history.PhaseInject, refuse)}, at(0)},
		"a second after the healing":     {[]history.Event{misbehaves(history.PhaseInject, hang), misbehaves(history.PhaseHeal, hang), misbehaves(history.PhaseInject, refuse)}, at(2)},
		"after something like an answer": {[]history.Event{misbehaves(history.PhaseInject, garbage), misbehaves(history.PhaseInject, refuse)}, at(1)},
	} {
		f := observed(tc.events...)
		last := f.outages[len(f.outages)-1]
		if last.dead != tc.dead || f.outages[0].until == fact.Forever {
			t.Errorf("%s: no answer since %d, want %d; the first lasts until %d", name, last.dead, tc.dead, f.outages[0].until)
		}
	}
	f := observed(misbehaves(history.PhaseInject, hang), misbehaves(history.PhaseWitness, hang), misbehaves(history.PhaseHeal, hang))
	for name, tc := range map[string]struct{ got, want bool }{
		"active before":                      {len(f.active(0, at(0)-1)) > 0, false},
		"active when it begins":              {len(f.active(at(0), at(0))) > 0, true},
		"active when it is healed":           {len(f.active(at(2), at(2))) > 0, false},
		"misbehaves in another group":        {f.misbehaves("lights.io", at(1)) != nil, false},
		"behind until a server has to fetch": {f.behind("tides.io", at(2)+int64(recoversWithin())-1, at(200)), true},
		"behind after that":                  {f.behind("tides.io", at(2)+int64(recoversWithin()), at(200)), false},
		"witnessed":                          {f.outages[0].bitten == at(1), true},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
		}
	}
}

func listed(versions ...history.ListedVersion) *history.Listing {
	return &history.Listing{Kind: listKind, Groups: []history.ListedGroup{{Name: "x.io", Versions: versions}}}
}

func TestOtherwise_OneMayBecomeCurrentAndNothingElse(t *testing.T) {
	of := groupVersion{"x.io", "v1"}
	current, stale := history.FreshnessCurrent, history.FreshnessStale
	version := func(freshness, inventory string) []history.ListedVersion {
		return []history.ListedVersion{{Version: "v1", Freshness: freshness, Inventory: inventory}}
	}
	for name, tc := range map[string]struct {
		before, after []history.ListedVersion
		same          bool
		want          string
	}{
		"as it was":          {version(current, "ships"), version(current, "ships"), true, ""},
		"gone":               {version(current, "ships"), nil, true, "does not list x.io/v1"},
		"stale and gone":     {version(stale, "ships"), nil, true, "does not list x.io/v1"},
		"become stale":       {version(current, "ships"), version(stale, "ships"), true, `calls x.io/v1 "Stale"`},
		"become current":     {version(stale, "none"), version(current, "ships"), true, ""},
		"of other resources": {version(current, "ships"), version(current, "decks"), true, "lists other resources in x.io/v1"},
		"of other members":   {version(current, "ships"), version(current, "decks"), false, ""},
	} {
		f := begin(fact.NewHistory(history.Header{}))
		if got := f.read(listed(tc.after...)).otherwise(f.read(listed(tc.before...)), of, tc.same); got != tc.want {
			t.Errorf("%s: it %s, want %q", name, got, tc.want)
		}
	}
}

func TestListing_ContentsAreTheSameInAnyOrder(t *testing.T) {
	a, b := history.ListedVersion{Version: "v1", Inventory: "ships"}, history.ListedVersion{Version: "v2", Inventory: "decks"}
	f := begin(fact.NewHistory(history.Header{}))
	one, other := f.read(listed(a, b)), f.read(listed(b, a))
	if one.contents != other.contents || one.order == other.order {
		t.Error("the order must not change the contents")
	}
	second := func(of groupVersion) bool { return of.version == "v2" }
	alone, _ := one.without(second)
	if only := f.read(listed(a)); alone != only.contents || one.contents == only.contents {
		t.Error("what is left out must not count")
	}
	if none := (*listing)(nil); none.version(groupVersion{"x.io", "v1"}) != nil || none.current(groupVersion{}) || none.stale(groupVersion{}) || len(none.all()) > 0 {
		t.Error("where there is no document nothing is listed")
	}
}

func TestHosts_WhatWasAskedForInVainIsNotKnown(t *testing.T) {
	of := groupVersion{"x.io", "v1"}
	f := begin(fact.NewHistory(history.Header{}))
	ships := history.ListedVersion{Version: "v1", Inventory: "ships", Resources: []history.ListedResource{{Name: "ships"}}}
	own := &answer{listing: f.read(listed(ships))}
	own.Code = 200
	refused := func(code int) *answer {
		a := &answer{}
		a.Code = code
		return a
	}
	for name, tc := range map[string]struct {
		local    *listing
		endpoint *answer
		resource string
		want     fact.Truth
	}{
		"its own document has it":         {f.read(listed()), own, "ships", fact.Yes},
		"its own document lacks it":       {own.listing, own, "decks", fact.No},
		"it has no such document":         {own.listing, refused(404), "ships", fact.No},
		"it was busy":                     {own.listing, refused(503), "ships", fact.Unknown},
		"it lists it, and was not asked":  {own.listing, nil, "ships", fact.Unknown},
		"it lists nothing, and not asked": {f.read(listed()), nil, "ships", fact.No},
	} {
		s := &sweep{local: &answer{listing: tc.local}, endpoints: map[groupVersion]*answer{}}
		if tc.endpoint != nil {
			s.endpoints[of] = tc.endpoint
		}
		if got := s.hosts(of, tc.resource); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
