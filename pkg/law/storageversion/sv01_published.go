package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv01: once ready, a server has published a storage version for each persisted built-in
// resource that it hosts (KEP-2339, updating StorageVersion). What it hosts is what its
// own unaggregated discovery gives a storage version hash for; the moment is the etcd
// revision read after its first ready answer.
var sv01 = law.Written[*facts]{
	Row: law.Row{ID: "SV-01", Sources: []fact.Source{fact.Etcd, fact.Readyz, fact.Discovery}, Needs: []law.Need{
		{Name: "servers", Tag: "server"}, {Name: "resources", Tag: "resource"}, {Name: "serversEach", Tag: "server", Each: true},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtHosting(l, bounds)
		for _, s := range f.allServers() {
			if s.ready == nil || s.silent() {
				continue // it has nothing to publish with
			}
			if len(s.looks) == 0 || s.revision == 0 {
				l.Excused(s.Member, *s.ready, "its process ended before it was known what it hosts")
				continue
			}
			if !f.told(l, s.Member, *s.ready, s.revision) {
				continue
			}
			f.judgePublished(l, s)
		}
	},
}

func (f *facts) judgePublished(l *law.Ledger, s *server) {
	look := s.looks[0]
	for _, r := range look.Resources {
		if !fact.BuiltIn(r) {
			continue
		}
		name := fact.Resource{Group: r.Group, Resource: r.Resource}.StorageVersionName()
		if f.StorageVersion(name).EntryAt(s.id, s.revision) != nil {
			l.MetBy(s.Member, name, *s.ready, "resource")
			continue
		}
		l.Broken(name, *s.ready, law.Evidence(s.ready.Seq, look.Seq, f.ToldBy(s.revision)), "%s was ready at revision %d and hosts %s, but StorageVersion %s had no entry of %s",
			s.Member, s.revision, r.Resource, name, s.id)
	}
	l.MetBy(s.Member, s.Member, *s.ready, "server")
}
