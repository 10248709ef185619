package election

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// replaced is the law by which a leader is replaced within a bound when another candidate
// that fits comes before it, in either order of the versions.
func replaced(over func(*Lease) bool, fits func(*Candidate) bool) law.Law[*Facts] {
	return law.Deadline[*Facts, *Lease]{
		Bound: "replacesWithin",
		Over:  leases(over),
		// A candidate that comes before the leader may not be eligible yet: then the clock stands.
		Begin:   func(l *Lease) []fact.Moment { return l.outrankings(fits, l.Rises) },
		Perhaps: func(l *Lease) []fact.Moment { return l.outrankings(fits, l.MayRise) },
		Running: func(l *Lease) fact.Signal {
			outranked := fact.Each(l.ledBy(fits), func(t *Tenure) fact.Signal { return t.outranked(fits, (*Candidate).Eligible) })
			return fact.And(fact.Or(outranked...), l.byOldest(), l.electing(), l.coordinating(), fact.Not(l.faulty()), l.Held())
		},
		// A leader that is outranked itself relieves none, so that the clock runs on under it.
		Done: func(l *Lease) []fact.Moment {
			return l.takings(func(t *Tenure) bool {
				return t.candidate == nil || !fits(t.candidate) || t.outranked(fits, (*Candidate).Eligible).At(t.Taken.When().Latest) != fact.Yes
			})
		},
		Breach: func(l *Lease, began fact.Moment, done *fact.Moment, took time.Duration) string {
			var names []string
			for _, t := range l.ledBy(fits) {
				during := (done == nil || t.Taken.When().Latest < done.Latest) && (t.next == nil || t.next.Taken.When().Before(began) != fact.Yes)
				if name := fmt.Sprintf("%s (%s)", t.candidate.Name, t.candidate.last().Binary); during && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			return fmt.Sprintf("%s held %s for %s while an older candidate was eligible", strings.Join(names, ", "), l.Key, took.Round(time.Second))
		},
	}
}

// outrankings are the first moments at which leaders that fit come to be outranked, by how
// these follow from a signal.
func (l *Lease) outrankings(fits func(*Candidate) bool, rises func(fact.Signal) []fact.Moment) []fact.Moment {
	var out []fact.Moment
	for _, t := range l.ledBy(fits) {
		if all := rises(t.outranked(fits, (*Candidate).stands)); len(all) > 0 {
			// It begins under this leader, so the change by which this one leads does not end it.
			at, taken := all[0], t.Taken.When()
			at.Earliest, at.Latest, at.Revision = max(at.Earliest, taken.Earliest), max(at.Latest, taken.Latest+1), taken.Revision+1
			out = append(out, at)
		}
	}
	return out
}

// byOldest is while no other strategy than that of the oldest version is set on the Lease.
func (l *Lease) byOldest() fact.Signal {
	return fact.Not(l.says(func(now *history.Lease) bool { return now.Strategy != "" && now.Strategy != oldest }))
}

// ledBy are the tenures of candidates that fit and did not claim the Lease by themselves: a
// coordinator leaves such a leader alone (KEP-4355, "Migrations").
func (l *Lease) ledBy(fits func(*Candidate) bool) []*Tenure {
	return fact.Where(l.tenures(), func(t *Tenure) bool { return t.candidate != nil && fits(t.candidate) && !t.claimed() })
}

// claimed is whether the holder took the Lease by itself, as far as coordinators tell who they
// are in what they write.
func (t *Tenure) claimed() bool {
	return t.tells && !t.Taken.ByHarness() && t.Taken.Now.Coordinator == ""
}

// outranked is while another candidate that fits can be elected, as far as a signal of it
// says, and comes before the leader.
func (t *Tenure) outranked(fits func(*Candidate) bool, can func(*Candidate) fact.Signal) fact.Signal {
	return t.outrankedBy(older, fits, can)
}

// outrankedBy is outranked by an order of candidates.
func (t *Tenure) outrankedBy(before func(a, b *statement) bool, fits func(*Candidate) bool, can func(*Candidate) fact.Signal) fact.Signal {
	others := fact.Where(t.candidates, func(k *Candidate) bool { return k != t.candidate && fits(k) })
	return fact.And(t.lasts(), fact.Or(fact.Each(others, func(k *Candidate) fact.Signal {
		return fact.And(can(k), k.comes(before, t.candidate))
	})...))
}

// comes is while a candidate comes before another one by what both declare at the time: an
// update of a candidate may change its versions (KEP-4355, "Story 1").
func (k *Candidate) comes(before func(a, b *statement) bool, other *Candidate) fact.Signal {
	var out []fact.Signal
	for _, mine := range k.declarations() {
		for _, others := range other.declarations() {
			if before(mine, others) {
				out = append(out, fact.And(k.declares(mine), other.declares(others)))
			}
		}
	}
	return fact.Or(out...)
}

// declarations are statements of a candidate, one of each of its versions.
func (k *Candidate) declarations() []*statement {
	return cached(k.Facts, "declarations", k, func() []*statement {
		var out []*statement
		for _, s := range k.said {
			if !slices.ContainsFunc(out, func(known *statement) bool { return alike(known, s) }) {
				out = append(out, s)
			}
		}
		return out
	})
}

// declares is while what a candidate said last has the versions of a statement. A candidate
// that was deleted is what it was: its process may lead yet.
func (k *Candidate) declares(s *statement) fact.Signal {
	if len(k.declarations()) == 1 {
		return fact.Constant(fact.Yes)
	}
	return fact.Follow(k.said, k.when, func(now *statement) bool { return alike(now, s) })
}
