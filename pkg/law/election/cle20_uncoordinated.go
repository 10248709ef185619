package election

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindUnclaimed is a Lease that no instance took while no coordinator could give it away.
const kindUnclaimed = "unclaimed"

// cle20: without a coordinator the instances elect one of themselves after a delay
// (KEP-4355, "Coordinated Election Controller": they fall back to claiming the Lease).
var cle20 = law.Deadline[*Facts, *Lease]{
	Row:      law.Row{ID: "CLE-20", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "claimed", Breaches: true}}, Kinds: []string{kindUnclaimed}},
	Bound:    "claimsWithin",
	Over:     (*Facts).componentLeases,
	Describe: (*Lease).entry,
	Begin:    func(l *Lease) []fact.Moment { return l.facts.Rises(l.abandoned()) },
	Running:  func(l *Lease) fact.Signal { return fact.And(l.abandoned(), l.claimable()) },
	Done:     (*Lease).claims,
	Void:     (*Lease).coordinatedAgain,
	Breach: func(l *Lease, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("no server coordinates, and no instance has taken %s for %s, though there are candidates", l.Key, took.Round(time.Second))
	},
	Kind:    kindUnclaimed,
	Release: (*Lease).claimant,
}

// uncoordinated is while no coordinator holds the coordinators' Lease, and a fault keeps
// all from it.
func (f *Facts) uncoordinated() fact.Signal {
	out := f.FaultOn(leasePrefix + coordinators)
	if l := f.leases[coordinators]; l != nil {
		out = fact.And(out, fact.Not(l.Held()))
	}
	return out
}

// abandoned is while the Lease has no holder and no coordinator can give it one.
func (l *Lease) abandoned() fact.Signal {
	return fact.And(fact.Not(l.Held()), l.facts.uncoordinated())
}

// claimable is while some instance could take the Lease, whatever is wrong with the
// coordinators.
func (l *Lease) claimable() fact.Signal {
	var signals []fact.Signal
	for _, k := range l.facts.candidatesOf(l.Key) {
		if p := k.process(); p != nil && k.Declared().Before(p.Started) != fact.Yes {
			standing := k.while(func(*history.Candidate) bool { return true })
			signals = append(signals, fact.And(standing, p.Running(), l.facts.Alive(p.Member, history.ComponentAPIServer)))
		}
	}
	return fact.And(fact.Or(signals...), fact.Not(l.faulty()))
}

// claims are when an instance of a member took the Lease on its own account.
func (l *Lease) claims() []fact.Moment {
	var out []fact.Moment
	for _, t := range l.tenures() {
		if t.Taken.Now.Coordinator == "" && l.facts.MemberOf(t.Holder) != "" {
			out = append(out, t.Taken.When())
		}
	}
	return out
}

// coordinatedAgain is when a coordinator could be active again.
func (l *Lease) coordinatedAgain() []law.Void {
	var out []law.Void
	for _, m := range l.facts.Rises(fact.Not(l.facts.uncoordinated())) {
		out = append(out, law.Void{Moment: m, Why: "a coordinator could be active again"})
	}
	return out
}

// claimant is the release of an instance that could have taken the Lease.
func (l *Lease) claimant(began fact.Moment) string {
	for _, k := range l.facts.candidatesOf(l.Key) {
		if p := k.process(); p != nil && p.Lived(began) != fact.No {
			return p.Release
		}
	}
	return ""
}
