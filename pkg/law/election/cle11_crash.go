package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle11: after a leader's crash there is a new one within a bound (KEP-4355, "Coordinated
// Election Controller").
var cle11 = law.Deadline[*Facts, *Lease]{
	Row:     law.Row{ID: "CLE-11", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "replaced"}}},
	Bound:   "replacesWithin",
	Over:    leases((*Lease).ofComponent),
	Begin:   func(l *Lease) []fact.Moment { return l.leaderEnds(fact.Yes) },
	Perhaps: func(l *Lease) []fact.Moment { return l.leaderEnds(fact.Unknown) },
	Running: func(l *Lease) fact.Signal {
		return fact.And(l.someEligible(), fact.Not(l.faulty()), fact.Not(l.coordinatorsFaulty()))
	},
	Done:      func(l *Lease) []fact.Moment { return l.takings((*Tenure).Shown) },
	Unrelated: true,
	Void:      (*Lease).deletedByHarness,
	Lacking:   func(l *Lease) string { return "after its leader had crashed, " + l.Key + " had no leader" },
}
