package bench

import (
	"math"
	"testing"
)

func TestQuantile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, test := range []struct {
		values []float64
		share  float64
		want   float64
	}{
		{hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100}, {hundred, 0, 1},
		{[]float64{3}, 0.99, 3}, {[]float64{2, 1}, 0.5, 1}, {[]float64{3, 1, 2}, 0.5, 2},
	} {
		if got := Quantile(test.values, test.share); got != test.want {
			t.Errorf("quantile %v of %d values is %v, want %v", test.share, len(test.values), got, test.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("Quantile changed the order of the values")
	}
	if !math.IsNaN(Quantile(nil, 0.5)) {
		t.Error("no values have a quantile")
	}
}
