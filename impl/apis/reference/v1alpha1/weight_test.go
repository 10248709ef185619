package v1alpha1

import (
	"testing"

	"pgregory.net/rapid"
)

func TestParseWeight(t *testing.T) {
	tests := []struct {
		weight string
		want   int64
		ok     bool
	}{
		{"", 0, true},
		{"250kg", 250, true},
		{"3t", 3000, true},
		{"3000kg", 3000, true},
		// A negative weight is understood, so that validation can refuse it.
		{"-3t", -3000, true},
		{"3", 0, false},
		{"t", 0, false},
		{"3.5t", 0, false},
		{"3 t", 0, false},
		{"3 stone", 0, false},
		{"9223372036854775807t", 0, false},
	}
	for _, test := range tests {
		got, err := parseWeight(test.weight)
		if (err == nil) != test.ok || got != test.want {
			t.Errorf("parseWeight(%q) = %d, %v; want %d, ok=%v", test.weight, got, err, test.want, test.ok)
		}
	}
}

func TestWeightSurvivesFormatting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64().Draw(t, "kilograms")
		if got, err := parseWeight(formatWeight(want)); err != nil || got != want {
			t.Fatalf("%d became %q and then %d, %v", want, formatWeight(want), got, err)
		}
	})
}
