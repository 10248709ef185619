package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv11: a server joins the list of participants before its first entry (KEP-2339, garbage
// collection): the identity Lease is there, and older, at every revision that brings an
// entry of a server, and at the first by which a restarted one changes what the process
// before it had left.
var sv11 = law.Each[*facts, arrival]{
	Row: law.Row{ID: "SV-11", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "entries", Tag: "entry"}, {Name: "entriesEach", Tag: "entry", Each: true},
	}},
	Over: (*facts).arrivals,
	End: func(a arrival, _ law.Bounds) law.Entry {
		member, spans := a.f.MemberOfServer(a.id), a.f.Participation(a.id).Stretches()
		e := law.Of(a.v.Name, a.f.When(a.Stamp)).By(member)
		switch {
		case a.f.byHarness(a.v.Name, a.Stamp):
			return e.Excused("the harness wrote the entry")
		case a.f.TakesPart(a.id, a.Revision):
			return e.Met(tagIf(a.Made == a.Revision, "entry")...)
		case a.f.unleased(a.id, a.f.When(a.Stamp)):
			return e.Excused("the harness had just deleted the identity Lease of the server")
		case member != "":
			return e.Broken("%s got an entry of %s at revision %d, when that server had no identity Lease", a.v.Name, a.id, a.Revision)
		case len(spans) > 0 && spans[0].Began.Revision > a.Revision && a.v.Entry(a.id).At(spans[0].Began.Revision) != nil:
			return e.Broken("%s got its identity Lease at revision %d, and had an entry before", a.id, spans[0].Began.Revision).Shown(a.Seq, spans[0].Began.Seq)
		}
		return e.Unclear("%s is no member and has no identity Lease: it is not known whether there is such a server", a.id)
	},
}

// arrival is an entry that a server brought into an object, or changed first in the life
// of its process.
type arrival struct {
	fact.EntryChange
	f  *facts
	v  *fact.StorageVersion
	id string
}

func (f *facts) arrivals() (out []arrival) {
	for _, v := range f.StorageVersions() {
		for _, id := range v.Servers() {
			for _, c := range v.Entry(id).All() {
				s, before := f.serverOf(f.MemberOfServer(id), c.Revision), v.Entry(id).ChangeBy(c.Revision-1)
				if c.There && (c.Made == c.Revision || s != nil && before.Revision <= s.since) {
					out = append(out, arrival{c, f, v, id})
				}
			}
		}
	}
	return out
}
