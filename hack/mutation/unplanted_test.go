package main

import (
	"slices"
	"testing"

	planted "github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// A requirement with a bound has a defect that breaks it by little, or a reason why none can.
func TestUnplanted_EachRequirementWithABoundIsBrokenByLittleOrHasAReason(t *testing.T) {
	answered := map[requirement.ID]bool{}
	for _, u := range unplanted() {
		answered[u.requirement] = true
	}
	for _, d := range planted.All() {
		id := requirement.ID(d.Requirement)
		near, is := planted.NearOf(d.ID)
		if answered[id] = answered[id] || is; is && boundOf(id, near.Bound) == boundOf(id, "") {
			t.Errorf("%s breaks %q by little, which the row of %s does not have", d.ID, near.Bound, id)
		}
	}
	for _, r := range requirement.All() {
		if len(r.Bounds) > 0 && !answered[r.ID] {
			t.Errorf("no defect breaks a bound of %s by little: plant one in impl/defects/near.go, or give the reason in unplanted.yaml", r.ID)
		}
	}
}

func TestUnplanted_NamesBoundsOfTheCatalogThatNoDefectBreaks(t *testing.T) {
	all := unplanted()
	if len(all) == 0 {
		t.Fatal("no bound is listed")
	}
	for _, u := range all {
		r, known := requirement.Lookup(u.requirement)
		if !known || !slices.ContainsFunc(r.Bounds, func(b requirement.Bound) bool { return b.Name == u.bound }) || u.because == "" {
			t.Errorf("%s/%s (%q) is no bound with a reason", u.requirement, u.bound, u.because)
		}
		for _, d := range planted.All() {
			if near, is := planted.NearOf(d.ID); is && d.Requirement == string(u.requirement) && near.Bound == u.bound {
				t.Errorf("%s breaks %s/%s by little: take it out of unplanted.yaml", d.ID, u.requirement, u.bound)
			}
		}
	}
}
