package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// ro04: an elected component has a leader within a bound, at any time and for any reason,
// while a live candidate is eligible and no fault is about its Lease (Leases). So has what the
// candidates of the harness stand for, while there is a coordinator, without which they elect
// none. Where no instance is a candidate, each that has run for some time beside an API server
// that serves counts as one: that is so of the controller manager and the scheduler, whose
// processes are seen. It does not see the Leases of others without candidates, nor that
// instances which run are no candidates (CLE-01) or do not answer pings (CLE-03).
var ro04 = law.Deadline[*Facts, *Lease]{
	Row:     law.Row{ID: "RO-04", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{{Name: "led"}}},
	Bound:   "ledWithin",
	Over:    leases(func(l *Lease) bool { return l.ofComponent() || l.hasCandidates() || l.withoutCandidates() }),
	Begin:   func(l *Lease) []fact.Moment { return l.Rises(l.leaderless()) },
	Perhaps: func(l *Lease) []fact.Moment { return l.MayRise(l.leaderless()) },
	Running: func(l *Lease) fact.Signal {
		byHarness := l.heldBy(func(t *Tenure) bool { return byForce(t.Holder) || fact.Harness(t.Holder) })
		return fact.And(l.someCanLead(), fact.Not(fact.Or(l.Led(), l.faulty(), l.coordinatorsFaulty(), byHarness)))
	},
	Done:    func(l *Lease) []fact.Moment { return l.Rises(l.Led()) },
	Lacking: func(l *Lease) string { return "while " + l.whoCanLead() + ", " + l.Key + " had no leader" },
}

// withoutCandidates is whether instances of the members lead by the Lease, and none of them
// ever stood for it.
func (l *Lease) withoutCandidates() bool {
	return len(l.candidates) == 0 && (l.Key == managers || l.Key == scheduler) && len(l.heldByMembers()) > 0
}

// leaderless is while any instance can become the leader, and none leads.
func (l *Lease) leaderless() fact.Signal { return fact.And(l.someCanLead(), fact.Not(l.Led())) }

// someCanLead is while any instance can become the leader.
func (l *Lease) someCanLead() fact.Signal {
	switch {
	case l.ofComponent():
		return l.someEligible()
	case len(l.candidates) > 0:
		return fact.And(l.electable(), l.electing())
	}
	return cached(l.Facts, "can lead", l, func() fact.Signal {
		ofComponent := fact.Where(l.AllProcesses(), func(p *fact.Process) bool { return p.Component == l.component() })
		return fact.Or(fact.Each(ofComponent, func(p *fact.Process) fact.Signal {
			return l.able(p).Since(int64(requirement.MustBound("RO-04", "startsWithin")))
		})...)
	})
}

func (l *Lease) whoCanLead() string {
	if len(l.candidates) > 0 {
		return "a candidate was eligible"
	}
	return "a " + l.component() + " ran"
}
