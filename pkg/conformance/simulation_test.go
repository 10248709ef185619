package conformance

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// simulate is a campaign of which each run breaks SV-06 with that probability, and stays open
// at first with another, computed as that of real bundles.
func simulate(plan *Plan, random *rand.Rand, breaks, open float64) *Report {
	return compute(plan, "plan", "journal", func(line Line) []try {
		var tries []try
		for !over(plan, line, tries) {
			v := check.Pass
			switch {
			case random.Float64() < breaks:
				v = check.Fail
			case random.Float64() < open:
				v = check.Inconclusive
			}
			id := requirement.ID("SV-06")
			tries = append(tries, try{
				Ended{Line: line.Number, Try: len(tries) + 1, Digest: "x"},
				&outcome{verdict: v, evidence: fmt.Sprint(line.Number), order: []requirement.ID{id}, results: map[requirement.ID]result{id: {verdict: v}}},
			})
		}
		return tries
	})
}

// A defect that shows in a fifth of the runs is red in at least 95 of 100 campaigns that ask
// for 10 % with 95 % confidence.
func TestCampaign_FindsRareDefects(t *testing.T) {
	plan := planned(t, func(r *Request) { r.Confidence, r.Rate = 0.95, 0.1 })
	random := rand.New(rand.NewPCG(35, 1))
	const campaigns = 100
	red := 0
	for range campaigns {
		if simulate(plan, random, 0.2, 0.1).Verdict == check.Fail {
			red++
		}
	}
	if red < 95 {
		t.Errorf("the defect was red in %d of %d campaigns", red, campaigns)
	}
	t.Logf("red in %d of %d", red, campaigns)
}

// A pass prints a bound. Of a thousand campaigns of a target that breaks the requirement in
// some share of the runs, no more than one in twenty says pass with a bound below that share.
func TestCampaign_PassNeverPromisesTooMuch(t *testing.T) {
	random := rand.New(rand.NewPCG(35, 2))
	const campaigns = 1000
	for _, runs := range []int{1, 5, 29} {
		plan := planned(t, func(r *Request) { r.Scenarios, r.Repeat = []string{"restart-skew"}, runs })
		for _, breaks := range []float64{0.01, 0.05, 0.1, 0.11, 0.3} {
			wrong := 0
			for range campaigns {
				rep := simulate(plan, random, breaks, 0.1)
				bound := of(t, rep, "SV-06").MayFail
				if rep.Verdict == check.Pass && atMostOf(t, bound) < breaks {
					wrong++
				}
			}
			// 50 are owed on average where the bound is not conservative; 4 standard deviations
			// of that are 28.
			if wrong > campaigns*5/100+28 {
				t.Errorf("%d runs of a target that breaks in %v: %d of %d campaigns promise too much", runs, breaks, wrong, campaigns)
			}
		}
	}
}

func atMostOf(t *testing.T, m *MayFail) float64 {
	t.Helper()
	var out float64
	if _, err := fmt.Sscanf(m.AtMost, "%f%%", &out); err != nil {
		t.Fatal(err)
	}
	return out / 100
}
