package everyrun

import (
	"strconv"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro07: the etcd of all members holds the same data at the same revision (etcd's API
// guarantees). Hashes compare only where the history is compacted to the same revision.
var ro07 = law.SameAcross[*Facts]{
	Row:     law.Row{ID: "RO-07", Sources: []fact.Source{fact.Hashes}, Needs: []law.Need{{Name: "compared"}}},
	Samples: (*Facts).hashSamples,
	Breach: func(first, other law.Sample) string {
		return "at revision " + other.Key + " the etcd of " + other.By + " has the hash " + other.Value + ", and that of " + first.By + " has " + first.Value
	},
}

func (f *Facts) hashSamples() []law.Sample {
	var out []law.Sample
	for _, h := range f.hashes {
		for _, m := range h.Members {
			if m.Error == "" && m.Hash != "" {
				key := strconv.FormatInt(h.EtcdHash.Revision, 10) + ", compacted to " + strconv.FormatInt(m.Compacted, 10)
				out = append(out, law.Sample{Key: key, By: m.Member, Value: m.Hash, At: fact.Exactly(h.At, h.Seq)})
			}
		}
	}
	return out
}
