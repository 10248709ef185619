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
var sv04 = law.Together[*facts]{
	Row: law.Row{ID: "SV-04", Takes: []string{history.LackEtcd, history.LackProbes}, Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "entries", Tag: "entry"}, {Name: "refused", Tag: "refused"}, {Name: "refusedEach", Tag: "refused lasting", Each: true},
	}},
	Parts: []law.Law[*facts]{law.Each[*facts, written]{Over: (*facts).entries, End: func(w written, _ law.Bounds) law.Entry {
		if slices.Contains(w.entry.Decodable, w.entry.Encoding) {
			return w.Entry().Met("entry")
		}
		return w.Entry().Alone().Broken("in %s, %s encodes %s and decodes only %v", w.of.Name, w.entry.ServerID, w.entry.Encoding, w.entry.Decodable)
	}}, refuses(history.InvalidUndecodable, "whose encoding version cannot be decoded")},
}
