package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv15: no object is ever stored in a version that its writer had not announced (KEP-2339:
// the reason for the whole order). The stored bytes name the version, a tag names the member
// that the write went through, and the entry is the one in force at that very revision.
// Custom resources are SV-24's.
var sv15 = law.Together[*facts]{
	Row: law.Row{ID: "SV-15", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "writes", Tag: "write"}, {Name: "writesEach", Tag: "write", Each: true}, {Name: "versions", Tag: "version"},
	}},
	Parts: []law.Law[*facts]{hostingKnown, tagsKnown, law.Each[*facts, *storing]{Over: (*facts).builtInStorings, End: func(w *storing, bounds law.Bounds) law.Entry {
		e, said := w.Entry(), w.announced()
		switch {
		case w.s.silent():
			return e.Excused("the server has no StorageVersion API, and announces nothing")
		case w.s.hosts(w.name) == fact.No && (said == "nothing" || w.change.Revision <= w.s.since):
			return e.Excused("the server does not host the resource, and hands writes on")
		case said == w.APIVersion:
			return e.Met(w.tags...)
		case w.f.Hosted(w.resource) == fact.Unlisted:
			return e.Unclear("an object was stored without an announcement, and no discovery listed the resource, so that it may be a custom one")
		}
		if excused := w.withdrawn(e, bounds.Of("finishesWithin"), bounds.Of("tamperRepaired")); excused.Ending != "" {
			return excused
		}
		how := "it had announced " + said + " in " + w.name
		switch gone := said == "nothing" && w.change != nil && w.object == nil; {
		case gone:
			how = w.name + " had been removed with its entry of it"
		case said == "nothing":
			how = w.name + " had no entry of it"
		}
		return e.Broken("%s stored %s as %s at revision %d, when %s", w.Member, w.Name, w.APIVersion, w.Stored.Revision, how).Shown(w.Stored.Seq, w.changed())
	}}},
}
