package law_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/law"
)

func TestWorst_IsTheVerdictOfAllTogether(t *testing.T) {
	for _, tc := range []struct {
		verdicts []law.Verdict
		want     law.Verdict
	}{
		{nil, law.Inconclusive},
		{[]law.Verdict{law.NotApplicable}, law.Inconclusive},
		{[]law.Verdict{law.Pass}, law.Pass},
		{[]law.Verdict{law.Pass, law.NotApplicable}, law.Pass},
		{[]law.Verdict{law.Deviation}, law.Inconclusive},
		{[]law.Verdict{law.Pass, law.Deviation}, law.Pass},
		{[]law.Verdict{law.Deviation, law.Inconclusive, law.Pass}, law.Inconclusive},
		{[]law.Verdict{law.Pass, law.Deviation, law.Fail}, law.Fail},
		{[]law.Verdict{law.Pass, law.Skipped}, law.Inconclusive},
		{[]law.Verdict{law.Skipped, law.Pass}, law.Inconclusive},
		{[]law.Verdict{law.Pass, law.Inconclusive}, law.Inconclusive},
		{[]law.Verdict{law.Inconclusive, law.Fail, law.Pass}, law.Fail},
		{[]law.Verdict{law.Skipped, law.Fail}, law.Fail},
		{[]law.Verdict{"nonsense", law.Pass}, law.Inconclusive},
	} {
		var results []law.Result
		for _, v := range tc.verdicts {
			results = append(results, law.Result{Verdict: v})
		}
		if got := law.Worst(results); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.verdicts, got, tc.want)
		}
	}
}

func TestCases_CountsWhatWasKeptAndWhatWasNot(t *testing.T) {
	r := law.Result{Obligations: &law.Counts{Met: 4, Late: 2, Broken: 1, Unclear: 8, Excused: 16, Superseded: 32, Open: 64}}
	if n := r.Cases(); n != 7 {
		t.Errorf("put to the test %d times, want 7", n)
	}
	if n := (law.Result{}).Cases(); n != 0 {
		t.Errorf("put to the test %d times where no law judged", n)
	}
}
