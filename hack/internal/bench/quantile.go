package bench

import (
	"math"
	"slices"
)

// Quantile is the smallest of the values that at least the given share of them does not
// exceed. Without values it is NaN.
func Quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := int(math.Ceil(share*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}

// Median is the Quantile at one half.
func Median(values []float64) float64 { return Quantile(values, 0.5) }
