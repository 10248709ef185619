package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv01: once ready, a server has published a storage version for each persisted built-in
// resource that it hosts (KEP-2339, updating StorageVersion). What it hosts is what its
// own unaggregated discovery gives a storage version hash for; the moment is the etcd
// revision read after its first ready answer.
var sv01 = law.Together[*facts]{
	Row: law.Row{ID: "SV-01", Sources: []fact.Source{fact.Etcd, fact.Readyz, fact.Discovery}, Needs: []law.Need{
		{Name: "servers", Tag: "server"}, {Name: "resources", Tag: "resource"}, {Name: "serversEach", Tag: "server", Each: true},
	}},
	Parts: []law.Law[*facts]{hostingKnown, law.Each[*facts, duty]{Over: (*facts).dutiesWhenReady, End: func(d duty, _ law.Bounds) law.Entry {
		switch e := d.Entry(); {
		case e.Ending != "":
			return e
		case !d.reported():
			return e.Broken("%s was ready at revision %d and hosts %s, but StorageVersion %s had no entry of %s",
				d.s.Member, d.revision, d.resource.Resource, d.name, d.s.id).Shown(d.evidence()...)
		default:
			return e.Met(append(tagIf(d.first, "server"), "resource")...)
		}
	}}},
}
