package conformance

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestUpperBound_HasPublishedValues(t *testing.T) {
	for _, c := range []struct {
		broken, runs int
		confidence   float64
		want         float64
	}{
		// The rule of three, exactly: 1 - 0.05^(1/n).
		{0, 29, 0.95, 0.098145},
		{0, 28, 0.95, 0.101466},
		{0, 1, 0.95, 0.95},
		{0, 10, 0.95, 0.258866},
		{0, 59, 0.95, 0.049508},
		// One-sided Clopper–Pearson limits, as the quantile of Beta(k+1, n-k).
		{1, 10, 0.95, 0.394163},
		{2, 20, 0.95, 0.282617},
		{5, 10, 0.95, 0.777559},
		{1, 29, 0.975, 0.177645},
		{10, 10, 0.95, 1},
		{0, 0, 0.95, 1},
	} {
		if got := UpperBound(c.broken, c.runs, c.confidence); math.Abs(got-c.want) > 2e-6 {
			t.Errorf("%d of %d at %v: %.6f, want %.6f", c.broken, c.runs, c.confidence, got, c.want)
		}
	}
}

func TestRunsFor_IsTheLeastNumber(t *testing.T) {
	if n, err := RunsFor(0.1, 0.95); n != 29 || err != nil {
		t.Errorf("10 %% at 95 %% takes %d runs, %v; want 29", n, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.005, 0.9).Draw(t, "rate")
		confidence := rapid.Float64Range(0.5, 0.999).Draw(t, "confidence")
		n, err := RunsFor(rate, confidence)
		if err != nil {
			t.Fatal(err)
		}
		if UpperBound(0, n, confidence) > rate {
			t.Errorf("%d runs do not do", n)
		}
		if n > 1 && UpperBound(0, n-1, confidence) <= rate {
			t.Errorf("%d runs would do, and %d are asked for", n-1, n)
		}
	})
	for _, bad := range [][2]float64{{0, 0.95}, {1, 0.95}, {0.1, 0}, {0.1, 1}, {1e-9, 0.95}, {math.NaN(), 0.95}} {
		if n, err := RunsFor(bad[0], bad[1]); err == nil {
			t.Errorf("%v: %d", bad, n)
		}
	}
}

func TestUpTo_NeverRoundsDown(t *testing.T) {
	for share, want := range map[float64]string{0.098145: "9.9%", 0.1: "10.0%", 1: "100.0%", 0.0001: "0.1%", 0: "0.0%"} {
		if got := upTo(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}

func TestParsePercent(t *testing.T) {
	for text, want := range map[string]float64{"10%": 0.1, "95": 0.95, " 2.5 % ": 0.025} {
		if got, err := ParsePercent("--rate", text); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "0", "100%", "-1", "NaN", "10%%"} {
		if got, err := ParsePercent("--rate", text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Of a thousand simulated campaigns, the printed bound is at least the true rate in as many
// as the confidence says.
func TestUpperBound_CoversTheTrueRate(t *testing.T) {
	random := rand.New(rand.NewPCG(35, 0))
	const campaigns = 1000
	for _, rate := range []float64{0.01, 0.05, 0.2, 0.5} {
		for _, runs := range []int{5, 29, 100} {
			covered := 0
			for range campaigns {
				broken := 0
				for range runs {
					if random.Float64() < rate {
						broken++
					}
				}
				if UpperBound(broken, runs, 0.95) >= rate {
					covered++
				}
			}
			// 950 are owed on average. Where the bound is not conservative the number
			// scatters around that; 4 standard deviations of it are 28.
			if covered < campaigns*95/100-28 {
				t.Errorf("%v in %d runs: the bound was right in %d of %d campaigns", rate, runs, covered, campaigns)
			}
		}
	}
}
