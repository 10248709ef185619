package defects

import (
	"strings"
	"testing"
)

func TestCatalog(t *testing.T) {
	seen := map[ID]bool{}
	for _, d := range All() {
		if seen[d.ID] {
			t.Errorf("%s is listed twice", d.ID)
		}
		seen[d.ID] = true
		if !strings.HasPrefix(string(d.ID), d.Requirement+"-") || d.Description == "" || len(d.Components) == 0 {
			t.Errorf("incomplete: %+v", d)
		}
	}
}

func TestParse(t *testing.T) {
	set, err := Parse([]string{"SV-09-blind-write, SV-12-barrier-open", "", "SV-09-blind-write"})
	if err != nil || !set.Has(SV09BlindWrite) || !set.Has(SV12BarrierOpen) || set.Has(SV07RestlessTransition) {
		t.Errorf("got %v, %v", set, err)
	}
	if got := set.String(); got != "SV-09-blind-write,SV-12-barrier-open" {
		t.Errorf("got %s", got)
	}
	if _, err := Parse([]string{"SV-09-typo"}); err == nil || !strings.Contains(err.Error(), "SV-09-blind-write") || strings.Contains(err.Error(), "SV-12") {
		t.Errorf("got %v", err)
	}
	if _, err := Parse([]string{"nonsense"}); err == nil || !strings.Contains(err.Error(), "SV-12-barrier-open") {
		t.Errorf("got %v", err)
	}
	var none Set
	if none.Has(SV09BlindWrite) || none.String() != "" {
		t.Error("the zero set has something")
	}
}
