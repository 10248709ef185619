package discovery_test

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

var (
	whole  = []string{"apps.io/v1:decks,masts", "x.io/v1:ships"}
	single = whole[1:]
)

// changed is a control plane of one member at which the last of several changes was long ago.
func changed() *historyBuilder {
	t := lone()
	for range 3 {
		t.serves("lamps", 201, "v1").serves("lamps", 200)
	}
	return t.pass(time.Minute)
}

// Members of one release that have other features hosted something else to begin with.
func TestAD25_MembersWithoutAFeatureMayDiffer(t *testing.T) {
	for feature, want := range map[string][]string{"": {"have different documents"}, history.FeatureStorageVersions: nil} {
		told := fleet().pass(time.Minute)
		if feature != "" {
			told.events[3].Process.DisabledFeatures = []string{feature}
		}
		told.looksAt("a", said{union: whole, local: whole, own: whole}).looksAt("b", said{union: single, local: single, own: single}).blames(t, "AD-25", want...)
	}
}

// A document that was as it should be stays so until something is changed.
func TestAD25_ADocumentStaysAsItConverged(t *testing.T) {
	for name, c := range map[string]struct {
		then func(*historyBuilder)
		want []string
	}{
		"it stays": {func(t *historyBuilder) { t.polled("a", whole...) }, nil},
		"all documents lose a group": {func(t *historyBuilder) { t.looksAt("a", said{union: single, own: single}) },
			[]string{"does not list apps.io/v1, which it had listed as its own"}},
		"a document loses a resource":      {func(t *historyBuilder) { t.polled("a", "apps.io/v1:decks", single[0]) }, []string{"has lost a resource of apps.io/v1: masts is missing"}},
		"a document calls something stale": {func(t *historyBuilder) { t.listsAll("a", whole[0]+"!", single[0]) }, []string{`calls apps.io/v1 "Stale"`}},
		"a peer may add to it":             {func(t *historyBuilder) { t.polled("a", "apps.io/v1:decks,masts,sails", single[0], "y.io/v1:decks") }, nil},
		"another process has another":      {func(t *historyBuilder) { t.stops("a", 1).starts("a", 2).ready("a", 200, 6).polled("a", single...) }, nil},
		"something is changed":             {func(t *historyBuilder) { t.serves("lamps", 201, "v1").serves("lamps", 200).polled("a", single...) }, nil},
		"it was foreign": {func(t *historyBuilder) {
			t.foreign(history.ThirdPartyDeleted, "apps.io/v1", "", time.Second).polled("a", single...)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := changed()
			if name == "it was foreign" {
				told.foreign(history.ThirdPartyPresent, "apps.io/v1", "True", time.Minute)
			}
			told.looksAt("a", said{union: whole, own: whole}).pass(time.Minute)
			c.then(told)
			told.pass(time.Second).blames(t, "AD-25", c.want...)
		})
	}
}

func TestAD25_AGroupIsListedOnce(t *testing.T) {
	told := changed().looksAt("a", said{union: whole, own: whole})
	for _, ev := range told.events {
		if d := ev.DiscoveryDocument; d != nil && d.Listing != nil && d.Listing.Kind == listKind && len(d.Listing.Groups) > 0 {
			d.Listing.Groups = append(d.Listing.Groups, d.Listing.Groups[0])
		}
	}
	told.blames(t, "AD-25", "a lists the group apps.io twice")
}

// looksAtCore has a member looked at that lists versions of the core group in the aggregated
// document, names others in the plain one, and tells of pods in v1.
func (t *historyBuilder) looksAtCore(aggregated, plain []string) *historyBuilder {
	number := int64(len(t.events) + 1)
	ask := func(path, accept string, last bool, kind string, words []string) {
		t.answered("a", history.DiscoveryDocument{Path: path, Accept: accept, Sweep: number, Last: last, Listing: listingOf(kind, words)})
	}
	ask(corePath, askedJSON, false, listKind, aggregated)
	ask(groupsPath, askedJSON, false, listKind, single)
	ask(corePath, "", false, "APIVersions", plain)
	ask(groupsPath, "", false, "APIGroupList", single)
	ask(corePath+"/v1", "", false, "APIResourceList", []string{"/v1:pods"})
	ask(groupsPath+"/x.io/v1", "", false, "APIResourceList", single)
	ask(corePath, askedJSON, false, listKind, aggregated)
	ask(groupsPath, askedJSON, true, listKind, single)
	return t
}

// The core group has documents of its own, which agree as well.
func TestAD25_ComparesTheDocumentsOfTheCoreGroup(t *testing.T) {
	v1 := []string{"/v1:pods"}
	for name, c := range map[string]struct {
		aggregated, plain []string
		want              string
	}{
		"alike":                              {v1, v1, ""},
		"a resource that is not there":       {[]string{"/v1:pods,ghosts"}, v1, "lists other resources in v1 than /api/v1 does"},
		"a version that is not there":        {[]string{"/v1:pods", "/v9:pods"}, v1, "lists v9, but not in the list of versions that is not aggregated"},
		"the plain document lacks a version": {v1, nil, "lists v1, but not in the list of versions that is not aggregated"},
		"only the plain document has it":     {[]string{"/v9:pods"}, v1, "lists v1 only in the list of versions that is not aggregated"},
	} {
		t.Run(name, func(t *testing.T) {
			r := changed().looksAtCore(c.aggregated, c.plain).judge(t, "AD-25")[0]
			found := c.want == ""
			for _, v := range r.Violations {
				found = found || strings.Contains(v.Message, c.want)
			}
			if !found || (len(r.Violations) == 0) != (c.want == "") {
				t.Errorf("blames %+v %q", r.Violations, r.Reasons)
			}
		})
	}
}

// A member that lists what it does not serve, and of which the aggregated document tells nothing,
// fails each client that asks for all that is listed.
func TestAD25_WhatOnlyThePlainDocumentListsIsServed(t *testing.T) {
	shows := requirement.MustBound("AD-23", "peersShow")
	for name, c := range map[string]struct {
		there time.Duration // since when a peer is there that hosts it
		plain []string
		union []string
		want  []string
	}{
		"for long":         {shows + time.Second, both, elder, []string{"c lists x.io/v1 only in the list of groups that is not aggregated"}},
		"of a new peer":    {shows - time.Second, both, elder, nil},
		"and in the union": {shows + time.Second, both, both, nil},
		"not listed":       {shows + time.Second, elder, elder, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := fleet().pass(c.there)
			told.looksAt("a", honest("a")).looksAt("b", honest("b"))
			told.looksAt("c", said{union: c.union, local: elder, own: c.plain, denied: []string{"x.io/v1"}}).typed().blames(t, "AD-25", c.want...)
		})
	}
}
