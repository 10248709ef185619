package check

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Of an external cluster at which Evenkeel has all leave that a topology gives, at least 90
// requirements can be judged (issue 37), and the table says of each other one why not.
func TestExternalReference_MostRequirementsCanBeJudged(t *testing.T) {
	judged, never := 0, 0
	for _, one := range requirement.All() {
		switch {
		case !Built(one.ID):
		case strings.HasPrefix(externalNeeds(one.ID), "nothing: "):
			never++
		default:
			judged++
		}
	}
	if judged < 90 || never == 0 {
		t.Errorf("%d requirements can be judged, and %d never can", judged, never)
	}
	for _, need := range externalMeans {
		if needWords[need.lack] == "" {
			t.Errorf("%s has no words", need.lack)
		}
	}
	table := ExternalReference()
	for _, want := range []string{"| the API alone | ", "RO-01", "EV-01 to EV-08"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table has no %q:\n%s", want, table)
		}
	}
}

func TestSpans(t *testing.T) {
	ids := []requirement.ID{"AD-01", "AD-02", "AD-03", "AD-05", "AD-06", "CLE-09", "CLE-10", "CLE-11", "SV-01"}
	if got := strings.Join(spans(ids), ", "); got != "AD-01 to AD-03, AD-05, AD-06, CLE-09 to CLE-11, SV-01" {
		t.Error(got)
	}
}
