package bench

import (
	"math"
	"testing"
)

// Wilson's interval of 8 of 30, as its formula gives it.
func TestShare(t *testing.T) {
	for _, tc := range []struct {
		hits, n   int
		low, high float64
	}{{8, 30, 0.1418, 0.4445}, {0, 30, 0, 0.1135}, {30, 30, 0.8865, 1}, {0, 0, 0, 1}} {
		low, high := Share(tc.hits, tc.n)
		if math.Abs(low-tc.low) > 0.0005 || math.Abs(high-tc.high) > 0.0005 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", tc.hits, tc.n, low, high, tc.low, tc.high)
		}
	}
}

// The ranks are those that tables of the sign test give.
func TestMedianWithin(t *testing.T) {
	for n, want := range map[int][2]float64{6: {1, 6}, 10: {2, 9}, 20: {6, 15}, 50: {18, 33}} {
		var values []float64
		for i := n; i > 0; i-- {
			values = append(values, float64(i))
		}
		if low, high := MedianWithin(values); low != want[0] || high != want[1] {
			t.Errorf("of %d values: %g to %g, want %v", n, low, high, want)
		}
	}
	if low, high := MedianWithin([]float64{1, 2, 3, 4, 5}); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("five values give %g to %g", low, high)
	}
}
