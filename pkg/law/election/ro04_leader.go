package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro04: an elected component has a leader within a bound, at any time and for any reason,
// while a live candidate is eligible and no fault is about its Lease (Leases). It does not
// see Leases without candidates, since what stands for them shows only when it leads, nor
// that instances which run are no candidates (CLE-01) or do not answer pings (CLE-03).
var ro04 = law.Deadline[*Facts, *Lease]{
	Row:   law.Row{ID: "RO-04", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{{Name: "led"}}},
	Bound: "ledWithin",
	Over:  leases((*Lease).ofComponent),
	Begin: func(l *Lease) []fact.Moment { return l.Rises(fact.And(l.someEligible(), fact.Not(l.Led()))) },
	Running: func(l *Lease) fact.Signal {
		byHarness := l.heldBy(func(t *Tenure) bool { return byForce(t.Holder) || fact.Harness(t.Holder) })
		return fact.And(l.someEligible(), fact.Not(fact.Or(l.Led(), l.faulty(), l.coordinatorsFaulty(), byHarness)))
	},
	Done:    func(l *Lease) []fact.Moment { return l.Rises(l.Led()) },
	Lacking: func(l *Lease) string { return "while a candidate was eligible, " + l.Key + " had no leader" },
}
