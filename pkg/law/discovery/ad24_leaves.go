package discovery

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad24: what only a member hosted that has left goes from the documents of all others
// within a bound (KEP-4020).
var ad24 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-24", Sources: peers, Needs: []law.Need{{Name: "went", Tag: "went"}}},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		went := map[string]bool{} // by remaining member
		for _, gone := range f.all() {
			for _, since := range f.Rises(gone.left()) {
				only, known := gone.only(since)
				if !known {
					l.Excused(gone.name, since, "it is not known what the members host")
					continue
				}
				for _, m := range f.all() {
					if m == gone || f.Alive(m.name, history.ComponentAPIServer).At(since.Latest) != fact.Yes {
						continue
					}
					for _, one := range only {
						e := (&departure{gone, m, since, one}).judge(b.Of("peersLeave"))
						l.Add(e)
						went[m.name] = went[m.name] || slices.Contains(e.Tags, "went")
					}
				}
			}
		}
		for _, name := range law.SortedKeys(went) {
			if !went[name] {
				l.Doubt("%s was there after a member had left that alone had hosted something, and nothing was seen to go from its documents", name)
			}
		}
	},
}

// exclusive is a resource of a group-version, or with no resource all of it.
type exclusive struct{ name, resource string }

func (h exclusive) String() string {
	if h.resource == "" {
		return h.name
	}
	return h.resource + " in " + h.name
}

// lists is whether a document has it.
func (l *listing) lists(one exclusive) bool {
	group, version := parted(one.name)
	found := l.version(group, version)
	return found != nil && (one.resource == "" || l.library.hosts(found, one.resource))
}

// departure is what a member alone had hosted that has left, as one that remains is to show.
type departure struct {
	gone, member *member
	since        fact.Moment
	one          exclusive
}

func (d *departure) judge(bound time.Duration) law.Entry {
	m, f := d.member, d.member.facts
	theirs := f.views()[f.LastProcess(d.gone.name, history.ComponentAPIServer, d.since.Latest)].seq
	over, why := d.over()
	e := law.Entry{About: d.gone.name + " " + d.one.String(), Member: m.name, Began: d.since}
	breach := func(took time.Duration, last string) string {
		return fmt.Sprintf("%s lists %s %s after %s had left, which was the last to host that%s", m.name, d.one, took, d.gone.name, lately(last))
	}
	e, shown := (&owed{
		Entry: e, member: m, bound: bound, over: over, why: why, breach: breach,
		fits: func(k *look) bool { return k.told() != nil && !k.listing.lists(d.one) },
	}).end(f.Over())
	e.Evidence = append(e.Evidence, theirs)
	if shown == nil || e.Ending != law.Met {
		return e
	}
	// It has to stay away.
	group, version := parted(d.one.name)
	if k := m.goesBack(d.since.Latest, over.Earliest, bound, func(k *look) bool { return !k.listing.lists(d.one) || m.isForeign(group, version, k.from) }); k != nil {
		e.Ending, e.Evidence, e.Why = law.Broken, law.Evidence(theirs, k.seq), breach(time.Duration(k.until-d.since.Latest).Round(100*time.Millisecond), "")
		return e
	}
	if slices.ContainsFunc(m.between(d.since.Latest+int64(bound), over.Earliest), func(k *look) bool { return k.told() != nil && k.ready() && d.listedBefore(k) }) {
		e.Tags = []string{"went"}
	}
	return e
}

// listedBefore is whether the process that gave a document had listed it while the other
// member was there.
func (d *departure) listedBefore(k *look) bool {
	p := k.process()
	there := fact.And(d.gone.serves(), d.gone.leased())
	return slices.ContainsFunc(d.member.between(p.Started.Latest, d.since.Latest), func(before *look) bool {
		return before.told() != nil && before.process() == p && before.listing.lists(d.one) && there.At(before.at) == fact.Yes
	})
}

// over is when another process starts, which may host it too.
func (d *departure) over() (fact.Moment, string) {
	over := never
	for _, other := range d.gone.facts.all() {
		for _, p := range d.gone.facts.Processes(other.name, history.ComponentAPIServer) {
			if other != d.member && p.Started.Latest > d.since.Latest && p.Started.Latest < over.Latest {
				over = p.Started
			}
		}
	}
	return over, "another member was started"
}

// only is what the member hosted that has left at a moment, and none that is still there or
// left later. It is not known where it is not known what the others host.
func (m *member) only(since fact.Moment) (only []exclusive, known bool) {
	theirs := m.viewAt(since.Latest)
	if theirs == nil {
		return nil, false
	}
	elsewhere := map[exclusive]bool{}
	for _, other := range m.facts.all() {
		if other == m || other.left().At(since.Latest) == fact.Yes {
			continue
		}
		v := other.viewAt(since.Latest)
		if v == nil {
			return nil, false
		}
		for _, said := range []map[string][]history.ListedResource{v.local, v.own} {
			for name, resources := range said {
				elsewhere[exclusive{name, ""}] = true
				for _, resource := range resources {
					elsewhere[exclusive{name, resource.Name}] = true
				}
			}
		}
	}
	for _, name := range law.SortedKeys(theirs.local) {
		if group, version := parted(name); m.isForeign(group, version, since.Latest) {
			continue
		}
		if !elsewhere[exclusive{name, ""}] && theirs.denied[name] == 0 {
			only = append(only, exclusive{name, ""})
			continue
		}
		for _, resource := range theirs.local[name] {
			if one := (exclusive{name, resource.Name}); !elsewhere[one] && !theirs.lacks(name, resource.Name) {
				only = append(only, one)
			}
		}
	}
	return only, true
}
