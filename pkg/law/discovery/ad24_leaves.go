package discovery

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad24: what only a member hosted that has left goes from the documents of all others
// within a bound (KEP-4020).
var ad24 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-24", Also: []string{history.LackPeers}, Sources: peers, Needs: anyOf("went")},
	Parts: []law.Law[*Facts]{
		dutyLaw(law.Row{ID: "AD-24"}, "peersLeave", (*member).serving, func(f *Facts) []duty { return fact.Each(f.departures(), departure.duty) }),
		law.Written[*Facts]{Row: law.Row{ID: "AD-24"}, Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
			for _, m := range f.all() {
				for _, since := range f.Rises(m.left()) {
					if _, known := m.only(since); !known {
						l.Excused(m.name, since, "it is not known what the members host")
					}
				}
				all := fact.Where(f.departures(), func(d departure) bool { return d.member == m })
				if len(all) > 0 && !slices.ContainsFunc(all, func(d departure) bool { return len(d.went(d.since)) > 0 }) {
					l.Doubt("%s was there after a member had left that alone had hosted something, and nothing was seen to go from its documents", m.name)
				}
			}
		}},
	},
}

// exclusive is a resource of a group-version that one member alone hosts. All is whether it
// alone hosts anything of the group-version.
type exclusive struct {
	groupVersion
	resource string
	all      bool
}

func (x exclusive) String() string { return x.resource + " in " + x.groupVersion.String() }

// departure is what a member alone had hosted that has left, as one that remains is to show.
type departure struct {
	host, member *member
	// theirs is the look that showed what the one that left had hosted.
	theirs *sweep
	since  fact.Moment
	// over is when another process starts that may host it too.
	over fact.Moment
	one  exclusive
}

// duty is to give documents without it.
func (d departure) duty() duty {
	return duty{
		member: d.member, about: d.host.name + " " + d.one.String(), since: d.host.name + " had left, which was the last to host it", began: d.since,
		shown: []int64{d.theirs.local.seq}, until: d.over, why: "a process was started that may host it too", tags: d.went,
		wrong: func(k *answer) string {
			if k.lists(d.one) && !d.member.isForeign(d.one.groupVersion, k.from) {
				return "lists " + d.one.String()
			}
			return ""
		},
	}
}

func (f *Facts) departures() []departure {
	type key struct{}
	return fact.Cached(f.History, key{}, func() (out []departure) {
		for _, host := range f.all() {
			for _, since := range f.Rises(host.left()) {
				theirs := host.viewAt(since.Latest)
				only, _ := host.only(since)
				for _, one := range only {
					for _, m := range f.all() {
						if m != host && f.Alive(m.name, history.ComponentAPIServer).At(since.Latest) == fact.Yes {
							out = append(out, departure{host, m, theirs, since, m.nextStart(since, one), one})
						}
					}
				}
			}
		}
		return out
	})
}

// nextStart is when a process starts after a moment that may host something, its own among them.
func (m *member) nextStart(since fact.Moment, one exclusive) fact.Moment {
	over := fact.Exactly(fact.Forever, 0)
	for _, p := range m.facts.AllProcesses() {
		if p.Component == history.ComponentAPIServer && p.Started.Latest > since.Latest && p.Started.Latest < over.Latest && m.facts.mayHost(p, one) {
			over = p.Started
		}
	}
	return over
}

// mayHost is whether a process hosts it, as far as thorough looks tell at the process or at
// another one of its program.
func (f *Facts) mayHost(p *fact.Process, one exclusive) bool {
	view := f.views()[p]
	for _, other := range f.AllProcesses() {
		if view == nil && p.Release != "" && program(other) == program(p) {
			view = f.views()[other]
		}
	}
	return view == nil || view.local.listing.hosts(one.groupVersion, one.resource) || view.hosts(one.groupVersion, one.resource) != fact.No
}

// lists is whether the document has it.
func (a *answer) lists(one exclusive) bool {
	return a.listing.hosts(one.groupVersion, one.resource) || one.all && a.listing.version(one.groupVersion) != nil
}

// went are the tags of what the process that gave a document after the bound had listed
// while the other member was there.
func (d departure) went(fact.Moment) []string {
	there := fact.And(d.host.serves(), d.host.leased())
	before := fact.Where(d.member.between(0, d.since.Latest), func(k *answer) bool {
		return k.told() != nil && k.lists(d.one) && there.At(k.at) == fact.Yes
	})
	for _, k := range d.member.between(d.since.Latest+int64(peersLeave), d.over.Earliest) {
		p := k.by()
		if p != nil && k.told() != nil && slices.ContainsFunc(before, func(b *answer) bool { return d.member.process(b.from, b.at) == p }) {
			return []string{"went"}
		}
	}
	return nil
}

// only is what the member hosted that has left at a moment, and none that is still there or
// left later. It is not known where it is not known what the others host.
func (m *member) only(since fact.Moment) (only []exclusive, known bool) {
	theirs := m.viewAt(since.Latest)
	var others []*sweep
	for _, other := range m.facts.all() {
		if other != m && other.left().At(since.Latest) != fact.Yes {
			others = append(others, other.viewAt(since.Latest))
		}
	}
	if theirs == nil || slices.Contains(others, nil) {
		return nil, false
	}
	for _, of := range theirs.alone() {
		for _, resource := range theirs.local.listing.resources(of) {
			elsewhere := func(o *sweep) bool {
				return o.local.listing.hosts(of, resource.Name) || o.hosts(of, resource.Name) == fact.Yes
			}
			if theirs.hosts(of, resource.Name) != fact.No && !slices.ContainsFunc(others, elsewhere) {
				only = append(only, exclusive{of, resource.Name, !slices.ContainsFunc(others, func(o *sweep) bool {
					return o.local.listing.version(of) != nil || o.endpoints[of].told().version(of) != nil
				})})
			}
		}
	}
	return only, true
}
