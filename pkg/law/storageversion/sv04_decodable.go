package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv04: the version that a server encodes to is among those that it can decode (KEP-2339, on
// ServerStorageVersion: "must be included"). It holds for each revision, and a status that
// says otherwise must be refused.
var sv04 = law.Written[*facts]{
	Row: law.Row{ID: "SV-04", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "entries", Tag: "entry"}, {Name: "refused", Tag: tagRefused}, {Name: "refusedEach", Tag: tagRefusedLasting, Each: true},
	}},
	Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
		for _, r := range f.revisions() {
			at := f.When(r.Stamp)
			for _, e := range r.Content.Entries {
				if slices.Contains(e.Decodable, e.Encoding) {
					l.Met(r.version.Name, at, "entry")
					continue
				}
				selfEvident(l, r.version.Name, at, "in %s, %s encodes %s and decodes only %v", r.version.Name, e.ServerID, e.Encoding, e.Decodable)
			}
		}
		f.judgeProbes(l, history.InvalidUndecodable, "whose encoding version cannot be decoded")
	},
}
