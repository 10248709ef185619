package election

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro04: an elected component has a leader within a bound, at any time and for any reason,
// while a live candidate is eligible and no fault is about its Lease (Leases). It does not
// see Leases without candidates, since what stands for them shows only when it leads, nor
// that instances which run are no candidates (CLE-01) or do not answer pings (CLE-03).
var ro04 = law.Deadline[*Facts, *Lease]{
	Row:      law.Row{ID: "RO-04", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{{Name: "led"}}},
	Bound:    "ledWithin",
	Over:     (*Facts).componentLeases,
	Describe: (*Lease).entry,
	Begin:    func(l *Lease) []fact.Moment { return l.facts.Rises(fact.And(l.someEligible(), fact.Not(l.Led()))) },
	Running: func(l *Lease) fact.Signal {
		return fact.And(l.someEligible(), fact.Not(l.Led()), fact.Not(l.faulty()), fact.Not(l.facts.FaultOn(leasePrefix+coordinators)), fact.Not(l.heldByHarness()))
	},
	Done: func(l *Lease) []fact.Moment { return l.facts.Rises(l.Led()) },
	Breach: func(l *Lease, _ fact.Moment, done *fact.Moment, took time.Duration) string {
		if done == nil {
			return fmt.Sprintf("%s has had no leader for %s while a candidate was eligible", l.Key, took.Round(time.Second))
		}
		return fmt.Sprintf("%s had no leader for %s while a candidate was eligible", l.Key, took.Round(time.Second))
	},
}

// heldByHarness is while a holder has the Lease that the harness put there.
func (l *Lease) heldByHarness() fact.Signal {
	return l.whileTenure(func(t *Tenure) bool { return byForce(t.Holder) || fact.Harness(t.Holder) })
}
