package everyrun

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro08: no acknowledged write is lost (etcd's API guarantees: durability). The revision
// with which a member acknowledged a write is in etcd's history, and is that write. It
// does not see writes that the harness did not tag, such as those of controllers, and what
// etcd loses after it told of it: that shows in reads (RO-01) and hashes (RO-07).
var ro08 = law.Written[*Facts]{
	Row: law.Row{ID: "RO-08", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{{Name: "kept"}, {Name: "keptEach", Each: true}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, a := range f.acknowledged {
			at := fact.Exactly(a.At, a.Seq)
			// The write could have shown until etcd told of a later revision.
			told := f.ToldBy(a.revision + 1)
			switch stored := f.storedAt(a.revision); {
			case slices.ContainsFunc(stored, a.is):
				l.MetBy(a.member, "", at)
			case len(stored) > 0:
				l.BrokenUnless(told, a.name, at, law.Evidence(a.Seq), "%s acknowledged write %d, of %s, with revision %d, at which etcd's history has another change", a.member, a.write, a.name, a.revision)
			case a.revision > f.watermark():
				l.Open(a.name, at, "etcd told of nothing from revision %d on, which %s had acknowledged", a.revision, a.member)
			default:
				l.BrokenUnless(told, a.name, at, law.Evidence(a.Seq), "%s acknowledged write %d, of %s, with revision %d, and etcd's history has no such revision", a.member, a.write, a.name, a.revision)
			}
		}
	},
}

// is whether a change in etcd is the write that was acknowledged: of the same object, and
// where the change shows a tag, with the tag of the write.
func (a acknowledged) is(s stored) bool {
	return strings.HasSuffix(s.key, "/"+a.name) && (s.write == 0 || s.write == a.write && s.writer == a.member)
}
