package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// A reader sees which run is being played, and where its log is.
func TestProgress_StatusNamesWhatWasStarted(t *testing.T) {
	p := Progress{Parallel: 2, Lines: []LineProgress{
		{Line: Line{Number: 1, Scenario: "quick", Seed: 7}, Over: true, Verdict: check.Pass, Tries: 1},
		{Line: Line{Number: 2, Scenario: "quick", Seed: 8}, Tries: 1, Started: "runs/quick-8-2"},
		{Line: Line{Number: 3, Scenario: "discovery", Seed: 7}},
	}}
	var out strings.Builder
	if err := p.Status(&out, func(string) time.Duration { return time.Minute }); err != nil {
		t.Fatal(err)
	}
	_, told, _ := strings.Cut(out.String(), "1 of 3 runs are over; about 1m left, 2 at a time.\n")
	if want := "Started and not over: line 2, try 2 (quick, seed 8), in runs/quick-8-2.\n"; told != want {
		t.Errorf("%q, want %q, in\n%s", told, want, out.String())
	}
}

// A pass of a few requirements does not read as one of all that was asked for.
func TestReport_SaysOfHowManyTheVerdictIs(t *testing.T) {
	for want, counts := range map[string]map[check.Verdict]int{
		"3 pass": {check.Pass: 3},
		"3 of 15 requirements judged: 2 pass, 1 inconclusive, 2 not-applicable, 10 skipped": {check.Pass: 2, check.Inconclusive: 1, check.NotApplicable: 2, check.Skipped: 10},
	} {
		if got := (&Report{Counts: counts}).judged(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
