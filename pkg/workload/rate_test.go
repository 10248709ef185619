package workload

import (
	"math"
	"testing"
)

func TestRates(t *testing.T) {
	for _, rate := range []float64{0, LowestRate, 0.3, HighestRate} {
		if err := CheckRate(rate); err != nil {
			t.Errorf("%v: %v", rate, err)
		}
	}
	for _, rate := range []float64{-1, 1e-300, LowestRate / 2, HighestRate * 2, 1e300, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if CheckRate(rate) == nil {
			t.Errorf("%v passes", rate)
		}
	}
	for _, rate := range []float64{math.SmallestNonzeroFloat64, LowestRate / 10, LowestRate, HighestRate} {
		if Interval(rate) <= 0 {
			t.Errorf("at %v there are %v between two calls", rate, Interval(rate))
		}
	}
}
