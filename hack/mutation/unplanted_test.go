package main

import (
	"slices"
	"testing"

	planted "github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

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
