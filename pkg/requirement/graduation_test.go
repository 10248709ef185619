package requirement

import (
	"testing"

	"golang.org/x/mod/semver"
)

func TestServes(t *testing.T) {
	const api = "apidiscovery.k8s.io/v2beta1"
	for _, tc := range []struct {
		api, distribution, release string
		serves, known              bool
	}{
		{api, "kubernetes", "v1.32.9", true, true},
		{api, "kubernetes", "v1.33.0", false, true},
		{api, "kubernetes", "v1.35.4 emulating 1.32", true, true},
		{api, "kubernetes", "v1.35.4 emulating 1.34", false, true},
		{api, "reference", "1.3 emulating 1.2", true, true},
		{api, "reference", "1.2", true, true},
		{api, "reference", "1.3", false, true},
		{api, "reference", "1.10", false, true},
		{api, "kubernetes", "newest", false, false},
		{api, "kubernetes", "", false, false},
		{api, "kubernetes", "v1.x", false, false},
		{api, "kubernetes", "v2.1.0", false, false},
		{api, "theirs", "v1.32.9", false, false},
		{"example.com/v1", "kubernetes", "v1.32.9", false, false},
	} {
		if serves, known := Serves(tc.api, tc.distribution, tc.release); serves != tc.serves || known != tc.known {
			t.Errorf("%+v: %v, %v", tc, serves, known)
		}
	}
	for _, g := range graduations {
		if g.API == "" || g.Distribution == "" || g.Source == "" || semver.MajorMinor(g.Until) != g.Until || g.Until == "" {
			t.Errorf("%+v lacks something", g)
		}
	}
}
