package everyrun

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro08: no acknowledged write is lost (etcd's API guarantees: durability). The revision
// with which a member acknowledged a write is in etcd's history.
var ro08 = law.Written[*Facts]{
	Row: law.Row{ID: "RO-08", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{{Name: "kept"}, {Name: "keptEach", Each: true}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, a := range f.acknowledged {
			at := fact.Exactly(a.At, a.Seq)
			switch {
			case f.has(a.revision):
				l.MetBy(a.member, "", at)
			case a.revision > f.watermark():
				l.Open(a.name, at, "etcd told of nothing from revision %d on, which %s had acknowledged", a.revision, a.member)
			default:
				l.Broken(a.name, at, law.Evidence(a.Seq), "%s acknowledged a write of %s with revision %d, and etcd's history has no such revision", a.member, a.name, a.revision)
			}
		}
	},
}
