package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv25: a server at which the StorageVersion API is switched off publishes nothing, and still
// takes part and stores objects. So a version may be called agreed only if no server stores
// another one, whichever have reported; and when the API is switched on again the server
// reports as before, and the agreement is formed anew.
var sv25 = law.Together[*facts]{
	Row: law.Row{ID: "SV-25", Also: []string{history.LackFeatures}, Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{
		{Name: "skewed", Tag: "skewed"}, {Name: "returned", Tag: "returned"}, {Name: "formed", Tag: "formed"},
	}},
	Parts: []law.Law[*facts]{tagsKnown, sv25Stored, sv25Formed, sv25Returned},
}

// gates is what became of servers that were without the API: by which event each member's
// was so first, and by which revision one stored a resource otherwise than the others had
// announced, by StorageVersion.
type gates struct{ since, skewed map[string]int64 }

func (f *facts) gates() gates {
	type key struct{}
	return fact.Cached(f.History, key{}, func() gates {
		g := gates{map[string]int64{}, map[string]int64{}}
		for _, s := range f.servers().all {
			if g.since[s.Member] == 0 && s.silent() {
				g.since[s.Member] = s.Started.Seq
			}
		}
		for _, w := range f.builtInStorings() {
			if g.skewed[w.name] == 0 && w.skewed() {
				g.skewed[w.name] = w.Stored.Revision
			}
		}
		return g
	})
}

// begun is whether any server had been without the API by an event.
func (g gates) begun(seq int64) bool {
	return slices.ContainsFunc(law.SortedKeys(g.since), func(member string) bool { return g.since[member] < seq })
}

// skewed is whether a server without the API stored another version than all others had
// announced.
func (w *storing) skewed() bool {
	if !w.s.silent() || w.object == nil {
		return false
	}
	announced, equal := fact.Agreed(fact.Where(w.object.Is.Entries, func(e history.Entry) bool { return e.ServerID != w.id }))
	return equal && announced != w.APIVersion
}

// sv25Stored: while a server is without the API, or has been, no version is called agreed
// when another one is stored.
var sv25Stored = law.Each[*facts, *storing]{Over: (*facts).builtInStorings, End: func(w *storing, bounds law.Bounds) law.Entry {
	if w.object == nil || !w.f.gates().begun(w.Stored.Seq) {
		return law.Entry{}
	}
	e := w.withdrawn(w.Entry(), bounds.Of("finishesWithin"), bounds.Of("tamperRepaired"))
	tampered := w.f.tampered(w.Entry(), w.name, w.at.Latest, bounds)
	switch {
	case tampered.Ending != "":
		return tampered
	case w.falsely() && e.Ending != "":
		return e
	case w.falsely():
		return e.Broken("%s called %s agreed when %s stored %s as %s at revision %d", w.name, *w.object.Is.Common, w.Member, w.Name, w.APIVersion, w.Stored.Revision).
			Shown(w.object.Seq, w.Stored.Seq)
	}
	return w.Entry().Met(tagIf(w.skewed(), "skewed")...)
}}

// sv25Formed counts agreements that were formed anew, with all that have been without the API.
var sv25Formed = law.Each[*facts, revision]{Over: (*facts).revisions, End: func(r revision, _ law.Bounds) law.Entry {
	g := r.f.gates()
	fresh := r.Is.Common != nil && (r.before == nil || r.before.Is.Common == nil)
	skewed := g.skewed[r.of.Name]
	if !fresh || skewed == 0 || r.Revision <= skewed || slices.ContainsFunc(law.SortedKeys(g.since), func(member string) bool {
		return g.since[member] < r.Seq && (r.f.serverOf(member, r.Revision).silent() || fact.EntryIn(r.Is.Entries, r.f.ServerID(member)) == nil)
	}) {
		return law.Entry{}
	}
	return r.Entry().Met("formed")
}}

// sv25Returned: servers that have the API again have reported, by the end of a hold, of the
// resources that they reported before or that the skew was about.
var sv25Returned = law.Each[*facts, duty]{
	Over: func(f *facts) []duty {
		return f.dutiesAtHolds(func(s *server, hold *fact.Hold) bool {
			since := f.gates().since[s.Member]
			return since > 0 && since < hold.Ended.Seq && s.Alive().At(hold.Ended.Latest) != fact.No
		})
	},
	End: func(d duty, bounds law.Bounds) law.Entry {
		first := d.s.f.gates().skewed[d.name]
		tampered := d.s.f.tampered(d.Entry(), d.name, d.at.Latest, bounds)
		switch skewed := first > 0 && first <= d.revision; {
		case !skewed && d.change == nil:
			return law.Entry{}
		case tampered.Ending != "":
			return tampered
		case !d.reported():
			return d.Entry().Broken("%s has the StorageVersion API again, and no entry in %s at revision %d", d.s.Member, d.name, d.revision).Shown(d.s.Started.Seq, d.at.Seq)
		default:
			return d.Entry().Met(tagIf(skewed, "returned")...)
		}
	},
}
