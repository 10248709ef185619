package election

import (
	"cmp"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// Strategy says by which algorithm the leader of a Lease is found.
type Strategy = coordinationv1.CoordinatedLeaseStrategy

const (
	// Oldest elects the candidate with the lowest version. It is the default.
	Oldest = coordinationv1.OldestEmulationVersion
	// Newest elects the candidate with the highest version. It is the KEP's
	// NewestCompatibilityVersion, named as the published API names its counterpart.
	Newest Strategy = "NewestEmulationVersion"
	// NoCoordination leaves the Lease to the first instance that claims it.
	NoCoordination Strategy = "NoCoordination"
)

// orders are the strategies by which this coordinator elects. Every other strategy, such as
// example.com/draft, belongs to another coordinator.
var orders = map[Strategy]Order{Oldest: oldestFirst, Newest: newestFirst}

// OrderOf is the order of candidates under a strategy, and whether this coordinator elects
// by it.
func OrderOf(s Strategy) (Order, bool) {
	order, elects := orders[s]
	return order, elects
}

// priority of the strategies that this coordinator knows, the highest first.
//
// KEP-4355, "API" and "Strategy propagated from LeaseCandidate": the list is fixed.
// NoCoordination comes before every coordinated strategy, and Newest before Oldest.
var priority = []Strategy{NoCoordination, "", Newest, Oldest}

// Resolve returns the strategy of a Lease from what its candidates want: of several, the one
// with the highest priority, whatever the versions of the candidates are. So one
// candidate is enough to take a Lease out of coordination, and a conflict never blocks the
// Lease. A strategy of a third party comes after NoCoordination and before those of this
// coordinator, which would otherwise take the Lease from the third party; of several such
// strategies the name decides.
func Resolve(candidates []*Candidate) Strategy {
	if len(candidates) == 0 {
		return Oldest
	}
	return wants(slices.MinFunc(candidates, func(a, b *Candidate) int {
		return cmp.Or(cmp.Compare(rank(wants(a)), rank(wants(b))), cmp.Compare(wants(a), wants(b)))
	}))
}

// rank is the place of a strategy in the list of priorities.
func rank(s Strategy) int {
	if i := slices.Index(priority, s); i >= 0 {
		return i
	}
	return slices.Index(priority, "")
}

// wants returns the strategy of a candidate. A candidate without one belongs to this
// coordinator, because no other coordinator handles it. The API refuses such a candidate,
// but etcd may contain one.
func wants(c *Candidate) Strategy {
	return cmp.Or(c.Spec.Strategy, Oldest)
}

// Chosen returns the strategy that an operator or a third party has set on a Lease, or empty.
// The coordinator notes in an annotation which strategy it has written itself; any other
// one is a choice. To take a choice back, set the strategy that the annotation has.
//
// KEP-4355, "Strategy": the Lease may be updated by a third party to the desired strategy.
func Chosen(lease *coordinationv1.Lease) Strategy {
	if s := strategy(lease); s != "" && string(s) != lease.Annotations[Resolved] {
		return s
	}
	return ""
}

// StrategyOf returns the strategy that holds for a Lease: the one that was chosen on the
// Lease, or else the one that its candidates want.
func StrategyOf(lease *coordinationv1.Lease, candidates []*Candidate) Strategy {
	return cmp.Or(Chosen(lease), Resolve(candidates))
}
