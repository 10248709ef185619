package election

import (
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
		law.Each[*Facts, *coordination]{Over: (*Facts).coordinations, End: (*coordination).byHolder},
		law.Deadline[*Facts, *Lease]{
			Bound: "coordinatesWithin",
			Over:  leases((*Lease).isCoordinators),
			Begin: (*Lease).leftByCoordinators,
			Perhaps: func(l *Lease) []fact.Moment {
				return append(l.leaderEnds(fact.Unknown), l.MayRise(fact.Not(l.Led()))...)
			},
			Running:   (*Lease).coordinable,
			Done:      func(l *Lease) []fact.Moment { return append(l.takings((*Tenure).Shown), l.Rises(l.Led())...) },
			Unrelated: true,
			Lacking:   func(*Lease) string { return "no API server coordinates" },
		},
		law.Each[*Facts, *Tenure]{Over: tenures((*Lease).isCoordinators), End: (*Tenure).takesOver},
	},
}

// leftByCoordinators are when the coordinator's server ended, and when no coordinator has the
// Lease any more for whatever reason: it expired, was given up, deleted or taken by force.
func (l *Lease) leftByCoordinators() []fact.Moment {
	return append(l.leaderEnds(fact.Yes), l.Rises(fact.Not(l.Led()))...)
}

// canCoordinate is while a server that has coordination is healthy, and etcd can write.
func (f *Facts) canCoordinate() fact.Signal {
	return cached(f, "can coordinate", nil, func() fact.Signal {
		return fact.And(f.writable(), f.AnyMember(func(member string) fact.Signal {
			return fact.And(f.Healthy(member), f.coordinates(member))
		}))
	})
}

// coordinable is while nothing stands in the way of a coordinator: a server can coordinate, and
// the harness neither keeps requests about the Lease from passing nor has the Lease.
func (l *Lease) coordinable() fact.Signal {
	return fact.And(l.canCoordinate(), fact.Not(fact.Or(l.faulty(), l.heldBy(func(t *Tenure) bool { return byForce(t.Holder) }))))
}

// takesOver counts coordinators that took over from another one, for whatever reason.
func (t *Tenure) takesOver(_ law.Bounds) law.Entry {
	before := t.before
	for before != nil && byForce(before.Holder) {
		before = before.before
	}
	if before == nil || byForce(t.Holder) || before.Holder == t.Holder {
		return law.Entry{}
	}
	return t.Entry().Met("takeovers")
}

// coordination is a ping or an election by a coordinator that says who it is.
type coordination struct {
	// lease is the one of the coordinators.
	lease     *Lease
	who, what string
	at        fact.Moment
}

func (f *Facts) coordinations() []*coordination {
	var out []*coordination
	l := f.leases[coordinators]
	if l == nil {
		return nil
	}
	for _, k := range f.declared {
		for _, s := range fact.Where(k.said, func(s *statement) bool { return s.asked && s.Coordinator != "" }) {
			out = append(out, &coordination{l, s.Coordinator, k.Name, k.when(s)})
		}
	}
	for _, c := range changes(func(c *Change) bool { return (c.Taken() || c.Marked()) && c.ByCoordinator() && c.Now.Coordinator != "" })(f) {
		out = append(out, &coordination{l, c.Now.Coordinator, c.Key, c.When()})
	}
	return out
}

// is is whether the holder of a Lease is the coordinator, of which no more may be known
// than its host.
func (c *coordination) is(holder string) bool {
	return holder == c.who || history.Host(holder) == c.who
}

// byHolder judges that the coordinator held the coordinators' Lease when it wrote, or had
// not had the time to notice that the harness had taken it.
func (c *coordination) byHolder(_ law.Bounds) law.Entry {
	e, held := law.Of(c.what, c.at), ""
	if at := c.lease.at(c.at.Revision); at != nil {
		held = holder(at.Now)
	}
	may := c.lease.mayNotNotice(c.is, c.at.Revision, c.at)
	switch {
	case c.is(held):
		return e.Met("writes")
	case may == fact.Yes:
		return e.Excused("the harness had taken the coordinators' Lease from it a moment before")
	case may == fact.Unknown:
		return e.Unclear("whether %s had had the time to notice that the harness took the coordinators' Lease is not certain", c.who)
	}
	return e.Broken("%s wrote to %s as a coordinator, and %q held the coordinators' Lease", c.who, c.what, held)
}
