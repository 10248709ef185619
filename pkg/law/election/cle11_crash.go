package election

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle11: after a leader's crash there is a new one within a bound (KEP-4355, "Coordinated
// Election Controller").
var cle11 = law.Deadline[*Facts, *Lease]{
	Row:      law.Row{ID: "CLE-11", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "replaced"}}},
	Bound:    "replacesWithin",
	Over:     (*Facts).componentLeases,
	Describe: (*Lease).entry,
	Begin:    (*Lease).crashes,
	Running: func(l *Lease) fact.Signal {
		return fact.And(l.someEligible(), fact.Not(l.faulty()), fact.Not(l.facts.FaultOn(leasePrefix+coordinators)))
	},
	Done:      (*Lease).shownLeaders,
	Unrelated: true,
	Void:      (*Lease).helped,
	Breach: func(l *Lease, _ fact.Moment, done *fact.Moment, took time.Duration) string {
		if done == nil {
			return fmt.Sprintf("%s has no leader, %s after its leader has crashed", l.Key, took.Round(time.Second))
		}
		return fmt.Sprintf("%s had no leader for %s after its leader had crashed", l.Key, took.Round(time.Second))
	},
}

// crashes are the ends of processes that hold the Lease when they have ended. A leader
// that may have ended a moment before its election does not lead either.
func (l *Lease) crashes() []fact.Moment {
	var out []fact.Moment
	for _, p := range l.facts.AllProcesses() {
		if p.Exited == nil || p.Component != componentOf(l.Key) {
			continue
		}
		for _, t := range l.tenures() {
			if l.facts.MemberOf(t.Holder) == p.Member && p.Started.Before(t.Taken.When()) != fact.No && t.held().At(p.Exited.Latest) == fact.Yes {
				at := *p.Exited
				at.Earliest = min(max(at.Earliest, t.Taken.When().Latest+1), at.Latest)
				out = append(out, at)
			}
		}
	}
	return out
}

// shownLeaders are when leaders took the Lease that then showed that they are there.
func (l *Lease) shownLeaders() []fact.Moment {
	var out []fact.Moment
	for _, t := range l.tenures() {
		if t.Shown() {
			out = append(out, t.Taken.When())
		}
	}
	return out
}

// helped are deletions of the Lease by the harness: they make coordinators look at it
// anew.
func (l *Lease) helped() []law.Void {
	byHarness, _ := l.deletions()
	var out []law.Void
	for _, c := range byHarness {
		out = append(out, law.Void{Moment: c.When(), Why: "the harness deleted the Lease, so that it was elected for anew"})
	}
	return out
}
