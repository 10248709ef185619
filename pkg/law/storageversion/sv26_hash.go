package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv26: the storageVersionHash in the discovery document stays as it was (KEP-2339,
// StorageVersion API vs. StorageVersionHash): that of the version that the server stores the
// resource in, which its entry names.
var sv26 = law.Each[*facts, duty]{
	Row: law.Row{ID: "SV-26", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{{Name: "hashed", Tag: "hashed", Each: true}}},
	Over: func(f *facts) (out []duty) {
		for _, s := range f.servers().all {
			for _, look := range s.looks {
				if s.ready != nil && !s.silent() && s.ready.Seq < look.Seq {
					out = append(out, s.duties(look, f.When(look.Stamp), look.EtcdRevision)...)
				}
			}
		}
		return fact.Where(out, func(d duty) bool { return d.reported() && len(d.resource.Hashes) > 0 })
	},
	End: func(d duty, _ law.Bounds) law.Entry {
		want := history.StorageVersionHash(d.change.Is.Encoding, d.resource.Kind)
		switch e := d.Entry(); {
		case e.Ending != "":
			return e
		case d.s.f.byHarness(d.name, d.change.Stamp):
			return e.Excused("the harness changed the entry")
		case len(d.resource.Hashes) == 1 && d.resource.Hashes[0] == want:
			return e.Met("hashed")
		default:
			return e.Broken("%s stores %s as %s, whose hash is %s, and its discovery gives %v", d.s.Member, d.name, d.change.Is.Encoding, want, d.resource.Hashes).
				Shown(d.evidence(d.change.Seq)...)
		}
	},
}
