package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindNoCustom is a custom resource of which no server has ever published a storage version.
const kindNoCustom = "custom-unpublished"

// sv24: the storage version of a custom resource is published before the resource is served
// with it (KEP-2339, custom resources: the extension server updates the storage version, and
// only then enables the handler). A handler that is enabled shows by what it stores, so this
// is SV-15 for custom resources. Which resources are custom is what the harness has defined.
var sv24 = law.Together[*facts]{
	Row: law.Row{ID: "SV-24", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "writes", Tag: "write", Breaches: true}, {Name: "writesEach", Tag: "write", Each: true, Breaches: true},
		{Name: "onwardEach", Tag: "onward", Each: true, Breaches: true}, {Name: "backEach", Tag: "back", Each: true, Breaches: true},
	}, Kinds: []string{kindNoCustom}},
	Parts: []law.Law[*facts]{tagsKnown, law.Each[*facts, *storing]{Over: (*facts).storings, End: func(w *storing, bounds law.Bounds) law.Entry {
		e, said := w.Entry(), w.announced()
		e.Tags = w.tags
		excused := w.withdrawn(e, bounds.Of("finishesWithin"), bounds.Of("tamperRepaired"))
		switch {
		case !w.f.Defined(w.resource):
			return law.Entry{}
		case w.s.silent():
			return e.Excused("the server has no StorageVersion API, and announces nothing")
		case said == w.APIVersion:
			return e.Met()
		case excused.Ending != "":
			return excused
		}
		if all := w.f.StorageVersion(w.name).All(); w.s != nil && (len(all) == 0 || all[0].Revision > w.Stored.Revision) {
			e = e.As(kindNoCustom, w.s.Release)
		}
		return e.Broken("%s stored %s of the custom resource %s as %s at revision %d, when it had announced %s in %s",
			w.Member, w.Name, w.resource.Resource, w.APIVersion, w.Stored.Revision, said, w.name).Shown(w.Stored.Seq, w.changed())
	}}},
}
