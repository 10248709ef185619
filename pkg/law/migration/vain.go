package migration

import (
	"cmp"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// vain is a time in the life of a migration in which there is nothing that it could migrate.
type vain struct {
	*Migration
	since fact.Moment
	// until is when there was something; nil if there was nothing to its end.
	until *fact.Moment
}

// always is whether there was nothing from its creation to its end.
func (v vain) always() bool { return v.since.Seq == v.Created.Seq && v.until == nil }

// unhosted are the times in which no server hosted its resource, and nothing defined it. What a
// server hosted before it was asked first is what it answered then; of a resource that the harness
// writes only a definition tells.
func (m *Migration) unhosted() []vain {
	if m.written(m.Of) && m.definitions[m.Of] == nil {
		return nil
	}
	type key struct{ *Migration }
	return fact.Cached(m.History, key{m}, func() (out []vain) {
		for _, at := range m.hostingTold() {
			open := len(out) > 0 && out[len(out)-1].until == nil
			switch nothing := m.hosted(at.Seq) == fact.No; {
			case nothing && !open:
				out = append(out, vain{m, at, nil})
			case !nothing && open:
				out[len(out)-1].until = &at
			}
		}
		return out
	})
}

// hostingTold are the moments in its life at which what hosts its resource may have changed: its
// creation, changes of the definition, and between one answer of a server and the next.
func (m *Migration) hostingTold() []fact.Moment {
	end := m.end().Seq
	out := []fact.Moment{m.When(m.Created)}
	for _, d := range m.definition(m.Of).All() {
		out = append(out, m.When(d.Stamp))
	}
	for _, member := range m.Members() {
		looks := m.Looks(member)
		for i := 1; i < len(looks); i++ {
			at := m.When(looks[i].Stamp)
			at.Earliest = min(at.Earliest, m.When(looks[i-1].Stamp).Earliest)
			out = append(out, at)
		}
	}
	out = fact.Where(out, func(at fact.Moment) bool { return at.Seq >= m.Created.Seq && at.Seq <= end })
	slices.SortStableFunc(out, func(a, b fact.Moment) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

// hosted is whether a server hosted its resource at an event, or a definition made it; Unknown
// where none is known to, and some never said.
func (m *Migration) hosted(seq int64) fact.Truth {
	definitions := m.definition(m.Of).All()
	if i := fact.Last(definitions, seq, func(d Definition) int64 { return d.Seq }); i >= 0 && definitions[i].There {
		return fact.Yes
	}
	known := fact.No
	for _, member := range m.Members() {
		looks := m.Looks(member)
		i := max(fact.Last(looks, seq, func(l *fact.Look) int64 { return l.Seq }), 0)
		switch {
		case len(looks) == 0:
			known = fact.Unknown
		case looks[i].Lists(m.Of.storageVersion()):
			return fact.Yes
		}
	}
	return known
}

// unknown is whether it is known that no server hosted its resource as long as it existed.
func (m *Migration) unknown() bool {
	all := m.unhosted()
	return len(all) > 0 && all[0].always()
}

// hosting is while its resource is not known to be hosted by no server.
func (m *Migration) hosting() fact.Signal {
	return fact.Not(fact.Or(fact.Each(m.unhosted(), func(v vain) fact.Signal { return fact.Between(v.since, v.until) })...))
}
