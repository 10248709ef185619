package discovery_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A peer of another release may have verbs and subresources of a resource that both host.
func TestUnion_MayAddToAResource(t *testing.T) {
	more := func(l *history.Listing) *history.Listing { // c's decks, which have a further verb
		for i := range l.Groups {
			for j := range l.Groups[i].Versions {
				if l.Groups[i].Name == "y.io" {
					v := &l.Groups[i].Versions[j]
					v.Inventory += " more"
					v.Resources[0].Verbs = []string{"list", "watch"}
				}
			}
		}
		return l
	}
	told := fleet().pass(time.Minute)
	told.looksAt("b", honest("b"))
	for range 2 {
		at := len(told.events)
		told.looksAt("c", honest("c"))
		for i := at; i < len(told.events); i++ { // c hosts more
			if d := told.events[i].DiscoveryDocument; d.Listing != nil {
				d.Content, d.Digest, d.ETag = d.Content+" more", d.Digest+" more", d.ETag+" more"
				more(d.Listing)
			}
		}
		at = len(told.events)
		told.looksAt("a", honest("a"))
		for i := at; i < len(told.events); i++ { // a's union has more
			if d := told.events[i].DiscoveryDocument; d.Listing != nil && d.Accept == askedJSON {
				d.Content, d.Digest, d.ETag = d.Content+" more", d.Digest+" more", d.ETag+" more"
				more(d.Listing)
			}
		}
		told.pass(time.Minute)
	}
	told.typed()
	for _, id := range []requirement.ID{"AD-02", "AD-10", "AD-11", "AD-23", "AD-25"} {
		if r := told.judge(t, id)[0]; r.Verdict == check.Fail {
			t.Errorf("%s: %v", id, r.Violations)
		}
	}
}

// A peer may host a version that goes before all of a member's own.
func TestUnion_MayPreferAVersionOfAPeer(t *testing.T) {
	newerC := []string{"x.io/v1:ships", "x.io/v1beta1:ships", "y.io/v1:decks"}
	olderA := []string{"x.io/v1beta1:ships", "x.io/v1alpha1:ships", "y.io/v1:decks"}
	union := []string{"x.io/v1:ships", "x.io/v1beta1:ships", "x.io/v1alpha1:ships", "y.io/v1:decks"}
	told := fleet().pass(time.Minute)
	for range 2 {
		told.looksAt("b", said{union: union, local: olderA, own: olderA})
		told.looksAt("c", said{union: union, local: newerC, own: newerC, handed: []string{"x.io/v1alpha1/ships 200"}})
		told.looksAt("a", said{union: union, local: olderA, own: olderA, handed: []string{"x.io/v1/ships 200"}})
		told.pass(time.Minute)
	}
	for i := range told.events { // the list of groups says which one is preferred: the first one of the member's own
		if d := told.events[i].DiscoveryDocument; d != nil && d.Listing != nil && d.Listing.Kind == "APIGroupList" {
			for j := range d.Listing.Groups {
				d.Listing.Groups[j].Preferred = d.Listing.Groups[j].Versions[0].Version
			}
		}
	}
	told.typed()
	for _, id := range []requirement.ID{"AD-02", "AD-10", "AD-11", "AD-12", "AD-23", "AD-25"} {
		if r := told.judge(t, id)[0]; r.Verdict == check.Fail {
			t.Errorf("%s: %v", id, r.Violations)
		}
	}
}

// Where it is not known what a peer hosts, it may have added to a resource, and has taken nothing away.
func TestAD10_APeerOfWhichNothingIsKnownMayAdd(t *testing.T) {
	// united has a's union have decks with other verbs than a's own.
	united := func(known []string, decks ...string) check.Result {
		told := fleet().pass(time.Minute)
		for _, member := range known {
			told.looksAt(member, honest(member))
		}
		at := len(told.events)
		told.looksAt("a", honest("a"))
		for _, ev := range told.events[at:] {
			if d := ev.DiscoveryDocument; d.Listing != nil && d.Accept == askedJSON {
				d.Content, d.Digest, d.ETag = d.Content+" otherwise", d.Digest+" otherwise", d.ETag+" otherwise"
				for _, g := range d.Listing.Groups {
					if g.Name == "y.io" {
						g.Versions[0].Inventory += " otherwise"
						g.Versions[0].Resources[0].Verbs = decks
					}
				}
			}
		}
		return told.typed().judge(t, "AD-10")[0]
	}
	known, all := []string{"b"}, []string{"b", "c"}
	if r := united(known, "list", "watch"); r.Verdict == check.Fail || r.Obligations.Excuses["it is not known what a peer hosts"] != 1 {
		t.Errorf("a verb more, and c unknown: %s %v %+v", r.Verdict, r.Violations, r.Obligations)
	}
	if r := united(known, "watch"); r.Verdict != check.Fail {
		t.Errorf("a verb less, and c unknown: %s %+v", r.Verdict, r.Obligations)
	}
	if r := united(all, "list", "watch"); r.Verdict != check.Fail {
		t.Errorf("a verb more that no peer has: %s %+v", r.Verdict, r.Obligations)
	}
}
