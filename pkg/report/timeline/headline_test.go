package timeline

import (
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func TestHeadline(t *testing.T) {
	for _, tc := range []struct {
		verdict  check.Verdict
		verdicts map[check.Verdict]int
		others   int
		want     string
	}{
		{check.Pass, map[check.Verdict]int{check.Pass: 16}, 0, "PASS: 16 of 16 requirements are kept."},
		{check.Pass, map[check.Verdict]int{check.Pass: 13, check.NotApplicable: 18, check.Deviation: 1}, 0,
			"PASS: no requirement is broken, and 13 of 14 are kept. 1 differs as documented. 18 do not apply to this run."},
		{check.Fail, map[check.Verdict]int{check.Pass: 2, check.Fail: 1}, 0, "FAIL: 1 of 3 requirements is broken."},
		{check.Fail, map[check.Verdict]int{check.Pass: 2, check.Fail: 2, check.Inconclusive: 1}, 0, "FAIL: 2 of 5 requirements are broken. The evidence is not sufficient for 1."},
		{check.Inconclusive, map[check.Verdict]int{check.Pass: 13}, 18,
			"INCONCLUSIVE: 13 of 13 requirements are kept. The scenario does not test 18 others that the run was to judge."},
		{check.Inconclusive, map[check.Verdict]int{check.Pass: 13, check.Inconclusive: 7}, 0,
			"INCONCLUSIVE: no requirement is broken, and 13 of 20 are kept. The evidence is not sufficient for 7."},
		{check.Inconclusive, nil, 1, "INCONCLUSIVE: no requirement is broken, and 0 of 0 are kept. The scenario does not test 1 other that the run was to judge."},
	} {
		r := &report.ConformanceReport{Verdict: tc.verdict, NotJudged: slices.Repeat([]requirement.ID{"SV-01"}, tc.others)}
		for verdict, n := range tc.verdicts {
			r.Results = append(r.Results, slices.Repeat([]check.Result{{Verdict: verdict}}, n)...)
		}
		if got := headline(r); got != tc.want {
			t.Errorf("got\n%q, want\n%q", got, tc.want)
		}
	}
}
