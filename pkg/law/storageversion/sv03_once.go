package storageversion

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv03: each participating server appears exactly once in each object, under its own ID
// (KEP-2339, updating StorageVersion). Two entries of one server are a breach in any
// revision; completeness is judged at the end of holds, when nothing is on its way.
var sv03 = law.Together[*facts]{
	Row: law.Row{ID: "SV-03", Sources: []fact.Source{fact.Etcd, fact.Discovery, fact.Requests}, Needs: []law.Need{
		{Name: "entries", Tag: "entry"}, {Name: "compared", Tag: "compared"}, {Name: "comparedEach", Tag: "compared", Each: true},
		{Name: "refusedEach", Tag: "refused lasting", Each: true},
	}},
	Parts: []law.Law[*facts]{hostingKnown, sv03Once, refuses(history.InvalidDuplicate, "in which one server has two entries"), sv03Complete, sv03Foreign},
}

var sv03Once = law.Each[*facts, written]{Over: (*facts).entries, End: func(w written, _ law.Bounds) law.Entry {
	if fact.EntryIn(w.Is.Entries, w.entry.ServerID) == w.entry {
		return w.Entry().Met("entry")
	}
	return w.Entry().Alone().Broken("%s has more than one entry of %s at revision %d", w.of.Name, w.entry.ServerID, w.Revision)
}}

// sv03Complete: a server that takes part has its entry in the object of each resource that it
// hosts, if it is not booting yet.
var sv03Complete = law.Each[*facts, duty]{
	Over: func(f *facts) []duty {
		return f.dutiesAtHolds(func(s *server, hold *fact.Hold) bool {
			return s.readyBy(hold.Ended.Latest) && f.TakesPart(s.id, hold.EndedRevision)
		})
	},
	End: func(d duty, bounds law.Bounds) law.Entry {
		what := "has no entry in " + d.name
		tampered := d.s.f.tampered(d.Entry(), d.name, d.at.Latest, bounds)
		switch e := d.Entry(); {
		case d.reported() && d.s.sharesIdentity(d.at.Latest):
			return e.Broken("%s is the identity of several servers that take part, and %s has one entry for all of them", d.s.id, d.name).Shown(d.evidence()...)
		case d.reported():
			return e.Met("compared")
		case tampered.Ending != "":
			return tampered
		default:
			if d.s.f.StorageVersion(d.name).At(d.revision) == nil {
				what = "there is no " + d.name
			}
			return e.Broken("%s takes part and hosts the resource, but %s at the end of a hold", d.s.id, what).Shown(d.evidence()...)
		}
	},
}

// sv03Foreign: no entry of a server without an identity Lease has been there for longer than
// a collector may take that nothing hinders.
var sv03Foreign = law.Each[*facts, staleAtHold]{
	Over: func(f *facts) (out []staleAtHold) {
		for _, hold := range f.endedHolds() {
			for _, d := range f.departures() {
				if d.Through(hold.EndedRevision, hold.EndedRevision) && !f.TakesPart(d.id, hold.EndedRevision) {
					out = append(out, staleAtHold{d, hold})
				}
			}
		}
		return out
	},
	End: func(d staleAtHold, bounds law.Bounds) law.Entry {
		able, e := d.clock("SV-03"), law.Of(d.v.Name, *d.hold.Ended)
		began, bound := d.f.When(d.Began), int64(bounds.Of("departedGoes"))
		switch {
		case able.Lasts(began.Latest, d.hold.Ended.Earliest, fact.Yes) > bound:
			e = e.Broken("%s has an entry of %q, which has no identity Lease, at the end of hold %q", d.v.Name, d.id, d.hold.Name).Shown(d.Began.Seq, d.hold.Ended.Seq)
			excess := time.Duration(able.Lasts(began.Latest, d.hold.Ended.Earliest, fact.Yes) - bound)
			return law.UnlessStarved(d.f.History, e, excess, able, began.Latest, d.hold.Ended.Earliest)
		case able.Lasts(began.Earliest, d.hold.Ended.Latest, fact.Unknown) > bound:
			return e.Unclear("it is not certain whether the collector had time to remove the entry of %q, which has no identity Lease", d.id)
		}
		return e.Excused("the collector had no time to remove the entry of a server without an identity Lease")
	},
}

// staleAtHold is a departure that lasts at the end of a hold.
type staleAtHold struct {
	departure
	hold *fact.Hold
}
