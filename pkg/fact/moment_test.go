package fact_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

func TestMoment_Before(t *testing.T) {
	between := func(earliest, latest int64) fact.Moment {
		return fact.Moment{Earliest: earliest, Latest: latest}
	}
	at := func(m fact.Moment, revision int64) fact.Moment { m.Revision = revision; return m }
	for name, tc := range map[string]struct {
		a, b fact.Moment
		want fact.Truth
	}{
		"certainly before":                 {between(1, 2), between(3, 4), fact.Yes},
		"certainly after":                  {between(3, 4), between(1, 2), fact.No},
		"overlapping":                      {between(1, 3), between(2, 4), fact.Unknown},
		"the same instant":                 {between(2, 2), between(2, 2), fact.No},
		"revisions decide over times":      {at(between(3, 4), 7), at(between(1, 2), 8), fact.Yes},
		"a revision is not before its own": {at(between(1, 2), 7), at(between(3, 4), 7), fact.No},
		"one revision decides nothing":     {at(between(1, 3), 7), between(2, 4), fact.Unknown},
	} {
		if got := tc.a.Before(tc.b); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestMoment_UntilGivesLeastAndMostAndNothingNegative(t *testing.T) {
	a, b := fact.Moment{Earliest: 10, Latest: 20}, fact.Moment{Earliest: 15, Latest: 40}
	if least, most := a.Until(b); least != 0 || most != 30 {
		t.Errorf("it takes from %d to %d, want from 0 to 30", least, most)
	}
	if least, most := b.Until(a); least != 0 || most != 5 {
		t.Errorf("it takes from %d to %d, want from 0 to 5", least, most)
	}
}
