package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Of an unlisted requirement a report has a failure and nothing else, and so has the
// console while the scenario is played.
func TestOfUnlistedRequirementsOnlyFailuresAreReported(t *testing.T) {
	for _, verdict := range slices.Concat(check.Verdicts, []check.Verdict{"splendid", ""}) {
		j := &check.Judgement{Header: history.Header{Judges: []string{"SV-01"}, Asked: []string{"SV-01"}}, Results: []check.Result{
			{ID: "SV-01", Verdict: check.Pass}, {ID: "SV-06", Verdict: verdict},
		}}
		r := New(j, nil)
		standing := Standing(j.Header.Judges, []check.Progress{{ID: "SV-01", Verdict: check.Pass}, {ID: "SV-06", Verdict: verdict}})
		if r.Results[0].Unlisted || standing[0].Unlisted {
			t.Errorf("%s: the listed requirement is marked as unlisted", verdict)
		}
		if verdict != check.Fail {
			if len(r.Results) != 1 || len(standing) != 1 || r.Verdict != check.Pass {
				t.Errorf("unlisted and %s: results %+v, standing %+v, verdict %s", verdict, r.Results, standing, r.Verdict)
			}
			continue
		}
		if len(r.Results) != 2 || !r.Results[1].Unlisted || len(standing) != 2 || !standing[1].Unlisted || r.Verdict != check.Fail {
			t.Errorf("unlisted and broken: results %+v, standing %+v, verdict %s", r.Results, standing, r.Verdict)
		}
		if redCases(t, r) != 1 {
			t.Error("JUnit does not show the failure")
		}
		junit, err := r.JUnit()
		if err != nil || !strings.Contains(string(junit), UnlistedNote) {
			t.Errorf("JUnit does not say that the requirement is unlisted: %v\n%s", err, junit)
		}
		if s := r.Statistics; s.Requirements != 2 || s.Counts[check.Fail] != 1 || s.Counts[check.Pass] != 1 {
			t.Errorf("statistics %+v", s)
		}
	}
}

// A broken MUST requirement fails each claimed profile that has it, listed or not.
func TestAnUnlistedFailureFailsTheProfile(t *testing.T) {
	for _, tc := range []struct {
		name     string
		broken   requirement.ID
		asked    []string
		core     Outcome
		extended Outcome
	}{
		{"in the core", "SV-06", nil, Failure, Partial},
		{"in the core, and not asked for", "SV-06", []string{"SV-01"}, Failure, Partial},
		{"in the extended part", extended, nil, Partial, Failure},
		{"in no part", "CLE-01", nil, Partial, Partial},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := &check.Judgement{Header: history.Header{Judges: []string{"SV-01"}, Asked: tc.asked}, Results: []check.Result{
				{ID: "SV-01", Verdict: check.Pass}, {ID: tc.broken, Verdict: check.Fail},
			}}
			r := New(j, []requirement.Profile{profile})
			if p := r.Profiles[0]; p.Core.Outcome != tc.core || p.Extended.Outcome != tc.extended {
				t.Errorf("core %s, extended %s, want %s and %s", p.Core.Outcome, p.Extended.Outcome, tc.core, tc.extended)
			}
			if r.Verdict != check.Fail || slices.Contains(r.NotJudged, tc.broken) {
				t.Errorf("the verdict is %s, not judged %v", r.Verdict, r.NotJudged)
			}
		})
	}
}
