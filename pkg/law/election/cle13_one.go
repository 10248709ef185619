package election

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle13: one coordinator is active at a time, and another one takes over: the coordinators
// have a Lease of their own (KEP-4355, "Coordinated Election Controller").
var cle13 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-13", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{
		{Name: "writes", Tag: "writes"}, {Name: "takeovers", Tag: "takeovers"},
	}},
	Parts: []law.Law[*Facts]{
		law.OnlyIf[*Facts, *coordination]{
			Events: (*Facts).coordinations,
			Describe: func(c *coordination) law.Entry {
				return law.Entry{About: c.what, Began: c.at, Tags: []string{"writes"}}
			},
			If:     (*coordination).owned,
			Excuse: (*coordination).excuse,
			Breach: func(c *coordination) (string, []int64) {
				return fmt.Sprintf("%s wrote to %s as a coordinator, and %q held the coordinators' Lease", c.who, c.what, c.holder()), law.Evidence(c.at.Seq)
			},
		},
		law.Deadline[*Facts, *Lease]{
			Bound:     "coordinatesWithin",
			Over:      (*Facts).coordinatorsLease,
			Describe:  (*Lease).entry,
			Begin:     (*Lease).serverEnds,
			Running:   func(l *Lease) fact.Signal { return fact.And(l.facts.anyServer(), fact.Not(l.faulty())) },
			Done:      (*Lease).newCoordinators,
			Unrelated: true,
			Breach: func(_ *Lease, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
				return fmt.Sprintf("no API server coordinates, %s after the server of the coordinator has gone", took.Round(time.Second))
			},
		},
		law.Written[*Facts]{Judge: countTakeovers},
	},
}

// coordination is a ping or an election by a coordinator that says who it is.
type coordination struct {
	facts     *Facts
	who, what string
	at        fact.Moment
	revision  int64
}

func (f *Facts) coordinations() []*coordination {
	var out []*coordination
	if f.leases[coordinators] == nil {
		return nil
	}
	for _, c := range f.candidates {
		for i, ch := range c.changes {
			pinged := !ch.now.Pinged.IsZero() && (i == 0 || !ch.now.Pinged.Equal(c.changes[i-1].now.Pinged))
			if pinged && ch.now.Coordinator != "" {
				out = append(out, &coordination{f, ch.now.Coordinator, c.Name, f.When(ch.Stamp), ch.Revision})
			}
		}
	}
	for _, l := range f.sorted(func(*Lease) bool { return true }) {
		for _, c := range l.changes {
			if (c.Taken() || c.Marked()) && c.ByCoordinator() && c.Now.Coordinator != "" {
				out = append(out, &coordination{f, c.Now.Coordinator, l.Key, c.When(), c.Revision})
			}
		}
	}
	return out
}

// holder is the holder of the coordinators' Lease when the coordinator wrote.
func (c *coordination) holder() string {
	if at := c.facts.leases[coordinators].at(c.revision); at != nil {
		return holder(at.Now)
	}
	return ""
}

// byHolder is whether the coordinator held the Lease, of which no more may be known than
// its host.
func (c *coordination) byHolder() bool { return sameHolder(c.holder(), c.who) }

func sameHolder(holder, known string) bool {
	return known != "" && (holder == known || history.Host(holder) == known)
}

// owned is whether the coordinator held the Lease, or had certainly had the time to notice
// that the harness had taken it.
func (c *coordination) owned() fact.Truth {
	if c.byHolder() {
		return fact.Yes
	}
	return c.mayNotice()
}

// excuse is that the harness took the Lease from the coordinator a moment before, which it
// learns when it renews next.
func (c *coordination) excuse() string {
	if !c.byHolder() && c.mayNotice() == fact.Yes {
		return "the harness had taken the coordinators' Lease from it a moment before"
	}
	return ""
}

// mayNotice is whether the coordinator may not have noticed so far that the harness took
// its Lease.
func (c *coordination) mayNotice() fact.Truth {
	var last *Change
	for _, change := range c.facts.leases[coordinators].changes {
		if change.Revision < c.revision && (change.Deleted() || change.Taken() && byForce(change.Now.Holder)) {
			last = change
		}
	}
	if last == nil || !sameHolder(holder(last.Before), c.who) {
		return fact.No
	}
	return within(last.When(), c.at, noticesWithin())
}

func (f *Facts) coordinatorsLease() []*Lease {
	return f.sorted(func(l *Lease) bool { return l.Key == coordinators })
}

// serverEnds are the ends of API servers whose coordinator held the Lease.
func (l *Lease) serverEnds() []fact.Moment {
	var out []fact.Moment
	for _, p := range l.facts.AllProcesses() {
		if p.Component != history.ComponentAPIServer || p.Exited == nil {
			continue
		}
		for _, t := range l.tenures() {
			if l.facts.MemberOf(t.Holder) == p.Member && t.held().During(*p.Exited) == fact.Yes {
				out = append(out, *p.Exited)
			}
		}
	}
	return out
}

// newCoordinators are when a coordinator took the Lease, other than by force.
func (l *Lease) newCoordinators() []fact.Moment {
	var out []fact.Moment
	for _, t := range l.tenures() {
		if !byForce(t.Holder) {
			out = append(out, t.Taken.When())
		}
	}
	return out
}

// anyServer is while the API server of some member serves, with no fault at it.
func (f *Facts) anyServer() fact.Signal {
	var signals []fact.Signal
	for _, member := range f.Members() {
		signals = append(signals, fact.And(f.Serves(member), fact.Not(f.FaultAt(member))))
	}
	return fact.Or(signals...)
}

// countTakeovers counts coordinators that took over from another one, for whatever reason.
func countTakeovers(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, lease := range f.coordinatorsLease() {
		last := ""
		for _, t := range lease.tenures() {
			if byForce(t.Holder) {
				continue
			}
			if last != "" && last != t.Holder {
				l.MetBy(f.MemberOf(t.Holder), lease.Key, t.Taken.When(), "takeovers")
			}
			last = t.Holder
		}
	}
}
