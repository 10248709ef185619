package election

import (
	"fmt"
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro05: a leader does its work for as long as it leads (Leases). It is judged by what
// leaders write, of the Leases whose leaders tell. It does not see a component of which no
// leader ever did anything, work that leaves no mark, and leaders beside a fault.
var ro05 = law.Together[*Facts]{
	Row: law.Row{ID: "RO-05", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{{Name: "worked", Tag: "worked"}}},
	Parts: []law.Law[*Facts]{workedWhileLed, law.Written[*Facts]{Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, t := range f.ledTenures() {
			if len(t.canWork().Spans(fact.Yes)) == 0 {
				l.Excused(t.Lease.Key+" of "+t.Holder, t.Taken.When(), "something kept the leader from its work all the time, or there was none")
			}
		}
	}}},
}

var workedWhileLed = law.Always[*Facts, *Tenure]{
	Over: (*Facts).ledTenures,
	Describe: func(t *Tenure) law.Entry {
		return law.Entry{About: t.Lease.Key + " of " + t.Holder, Member: t.Lease.facts.MemberOf(t.Holder), Began: t.Taken.When()}
	},
	While: (*Tenure).canWork,
	Holds: (*Tenure).acts,
	Grace: "actsWithin",
	Tag:   (*Tenure).worked,
	Breach: func(t *Tenure, from, to int64) (string, []int64) {
		f := t.Lease.facts
		return fmt.Sprintf("%s leads %s and did none of its work for %s", t.Holder, t.Lease.Key, time.Duration(to-from).Round(time.Second)), law.Evidence(t.Taken.Seq, f.Evidence(from), f.Evidence(to))
	},
}

// ledTenures are the tenures of members' instances, in Leases whose leaders tell what they
// do.
func (f *Facts) ledTenures() []*Tenure {
	var out []*Tenure
	for _, l := range f.sorted(func(l *Lease) bool { return len(l.actions) > 0 && l.Key != coordinators }) {
		for _, t := range l.tenures() {
			if f.MemberOf(t.Holder) != "" && t.Shown() {
				out = append(out, t)
			}
		}
	}
	return out
}

// canWork is while the leader has the Lease and nothing keeps it from its work: its process
// runs, its API server serves, no fault is active anywhere, and there is something to do
// until the end of the last step.
func (t *Tenure) canWork() fact.Signal {
	f := t.Lease.facts
	member := f.MemberOf(t.Holder)
	var played fact.Builder
	played.Begin(fact.Yes)
	if n := len(f.Steps); n > 0 && f.Steps[n-1].Ended != nil {
		played.SetAt(f.Steps[n-1].Ended.Earliest, fact.No)
	}
	return fact.And(t.held(), t.Lease.hasWork(), played.Signal(), f.Running(member, componentOf(t.Lease.Key)), f.Serves(member), fact.Not(f.Disturbed()))
}

// acts is at the instants at which the leader acts.
func (t *Tenure) acts() fact.Signal {
	return cached(t.Lease.facts, "acts "+t.Lease.Key+strconv.FormatInt(t.Taken.Seq, 10), func() fact.Signal {
		var b fact.Builder
		for _, a := range t.Lease.actions {
			if a.Holder == t.Holder {
				when := t.Lease.facts.When(a.Stamp)
				b.Set(when, fact.Yes)
				b.SetAt(when.Latest+1, fact.No)
			}
		}
		return b.Signal()
	})
}

// worked is a tag where the leader acted in a stretch of time.
func (t *Tenure) worked(in fact.Span) []string {
	for _, acted := range t.acts().Spans(fact.Yes) {
		if acted.Begin < in.End && acted.End > in.Begin {
			return []string{"worked"}
		}
	}
	return nil
}

// Disturbed is while a fault is active anywhere, or a member's etcd does not live.
func (f *Facts) Disturbed() fact.Signal {
	return cached(f, "disturbed", func() fact.Signal {
		signals := []fact.Signal{f.FaultActive(func(*fact.Fault) bool { return true })}
		for _, member := range f.Members() {
			if len(f.Processes(member, history.ComponentEtcd)) > 0 {
				signals = append(signals, fact.Not(f.Alive(member, history.ComponentEtcd)))
			}
		}
		return fact.Or(signals...)
	})
}
