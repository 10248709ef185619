package conformance

import "math"

// Fisher is the two-sided p-value of Fisher's exact test: how likely two targets that break a
// requirement equally often show counts at least as different as these by chance.
//
// It adds up the probabilities of all tables with the same sums that are no more likely than
// the one that was seen. It is a sum over at most so many terms as there are breaches, so
// that own code is shorter than a dependency; the tests compare with published values.
func Fisher(brokenA, runsA, brokenB, runsB int) float64 {
	broken, runs := brokenA+brokenB, runsA+runsB
	probability := func(inA int) float64 {
		return math.Exp(logChoose(runsA, inA) + logChoose(runsB, broken-inA) - logChoose(runs, broken))
	}
	// Equal probabilities differ by the precision of the computation.
	const noise = 1 + 1e-7
	seen := probability(brokenA)
	p := 0.0
	for inA := max(0, broken-runsB); inA <= min(broken, runsA); inA++ {
		if one := probability(inA); one <= seen*noise {
			p += one
		}
	}
	return min(p, 1)
}
