package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle25: an API server without coordination ignores the fields that KEP-4355 adds where
// they are new, and keeps them where they were; when all servers have coordination again,
// Leases are coordinated as before ("Upgrade / Downgrade Strategy").
var cle25 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-25", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "dropped", Tag: "dropped"}, {Name: "kept", Tag: "kept"}, {Name: "stored", Tag: "stored"}, {Name: "converged", Tag: "converged"},
	}},
	Parts: []law.Law[*Facts]{
		law.Written[*Facts]{Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
			for _, r := range fact.Where(f.requests, func(r *fact.Asked) bool { return r.Election == history.ElectionFields }) {
				l.Add(f.storedFields(r))
			}
		}},
		law.Deadline[*Facts, *Lease]{
			Bound:   "convergesWithin",
			Over:    leases((*Lease).ofComponent),
			Begin:   func(l *Lease) []fact.Moment { return l.enabledAgain() },
			Running: (*Lease).electable,
			Done: func(l *Lease) []fact.Moment {
				return l.Rises(fact.And(l.allCoordinate(), l.Held(), l.says(func(now *history.Lease) bool { return now.Strategy != "" })))
			},
			Lacking: func(l *Lease) string {
				return "all servers have coordination again, and no leader has " + l.Key + " by it"
			},
			Tag: func(*Lease, fact.Moment, fact.Moment) []string { return []string{"converged"} },
		},
	},
}

// allCoordinate is while the API servers of all members have coordination, and coordinates
// while that of one has.
func (f *Facts) allCoordinate() fact.Signal {
	return fact.And(fact.Each(f.Members(), f.coordinates)...)
}

func (f *Facts) coordinates(member string) fact.Signal {
	return fact.Follow(f.Processes(member, history.ComponentAPIServer), func(p *fact.Process) fact.Moment { return p.Started },
		func(p *fact.Process) bool { return !p.Without(history.FeatureCoordination) })
}

// enabledAgain are when all servers have coordination again after one had none.
func (f *Facts) enabledAgain() []fact.Moment {
	return fact.Where(f.Rises(f.allCoordinate()), func(m fact.Moment) bool {
		return slices.ContainsFunc(f.Members(), func(member string) bool { return f.hadBeenWithout(member, m.Latest) })
	})
}

// hadBeenWithout is whether a member's API server was ever started without coordination by
// an instant.
func (f *Facts) hadBeenWithout(member string, at int64) bool {
	return slices.ContainsFunc(f.Processes(member, history.ComponentAPIServer), func(p *fact.Process) bool {
		return p.Without(history.FeatureCoordination) && p.Started.Latest <= at
	})
}

// storedFields compares what was asked for with what was stored.
func (f *Facts) storedFields(r *fact.Asked) law.Entry {
	e := law.Of(r.Name, f.When(r.Stamp)).By(r.Member)
	if serverFailed(r) {
		return e.Broken("%s answered %d to a Lease with the fields of coordination: %s", r.Member, r.Code, r.Message).Shown(r.Seq)
	}
	c, p := f.madeBy(r), f.LastProcess(r.Member, history.ComponentAPIServer, e.Began.Latest)
	if c == nil {
		return law.Entry{}
	}
	had := c.Before != nil && c.Before.Strategy != "" && c.Before.Preferred != ""
	has, none := c.Now.Strategy != "" && c.Now.Preferred != "", c.Now.Strategy == "" && c.Now.Preferred == ""
	switch with := p != nil && !p.Without(history.FeatureCoordination); {
	case with && !has:
		return e.Broken("%s, with coordination, did not store the fields that are for it", r.Member).Shown(r.Seq, c.Seq)
	case with && r.Verb == "create" && f.hadBeenWithout(r.Member, e.Began.Latest):
		return e.Met("stored")
	case with:
		return law.Entry{}
	case had && !has:
		return e.Broken("%s, without coordination, took the fields that are for it out of a Lease that had them", r.Member).Shown(r.Seq, c.Seq)
	case had:
		return e.Met("kept")
	case !none:
		return e.Broken("%s, without coordination, stored the fields that are for it in a Lease that had none", r.Member).Shown(r.Seq, c.Seq)
	}
	return e.Met("dropped")
}

// madeBy is the change of a Lease that a request made; nil if it made none.
func (f *Facts) madeBy(r *fact.Asked) *Change {
	l := f.leases[r.Name]
	if l == nil || r.Took() != fact.Yes {
		return nil
	}
	if c := l.at(r.ResourceVersion); c != nil && c.Revision == r.ResourceVersion && !c.Deleted() {
		return c
	}
	return nil
}
