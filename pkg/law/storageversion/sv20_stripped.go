package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv20: the collector never strips the entry of a server that lives, whatever its look-ups
// return (KEP-2339, garbage collection: what is removed are stale entries, and a server that
// takes part has none). It was put to the test only if look-ups of identity Leases failed
// after objects had changed that gave the collector something to do, a stale entry beside
// those of participants; and if it was at work, which shows when it takes the stale entry out
// later, and the others with it or not.
var sv20 = law.Together[*facts]{
	Row: law.Row{ID: "SV-20", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "blind", Tag: "blind"}, {Name: "tempted", Tag: "tempted"},
	}},
	Parts: []law.Law[*facts]{sv20Stripped, sv20Blind, sv20Tempted},
}

var sv20Stripped = law.Each[*facts, loss]{Over: (*facts).losses, End: func(x loss, bounds law.Bounds) law.Entry {
	what := "lost the entry of"
	switch {
	case x.raced(bounds.Of("underWay")) == fact.Yes:
		return law.Entry{} // SV-19's
	case x.f.Redefined(x.of.Name, x.f.When(x.came), x.f.When(x.Stamp), bounds.Of("withdrawnWithin")):
		return x.Entry().Excused("the custom resource had been deleted and defined again, and the server may have taken its entry back for that")
	case x.whole:
		what = "was removed with the entry of"
	}
	return x.Entry().Broken("%s %s %s, which takes part", x.of.Name, what, x.id)
}}

// blind are the look-ups of identity Leases by the controller manager that leads that failed.
func (f *facts) blind() []exchange {
	return fact.Where(f.exchanges, func(x exchange) bool {
		return x.failedLookup() && f.ManagerLeads(x.member).During(f.When(x.Stamp)) != fact.No
	})
}

var sv20Blind = law.Each[*facts, exchange]{Over: (*facts).blind, End: func(x exchange, _ law.Bounds) law.Entry {
	return law.Of("identity Leases", fact.Moment{Earliest: x.From, Latest: x.At, Seq: x.Seq}).Met("blind")
}}

// sv20Tempted counts the stale entries beside others that must stay, after whose coming a
// look-up failed, and that the collector took away in the end.
var sv20Tempted = law.Each[*facts, departure]{Over: (*facts).departures, End: func(d departure, bounds law.Bounds) law.Entry {
	f := d.f
	if !d.gone || !slices.ContainsFunc(f.blind(), func(x exchange) bool { return x.From > d.Began.At && x.Seq < d.Ended.Seq }) {
		return law.Entry{}
	}
	before, at := d.v.At(d.Ended.Revision-1), f.When(*d.Ended)
	live := fact.Where(before.Is.Entries, func(e history.Entry) bool { return f.TakesPart(e.ServerID, d.Ended.Revision) })
	stripped := slices.ContainsFunc(f.losses(), func(x loss) bool { return x.Seq == d.Ended.Seq && x.raced(bounds.Of("underWay")) != fact.Yes })
	if len(live) == 0 || !stripped && !f.collected(d, live, at) {
		return law.Entry{}
	}
	return law.Of(d.v.Name, at).Met("tempted")
}}

// collected is whether a stale entry was taken out by a collector: with nothing but other
// stale ones, while the controller manager that leads runs, and neither the harness nor a
// server that starts can have done it.
func (f *facts) collected(d departure, live []history.Entry, at fact.Moment) bool {
	changed := revision{d.v.ChangeBy(d.Ended.Revision), f, d.v, d.v.At(d.Ended.Revision - 1)}.changed()
	return len(changed) == 0 && !f.takenBy(d.v.Name, *d.Ended) && f.AnyMember(f.manages).During(at) == fact.Yes &&
		!slices.ContainsFunc(live, func(e history.Entry) bool { return d.v.EntryAt(e.ServerID, d.Ended.Revision) == nil }) &&
		!slices.ContainsFunc(f.Members(), func(member string) bool { return f.startsAt(member, d.Ended.Revision, at) })
}

// startsAt is whether a member's API server was starting at a revision: it takes stale
// entries out, too.
func (f *facts) startsAt(member string, revision int64, at fact.Moment) bool {
	s := f.serverOf(member, revision)
	if s == nil || s.Alive().During(at) == fact.No {
		return false
	}
	served := s.revision
	if served == 0 && len(s.looks) > 0 {
		served = s.looks[0].EtcdRevision
	}
	return served == 0 || revision <= served
}
