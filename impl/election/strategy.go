package election

import (
	"cmp"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// Resolve returns the strategy of a Lease whose candidates want several. The newest
// binary decides, as in the published API.
//
// KEP-4355: if that leaves several strategies, the order of preference is fixed, and an
// instance without coordination comes before one with it. So one instance is enough
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

// wants returns the strategy of a candidate. A candidate without one belongs to this
// coordinator, because no other coordinator handles it. The API refuses such a candidate,
// but etcd may contain one.
func wants(c *Candidate) coordinationv1.CoordinatedLeaseStrategy {
	return cmp.Or(c.Spec.Strategy, Oldest)
}

func precedence(c *Candidate) int {
	if wants(c) == Oldest {
		return 1
	}
	return 0
}
