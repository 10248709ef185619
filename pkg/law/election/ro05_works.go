package election

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro05: a leader does its work for as long as it leads (Leases). It is judged by what
// leaders write, of the Leases whose leaders tell. It does not see a component of which no
// leader ever did anything, work that leaves no mark, and leaders beside a fault.
var ro05 = law.Together[*Facts]{
	Row: law.Row{ID: "RO-05", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{{Name: "worked"}}},
	Parts: []law.Law[*Facts]{
		law.Always[*Facts, *Tenure]{
			Over:  (*Facts).ledTenures,
			While: (*Tenure).canWork,
			Holds: (*Tenure).acts,
			Grace: "actsWithin",
			Idle:  "something kept the leader from its work all the time, or there was none",
			Breach: func(t *Tenure, from, to int64) (string, []int64) {
				return fmt.Sprintf("%s leads %s and did none of its work for %s", t.Holder, t.Key, time.Duration(to-from).Round(time.Second)),
					law.Evidence(t.Taken.Seq, t.Evidence(from), t.Evidence(to))
			},
		},
		law.Written[*Facts]{Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
			for _, t := range f.ledTenures() {
				l.Add(t.doubtfulGaps(b.Of("actsWithin"))...)
			}
		}},
	},
}

// doubtfulGaps are the times between two actions that were too long by some of the times at
// which these may have been, and not by all of them.
func (t *Tenure) doubtfulGaps(bound time.Duration) []law.Entry {
	var out []law.Entry
	acts := t.work()
	for i := 1; i < len(acts); i++ {
		before, now := t.When(acts[i-1].Stamp), t.When(acts[i].Stamp)
		least, most := before.Until(now)
		if least <= bound && most > bound && t.canWork().Lasts(before.Latest, now.Earliest, fact.Yes) == int64(least) {
			out = append(out, t.Entry().Unclear("whether %s did its work within %s is not certain", t.Holder, bound).Shown(before.Seq, now.Seq))
		}
	}
	return out
}

// ledTenures are the tenures of members' instances, in Leases whose leaders tell what they
// do.
func (f *Facts) ledTenures() []*Tenure {
	all := tenures(func(l *Lease) bool { return l.tellsActions() && !l.isCoordinators() })(f)
	return fact.Where(all, func(t *Tenure) bool { return t.Member != "" && t.Shown() })
}

// canWork is while the leader has the Lease and nothing keeps it from its work: its process
// runs, its API server serves, no fault is active at any member, and there is something to do
// until the end of the last step.
func (t *Tenure) canWork() fact.Signal {
	played := fact.Constant(fact.Yes)
	if n := len(t.Steps); n > 0 && t.Steps[n-1].Ended != nil {
		played = fact.Not(fact.From(fact.Exactly(t.Steps[n-1].Ended.Earliest, 0)))
	}
	return fact.And(t.held(), t.hasWork(), played, t.Running(t.Member, t.component()), t.Serves(t.Member), fact.Not(t.disturbed()))
}

// acts is at the instants at which the leader acts.
func (t *Tenure) acts() fact.Signal {
	return cached(t.Facts, "acts", t, func() fact.Signal {
		var b fact.Builder
		for _, a := range t.work() {
			when := t.When(a.Stamp)
			b.Set(when, fact.Yes)
			b.SetAt(when.Latest+1, fact.No)
		}
		return b.Signal()
	})
}

// work is what the leader did between taking the Lease and losing it.
func (t *Tenure) work() []*Action {
	revision := func(a *Action) int64 { return a.Revision }
	from, to := fact.Last(t.actions, t.Taken.Revision, revision)+1, len(t.actions)
	if t.Lost != nil {
		to = max(fact.Last(t.actions, t.Lost.Revision, revision)+1, from)
	}
	return fact.Where(t.actions[from:to], func(a *Action) bool { return a.Holder == t.Holder })
}

// disturbed is while a fault is active at any member, or a member's etcd does not run.
func (f *Facts) disturbed() fact.Signal {
	return cached(f, "disturbed", nil, func() fact.Signal {
		down := f.AnyMember(func(member string) fact.Signal {
			known := len(f.Processes(member, history.ComponentEtcd)) > 0
			return fact.And(fact.Constant(fact.Of(known)), fact.Not(f.Running(member, history.ComponentEtcd)))
		})
		return fact.Or(down, f.AnyFault())
	})
}
