package requirement

import (
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

func TestDeviations_AreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Deviations() {
		if _, known := Lookup(d.Requirement); !known {
			t.Errorf("%s is of %s, which is not in the catalog", d.ID, d.Requirement)
		}
		if seen[d.ID] || d.ID == "" || d.Distribution == "" || d.Kind == "" || !strings.HasSuffix(d.Differs, ".") || !strings.HasPrefix(d.Source, "https://") {
			t.Errorf("%+v is listed twice or lacks something", d)
		}
		for _, release := range []string{d.From, d.Before} {
			if release != "" && !semver.IsValid(release) {
				t.Errorf("%s: %q is no release", d.ID, release)
			}
		}
		seen[d.ID] = true
	}
	if len(DeviationsFrom("SV-21", "kubernetes")) == 0 || len(DeviationsFrom("SV-21", "reference")) != 0 || len(DeviationsFrom("SV-01", "kubernetes")) != 0 {
		t.Error("deviations are those of one distribution from one requirement")
	}
}

func TestDeviationExplains(t *testing.T) {
	d := Deviation{Kind: "k", From: "v1.35.0", Before: "v1.37.0"}
	for _, tc := range []struct {
		kind, release string
		want          bool
	}{
		{"k", "v1.35.0", true},
		{"k", "v1.36.3", true},
		{"k", "v1.36.3 emulating 1.34", true},
		{"k", "v1.37.1 emulating 1.36", false},
		{"k", "v1.34.4", false},
		{"k", "v1.37.0", false},
		{"k", "v1.35.0-alpha.1", false},
		{"k", "", false},
		{"k", "1.36", false},
		{"other", "v1.36.3", false},
		{"", "v1.36.3", false},
	} {
		if got := d.Explains(tc.kind, tc.release); got != tc.want {
			t.Errorf("%q at %q: %v", tc.kind, tc.release, got)
		}
	}
	if open := (Deviation{Kind: "k"}); !open.Explains("k", "v0.1.0") || !open.Explains("k", "v9.0.0") {
		t.Error("a deviation without bounds is of all releases")
	}
}
