package requirement

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestAll_CatalogIsComplete(t *testing.T) {
	all := All()
	idPattern := regexp.MustCompile(`^(SV|AD|CLE|SVM|EV|RO)-\d\d$`)
	seen := map[ID]bool{}
	last := map[string]int{}
	for _, r := range all {
		// A number is given once, so a gap is a row that was lost.
		prefix, number, _ := strings.Cut(string(r.ID), "-")
		if last[prefix]++; number != fmt.Sprintf("%02d", last[prefix]) {
			t.Errorf("%s stands where %s-%02d belongs", r.ID, prefix, last[prefix])
		}
		switch {
		case !idPattern.MatchString(string(r.ID)):
			t.Errorf("%q is no requirement ID", r.ID)
		case seen[r.ID]:
			t.Errorf("%s is listed twice", r.ID)
		case r.Level != Must && r.Level != Should:
			t.Errorf("%s has level %q", r.ID, r.Level)
		case r.Source == "" || !strings.HasSuffix(r.Promise, "."):
			t.Errorf("%s lacks a source or a sentence", r.ID)
		}
		seen[r.ID] = true
	}
	claimed := map[ID]bool{}
	for _, p := range Profiles() {
		for _, id := range p.Requirements {
			claimed[id] = true
		}
		for _, id := range p.Requirements {
			if !seen[id] {
				t.Errorf("profile %s names %s, which is not in the catalog", p.Name, id)
			}
		}
	}
	for _, r := range all {
		if !claimed[r.ID] {
			t.Errorf("%s is in no profile", r.ID)
		}
	}
}

func TestSelect(t *testing.T) {
	profiles := []Profile{{Name: "p", Requirements: []ID{"SV-06", "SV-01", "AD-01"}}}
	for _, tc := range []struct {
		focus, want, expectError string
	}{
		{focus: "", want: "SV-01 SV-06 AD-01"},
		{focus: "SV-06", want: "SV-06"},
		{focus: "^SV", want: "SV-01 SV-06"},
		{focus: "SV-99", expectError: "no requirement"},
		{focus: "(", expectError: "not a regular expression"},
	} {
		got, err := Select(profiles, tc.focus)
		var ids []string
		for _, r := range got {
			ids = append(ids, string(r.ID))
		}
		if tc.expectError != "" {
			if err == nil || !strings.Contains(err.Error(), tc.expectError) {
				t.Errorf("focus %q: error %v, want %q", tc.focus, err, tc.expectError)
			}
			continue
		}
		if err != nil || strings.Join(ids, " ") != tc.want {
			t.Errorf("focus %q: got %v, %v; want %s", tc.focus, ids, err, tc.want)
		}
	}
}

func TestLookupProfileNamesTheOthers(t *testing.T) {
	if _, err := LookupProfile("nope"); err == nil || !strings.Contains(err.Error(), "storage-version-rollout") {
		t.Errorf("error %v does not list the profiles", err)
	}
}
