package discovery_test

import (
	"slices"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// The document of a is the union with what its peer c hosts alone; all other endpoints of a
// tell of a itself.
func TestUnionIsComparedWithoutWhatPeersHost(t *testing.T) {
	const ghost = "z.io/v1:ghosts"
	masts := func(s said) said {
		s.local = []string{"x.io/v1beta1:ships", "y.io/v1:decks,masts"}
		s.own = s.local
		return s
	}
	merged := []string{"x.io/v1:ships", "x.io/v1beta1:ships", "y.io/v1:decks,masts"}
	shows, leaves := requirement.MustBound("AD-23", "peersShow"), requirement.MustBound("AD-24", "peersLeave")
	for name, tc := range map[string]struct {
		peer   func(said) said
		change func(*historyBuilder)
		said   func(*said)
		// breaks is the group-version that AD-02 and AD-25 break with; inventories
		// is whether only AD-25 breaks, stray whether b does not list the same.
		breaks      string
		inventories bool
		stray       bool
	}{
		"as it should be":                  {},
		"what no peer hosts":               {said: func(s *said) { s.union = append(slices.Clone(both), ghost) }, breaks: "z.io/v1", stray: true},
		"its own, and not in the list":     {said: func(s *said) { s.local = both }, breaks: "x.io/v1beta1"},
		"what a peer adds to a version":    {peer: masts, said: func(s *said) { s.union = merged }},
		"what no peer adds to a version":   {said: func(s *said) { s.union = merged }, inventories: true, stray: true},
		"more than a peer adds":            {peer: masts, said: func(s *said) { s.union = []string{"x.io/v1:ships", "x.io/v1beta1:ships", "y.io/v1:decks,masts,sails"} }, inventories: true, stray: true},
		"of a peer that left just now":     {change: func(t *historyBuilder) { t.stops("c", 1).leaves("c", 40).pass(leaves - time.Second) }},
		"of a peer that left long ago":     {change: func(t *historyBuilder) { t.stops("c", 1).leaves("c", 40).pass(leaves + time.Second) }, breaks: "x.io/v1beta1"},
		"of a peer whose Lease is there":   {change: func(t *historyBuilder) { t.stops("c", 1).pass(time.Hour) }},
		"of a peer of an unknown release":  {change: func(t *historyBuilder) { t.starts("c", 2).ready("c", 200, 40).pass(shows + time.Second) }},
		"of a peer that was upgraded":      {change: upgraded(shows - time.Second)},
		"of a peer that was upgraded long": {change: upgraded(shows + time.Second), breaks: "x.io/v1beta1"},
	} {
		t.Run(name, func(t *testing.T) {
			told := fleet().pass(time.Minute)
			peer := honest("c")
			if tc.peer != nil {
				peer = tc.peer(peer)
			}
			told.looksAt("b", honest("b")).looksAt("c", peer)
			if tc.change != nil {
				tc.change(told)
			}
			s := honest("a")
			if tc.said != nil {
				tc.said(&s)
			}
			told.looksAt("a", s).typed()
			var endpoints, documents []string
			switch {
			case tc.breaks != "":
				endpoints = []string{"a lists " + tc.breaks + ", but not in the documents"}
				documents = []string{"a lists " + tc.breaks + ", but not in the list of groups"}
			case tc.inventories:
				documents = []string{"a lists other resources in y.io/v1 than /apis/y.io/v1 does"}
			}
			told.blames(t, "AD-02", endpoints...)
			if tc.stray {
				documents = append(documents, "b and a, which run the same release, have different documents")
			}
			told.blames(t, "AD-25", documents...)
		})
	}
}

// typed has answers of plain documents tell what they are, and c run a release of its own.
func (t *historyBuilder) typed() *historyBuilder {
	for _, ev := range t.events {
		if ev.DiscoveryDocument != nil && ev.DiscoveryDocument.Path == groupsPath && ev.DiscoveryDocument.Accept == "" {
			ev.DiscoveryDocument.ContentType = "application/json"
		}
		if ev.Process != nil && ev.Member == "c" {
			ev.Process.Release = "0"
		}
	}
	return t
}

// upgraded has c run the newer release, for as long as is given.
func upgraded(d time.Duration) func(*historyBuilder) {
	return func(t *historyBuilder) {
		s := honest("c")
		s.union, s.local, s.own = newer, newer, newer
		t.starts("c", 2).ready("c", 200, 40).looksAt("c", s).pass(d)
	}
}

// Members of one release learn of a peer at different times.
func TestAD25ComparesMembersWithoutWhatPeersHost(t *testing.T) {
	const differ = "a and b, which run the same release, have different documents"
	for name, tc := range map[string]struct {
		union []string
		want  []string
	}{
		"both know the peer":       {both, nil},
		"only one knows the peer":  {newer, nil},
		"one lists something else": {append(slices.Clone(both), "z.io/v1:ghosts"), []string{"b lists z.io/v1, but not in the list", differ}},
		"one lacks its own":        {both[:2], []string{"b lists y.io/v1 only in the list", differ}},
	} {
		t.Run(name, func(t *testing.T) {
			s := honest("b")
			s.union = tc.union
			fleet().pass(time.Minute).looksAt("c", honest("c")).looksAt("a", honest("a")).looksAt("b", s).typed().blames(t, "AD-25", tc.want...)
		})
	}
}

// measured is a thorough look with the counter of aggregations at its beginning and end.
func (t *historyBuilder) measured(member string, s said, count int64) *historyBuilder {
	metrics := history.DiscoveryDocument{Path: history.MetricsPath, Aggregations: &count, Sweep: int64(len(t.events) + 2)}
	t.answered(member, metrics).looksAt(member, s)
	t.events[len(t.events)-1].DiscoveryDocument.Last = false
	metrics.Last = true
	return t.answered(member, metrics)
}

// A union that changes because a peer's part does is counted elsewhere, or not at all.
func TestAD21CountsWhatTheMemberHosts(t *testing.T) {
	const uncounted = "a has another document than before and counted no aggregation"
	alone := honest("a")
	alone.union = newer
	more := honest("a")
	more.local = append(slices.Clone(newer), "z.io/v1:masts")
	more.own, more.union = more.local, append(slices.Clone(both), "z.io/v1:masts")
	for name, tc := range map[string]struct {
		then  said
		count int64
		want  []string
	}{
		"a peer's part goes":                      {alone, 5, nil},
		"a peer's part goes, and is counted":      {alone, 6, nil},
		"its own part changes":                    {more, 5, []string{uncounted}},
		"its own part changes, and is counted":    {more, 6, nil},
		"its own part changes as the peer's goes": {said{union: more.local, local: more.local, own: more.own}, 5, []string{uncounted}},
	} {
		t.Run(name, func(t *testing.T) {
			told := fleet().pass(time.Minute).measured("a", honest("a"), 5).pass(time.Minute).measured("a", tc.then, tc.count)
			told.blames(t, "AD-21", tc.want...)
		})
	}
}
