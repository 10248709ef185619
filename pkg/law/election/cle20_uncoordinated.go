package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindUnclaimed is a Lease that no instance took while no coordinator could give it away.
const kindUnclaimed = "unclaimed"

// cle20: without a coordinator the instances elect one of themselves after a delay
// (KEP-4355, "Coordinated Election Controller": they fall back to claiming the Lease).
var cle20 = law.Deadline[*Facts, *Lease]{
	Row:     law.Row{ID: "CLE-20", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "claimed", Breaches: true}}, Kinds: []string{kindUnclaimed}},
	Bound:   "claimsWithin",
	Over:    leases((*Lease).ofComponent),
	Begin:   func(l *Lease) []fact.Moment { return l.Rises(l.abandoned()) },
	Perhaps: func(l *Lease) []fact.Moment { return l.MayRise(l.abandoned()) },
	Running: func(l *Lease) fact.Signal { return fact.And(l.abandoned(), l.claimable(), fact.Not(l.faulty())) },
	Done: func(l *Lease) []fact.Moment {
		return l.takings(func(t *Tenure) bool { return t.Taken.Now.Coordinator == "" && t.Member != "" })
	},
	Void: func(l *Lease) []law.Void {
		return law.Voids("a coordinator could be active again", l.Rises(fact.Not(l.uncoordinated()))...)
	},
	Lacking: func(l *Lease) string {
		return "no server coordinates, and though there are candidates no instance has taken " + l.Key
	},
	Kind:    kindUnclaimed,
	Release: (*Lease).claimant,
}

// uncoordinated is while no coordinator holds the coordinators' Lease, and a fault keeps
// all from it.
func (f *Facts) uncoordinated() fact.Signal {
	held := fact.Each(leases((*Lease).isCoordinators)(f), (*Lease).Held)
	return fact.And(f.coordinatorsFaulty(), fact.Not(fact.Or(held...)))
}

// abandoned is while the Lease has no holder and no coordinator can give it one.
func (l *Lease) abandoned() fact.Signal { return fact.And(fact.Not(l.Held()), l.uncoordinated()) }

// claimable is while some instance could take the Lease, whatever is wrong with the
// coordinators.
func (l *Lease) claimable() fact.Signal {
	return fact.Or(fact.Each(fact.Where(l.candidates, (*Candidate).ofMember), func(k *Candidate) fact.Signal {
		member := k.process().Member
		return fact.And(k.stands(), k.running(), k.Running(member, history.ComponentAPIServer), fact.Not(k.Stopped(member, history.ComponentEtcd)))
	})...)
}

// claimant is the release of an instance that could have taken the Lease.
func (l *Lease) claimant(began fact.Moment) string {
	for _, k := range l.candidates {
		if p := k.process(); p != nil && p.Lived(began) != fact.No {
			return p.Release
		}
	}
	return ""
}
