package conformance

import (
	"fmt"
	"math"
)

// UpperBound is the exact (Clopper–Pearson) one-sided upper bound on the share of runs in
// which a requirement breaks, after so many of the runs have broken it. Both bound and
// confidence are shares, from 0 to 1. With no runs it is 1: nothing is known.
//
// It is the largest p for which a run count that low still has the probability
// 1 - confidence. The sum of binomial terms is short here, so that a library of statistics
// would add more code than it saves; the tests compare with published values.
func UpperBound(broken, runs int, confidence float64) float64 {
	if runs <= 0 || broken >= runs {
		return 1
	}
	low, high := 0.0, 1.0
	for range bisections {
		middle := (low + high) / 2
		if atMost(broken, runs, middle) > 1-confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// bisections halve an interval of 1 until it is below the precision of a float64.
const bisections = 60

// atMost is the probability that at most k of n runs break, if each does so with the
// probability p.
func atMost(k, n int, p float64) float64 {
	if p <= 0 {
		return 1
	}
	if p >= 1 {
		return 0
	}
	sum := 0.0
	for i := 0; i <= k; i++ {
		sum += math.Exp(logChoose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(sum, 1)
}

// logChoose is the logarithm of the number of ways to choose k of n.
func logChoose(n, k int) float64 {
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

func logFactorial(n int) float64 {
	out, _ := math.Lgamma(float64(n) + 1)
	return out
}

// RunsFor is the least number of runs whose upper bound is at most the rate if none of them
// breaks the requirement, such as 29 for 10 % at 95 %.
func RunsFor(rate, confidence float64) (int, error) {
	if !(rate > 0 && rate < 1) || !(confidence > 0 && confidence < 1) {
		return 0, fmt.Errorf("--rate and --confidence must lie between 0 %% and 100 %%, such as --confidence 95 --rate 10%%")
	}
	n := math.Floor(math.Log1p(-confidence) / math.Log1p(-rate))
	if n > maxLines {
		return 0, fmt.Errorf("a bound of %s with %s confidence takes more than %d runs of each requirement: ask for a higher --rate", percent(rate), percent(confidence), maxLines)
	}
	runs := max(int(n), 1)
	for UpperBound(0, runs, confidence) > rate {
		runs++
	}
	return runs, nil
}
