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

func TestSeen_AddsUpWhatIsNeeded(t *testing.T) {
	r := law.Result{Observations: []law.Observation{
		{What: "tests", Seen: 3, Need: 1}, {What: "more tests" + law.WithFewest, Seen: 1, Need: 1},
		{What: "seconds", Seen: 300, Need: 0}, {What: "other tests", Seen: 4, Need: 2},
	}}
	if n := r.Seen(); n != 7 {
		t.Errorf("put to the test %d times, want 7", n)
	}
}
