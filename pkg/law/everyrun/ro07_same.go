package everyrun

import (
	"fmt"
	"strconv"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro07: the etcd of all members holds the same data at the same revision (etcd's API
// guarantees). Hashes compare only where the history is compacted to the same revision. It
// does not see what differs between two holds and is the same again, nor data that all
// members have lost alike. The etcd of the reference is a real one, so no defect can be
// planted for it.
var ro07 = law.Written[*Facts]{
	Row: law.Row{ID: "RO-07", Sources: []fact.Source{fact.Hashes}, Needs: []law.Need{{Name: "compared"}, {Name: "comparedEach", Each: true}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, h := range f.hashes {
			h.judge(l)
		}
	},
}

// judge holds the answers of the members against each other, those that are compacted to
// the same revision.
func (h hash) judge(l *law.Ledger) {
	comparable := map[int64][]history.EtcdMemberHash{}
	at := fact.Exactly(h.At, h.Seq)
	for _, m := range h.Members {
		if m.Error != "" || m.Hash == "" {
			l.Excused(m.Member, at, "the member's etcd gave no hash")
			continue
		}
		comparable[m.Compacted] = append(comparable[m.Compacted], m)
	}
	for _, compacted := range law.SortedKeys(comparable) {
		all := comparable[compacted]
		first := all[0]
		for i, m := range all {
			e := law.Entry{Ending: law.Met, About: "revision " + strconv.FormatInt(h.EtcdHash.Revision, 10), Member: m.Member, Began: at}
			switch {
			case len(all) == 1:
				e.Ending, e.Why = law.Excused, "no other etcd was compacted to the same revision"
			case i > 0 && m.Hash != first.Hash:
				e.Ending, e.SelfEvident, e.Evidence = law.Broken, true, law.Evidence(h.Seq)
				e.Why = fmt.Sprintf("at revision %d the etcd of %s has the hash %s, and that of %s has %s", h.EtcdHash.Revision, m.Member, m.Hash, first.Member, first.Hash)
			}
			l.Add(e)
		}
	}
}
