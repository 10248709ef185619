package discovery

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// view is what a process hosts by itself, as it said in one thorough look. What the harness
// has defined, and what is foreign, is left out: custom resources and aggregated servers
// are in etcd for all members, and no peer's.
type view struct {
	process *fact.Process
	seq     int64
	// local are the resources of each group-version in the local view.
	local map[string][]history.ListedResource
	// own are those of each group-version of which the server also gives a document of its
	// own, which is not aggregated and tells of no other server.
	own map[string][]history.ListedResource
	// denied are the answers of 404 in the place of such a document, and unsure the
	// group-versions for which there was another answer, or none.
	denied map[string]int64
	unsure map[string]bool
}

// viewIn is what a process said in a sweep that it hosts; nil if it did not.
func (s *sweep) viewIn() *view {
	f, m := s.member.facts, s.member
	if s.process == nil || f.FirstReady(s.process) == nil || s.plain(groupsPath) == nil {
		return nil
	}
	last := s.local
	if last == nil {
		return nil
	}
	v := &view{
		process: s.process, seq: last.seq, local: map[string][]history.ListedResource{},
		own: map[string][]history.ListedResource{}, denied: map[string]int64{}, unsure: map[string]bool{},
	}
	leftOut := func(group, version string) bool {
		return group == "" || f.isDefined(group) || m.isForeign(group, version, s.from)
	}
	last.listing.each(func(group string, listed *history.ListedVersion) {
		if !leftOut(group, listed.Version) {
			v.local[named(group, listed.Version)] = f.library.resources(listed)
		}
	})
	for name, a := range s.versions() {
		group, version := parted(name)
		told := a.listing.version(group, version)
		switch {
		case leftOut(group, version):
		case a.code == http.StatusOK && told != nil:
			v.own[name] = f.library.resources(told)
		case a.code == http.StatusNotFound:
			v.denied[name] = a.seq
		default:
			v.unsure[name] = true
		}
	}
	return v
}

// views are the last ones of each process.
func (f *Facts) views() map[*fact.Process]*view {
	return cached(f, "views", func() map[*fact.Process]*view {
		out := map[*fact.Process]*view{}
		for _, s := range f.sweeps() {
			if v := s.viewIn(); v != nil {
				out[v.process] = v
			}
		}
		return out
	})
}

// viewAt is what the process hosts that the member runs at a time; nil if it is not known.
func (m *member) viewAt(at int64) *view {
	return m.facts.views()[m.facts.LastProcess(m.name, history.ComponentAPIServer, at)]
}

// lacks is whether the process does not host a resource of a group-version: neither its
// local view has it nor a document of its own. It is not sure of what it was asked for in
// vain.
func (v *view) lacks(name, resource string) bool {
	if v.unsure[name] {
		return false
	}
	own, known := v.own[name]
	if _, local := v.local[name]; local && !known && v.denied[name] == 0 {
		return false // it lists it, and was not asked
	}
	return !known || find(own, resource) == nil
}

// leased is while the identity Lease of the member is in force: it exists, and has not
// expired by the clock of the server that renews it.
func (m *member) leased() fact.Signal {
	f := m.facts
	var b fact.Builder
	p := f.Participation(f.serverOf(m.name))
	for i, r := range p.Renewals {
		b.Set(f.When(r.Stamp), fact.Yes)
		over := int64(fact.Forever)
		if i+1 < len(p.Renewals) {
			over = f.When(p.Renewals[i+1].Stamp).Earliest
		}
		for _, s := range p.Spans {
			if s.Left != nil && s.Left.Revision > r.Revision && (i+1 == len(p.Renewals) || s.Left.Revision < p.Renewals[i+1].Revision) {
				left := f.When(*s.Left)
				b.Set(left, fact.No)
				over = left.Earliest
			}
		}
		apart := int64(clocksApart())
		if expires := f.Time(r.Renewed) + int64(r.Duration); r.Duration > 0 && !r.Renewed.IsZero() && expires+apart < over {
			b.Set(fact.Moment{Earliest: expires - apart, Latest: expires + apart}, fact.No)
		}
	}
	return b.Signal()
}

// serverOf is the identity of a member's API server.
func (f *Facts) serverOf(member string) string {
	for _, m := range f.Header.Members {
		if m.Name == member {
			return m.ServerID
		}
	}
	return ""
}

// left is while the member has left: neither is there a process of its API server, nor is
// the identity Lease in force with which it had joined.
func (m *member) left() fact.Signal {
	return m.signal("left", func() fact.Signal {
		p := m.facts.Participation(m.facts.serverOf(m.name))
		if len(p.Spans) == 0 {
			return fact.Signal{} // it was not seen to join, so it cannot be known that it left
		}
		var joined fact.Builder
		joined.Set(m.facts.When(p.Spans[0].Joined), fact.Yes)
		return fact.And(joined.Signal(), fact.Not(m.facts.Alive(m.name, history.ComponentAPIServer)), fact.Not(m.leased()))
	})
}

// acquainted is while the members have been for long enough what they are that they must
// know each other: each takes part with its identity Lease in force, or has left.
func (f *Facts) acquainted(after int64) fact.Signal {
	return cached(f, "acquainted", func() fact.Signal {
		var all []fact.Signal
		for _, m := range f.all() {
			all = append(all, fact.Or(fact.And(m.serves(), m.leased()), m.left()))
		}
		return fact.And(all...).Since(after)
	})
}
