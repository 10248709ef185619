package election

import (
	"cmp"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// Resolve is the strategy of a Lease whose candidates want several. That of the
// newest binary holds, as the published API has it.
//
// KEP-4355: where that leaves several, the order of preference is fixed, and who
// does not want to be coordinated comes before who does. So one instance is enough
// to take a Lease out of coordination, and a conflict never blocks it.
func Resolve(candidates []*Candidate) coordinationv1.CoordinatedLeaseStrategy {
	if len(candidates) == 0 {
		return Oldest
	}
	return wants(slices.MinFunc(candidates, func(a, b *Candidate) int {
		return cmp.Or(
			-compareVersion(a.Spec.BinaryVersion, b.Spec.BinaryVersion),
			precedence(a)-precedence(b),
			cmp.Compare(wants(a), wants(b)))
	}))
}

// wants is the strategy of a candidate. Nobody else than this coordinator would see to
// one that does not say, which the API refuses and a store may hold all the same.
func wants(c *Candidate) coordinationv1.CoordinatedLeaseStrategy {
	return cmp.Or(c.Spec.Strategy, Oldest)
}

func precedence(c *Candidate) int {
	if wants(c) == Oldest {
		return 1
	}
	return 0
}
