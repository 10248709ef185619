package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv19: the collector's writes are conditional, so that an entry which is added at the same
// moment is never lost (KEP-2339, garbage collection: both the delete and the update are
// preconditioned with the revision that was read). It is put to the test where a fault holds
// such a write back, and a server that takes part puts its entry into the very object
// meanwhile: what was decided before must not happen.
var sv19 = law.Together[*facts]{
	Row: law.Row{ID: "SV-19", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "deletes", Tag: "delete"}, {Name: "updates", Tag: "update"},
	}},
	Parts: []law.Law[*facts]{sv19Lost, sv19Reverted, sv19Held},
}

var sv19Lost = law.Each[*facts, loss]{Over: (*facts).losses, End: func(x loss, bounds law.Bounds) law.Entry {
	what := "a write to"
	if x.whole {
		what = "the removal of"
	}
	return x.unlessLater(x.Entry().Broken("%s %s took the entry of %s away, which takes part and had come while that write was under way", what, x.of.Name, x.id), bounds)
}}

// unlessLater is the breach of a write that raced with the entry. A later one is another breach,
// of SV-20 or SV-09.
func (x loss) unlessLater(e law.Entry, bounds law.Bounds) law.Entry {
	switch x.raced(bounds.Of("underWay")) {
	case fact.Yes:
		return e
	case fact.Unknown:
		return e.Unclear("it is not certain whether the entry of %s had come to %s while the write was under way that took it away", x.id, x.of.Name)
	case fact.No:
	}
	return law.Entry{}
}

// sv19Reverted: an entry is lost, too, by the one that was there before it.
var sv19Reverted = law.Each[*facts, report]{Over: (*facts).reports, End: func(r report, bounds law.Bounds) law.Entry {
	x := r.reverts()
	if x == nil {
		return law.Entry{}
	}
	e := x.Entry().Broken("a write to %s put the entry of %s back, which takes part and had changed it while that write was under way", x.of.Name, x.id)
	return x.unlessLater(e.Shown(x.came.Seq, x.Seq), bounds)
}}

// sv19Held counts the writes that were held back while an entry came. What failed for want of
// time, or of permission, shows no precondition.
var sv19Held = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
	for _, x := range f.exchanges {
		v := f.StorageVersion(x.object())
		if x.Code != 409 && (x.Code < 200 || x.Code >= 300) || !slices.ContainsFunc(f.asked(v.Name), func(a *fact.Asked) bool {
			added := slices.ContainsFunc(v.Servers(), func(id string) bool {
				c := v.Entry(id).At(a.ResourceVersion)
				return c != nil && c.Revision == a.ResourceVersion && f.TakesPart(id, c.Revision)
			})
			return a.Took() == fact.Yes && added && x.heldFor(a.From, a.At)
		}) {
			continue
		}
		tag := "update"
		if x.Method == "DELETE" {
			tag = "delete"
		}
		l.Met(v.Name, f.When(x.Stamp), tag)
	}
}}
