package bench

import (
	"math"
	"slices"
)

// z is the quantile of the normal distribution that leaves 5 % outside.
const z = 1.959964

// Share is Wilson's confidence interval of a share, at 95 %.
func Share(hits, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	p, total := float64(hits)/float64(n), float64(n)
	middle := (p + z*z/(2*total)) / (1 + z*z/total)
	half := z / (1 + z*z/total) * math.Sqrt(p*(1-p)/total+z*z/(4*total*total))
	return max(middle-half, 0), min(middle+half, 1)
}

// MedianWithin is a confidence interval of the median, at 95 % at least, whatever the
// distribution is: two of the values, so that the median lies below the first or above the
// second with a probability of 2.5 % at most each. Of fewer than six values no two are so,
// and the interval is infinite.
func MedianWithin(values []float64) (low, high float64) {
	const outside = 0.025
	n := len(values)
	// below is the probability that at most k of the values are below the median.
	below, term, k := 0.0, math.Pow(0.5, float64(n)), 0
	for below+term <= outside && k < n {
		below += term
		term *= float64(n-k) / float64(k+1)
		k++
	}
	if k == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[k-1], sorted[n-k]
}
