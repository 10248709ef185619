package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle24: passing failures of writes delay an election by no more than a bound: once they
// pass again, the Lease gets its leader (KEP-4355, "Coordinated Election Controller").
var cle24 = law.Deadline[*Facts, *Lease]{
	Row:   law.Row{ID: "CLE-24", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "recovered"}}},
	Bound: "recoversWithin",
	Over:  leases((*Lease).hasCandidates),
	Begin: (*Lease).writableAgain,
	Running: func(l *Lease) fact.Signal {
		return fact.And(l.someEligible(), l.electing(), fact.Not(l.faulty()), fact.Not(l.coordinatorGone()))
	},
	Done: func(l *Lease) []fact.Moment {
		return l.takings(func(t *Tenure) bool { return t.Shown() && l.isElected(t.Taken.Revision) })
	},
	Void:    func(l *Lease) []law.Void { return append(l.deletedByHarness(), l.electedOtherwise()...) },
	Lacking: func(l *Lease) string { return "after writes to it could pass again, " + l.Key + " had no leader" },
}

// writableAgain are the healings of faults that had an effect on the Lease, at which it had
// no leader.
func (l *Lease) writableAgain() []fact.Moment {
	healed := fact.Where(l.Faults, func(f *fact.Fault) bool {
		return f.Healed != nil && f.Witness != "" && f.About(leasePrefix+l.Key) && l.Led().At(f.Healed.Earliest) != fact.Yes && l.faulty().At(f.Healed.Latest) == fact.No
	})
	return fact.Each(healed, func(f *fact.Fault) fact.Moment { return *f.Healed })
}
