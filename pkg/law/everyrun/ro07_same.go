package everyrun

import (
	"cmp"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro07: the etcd of all members holds the same data at the same revision (etcd's API
// guarantees). Hashes compare only where the history is compacted to the same revision. It
// does not see what differs between two holds and is the same again, nor data that all
// members have lost alike. The etcd of the reference is a real one, so no defect can be
// planted for it.
var ro07 = law.Each[*Facts, memberHash]{
	Row:  law.Row{ID: "RO-07", Sources: []fact.Source{fact.Hashes}, Needs: []law.Need{{Name: "compared"}, {Name: "comparedEach", Each: true}}},
	Over: (*Facts).memberHashes,
	End:  memberHash.same,
}

// memberHash is the hash that the etcd of one member gave.
type memberHash struct {
	hash
	history.EtcdMemberHash
}

func (f *Facts) memberHashes() []memberHash {
	var out []memberHash
	for _, h := range f.hashes {
		out = append(out, fact.Each(h.Members, func(m history.EtcdMemberHash) memberHash { return memberHash{h, m} })...)
	}
	return out
}

// same holds the hash against those that are compacted to the same revision: each against
// the first one, and the first one against any. The recorder waits for an etcd that is behind
// for a moment: what it cannot compare then is unclear, unless something disturbed the etcd.
func (m memberHash) same(law.Bounds) law.Entry {
	e := law.Of(fmt.Sprintf("revision %d", m.EtcdHash.Revision), fact.Exactly(m.At, m.Seq)).By(m.Member)
	undisturbed := m.through(fact.And(m.facts.etcdAtWork(m.Member), m.facts.Majority(m.facts.etcdAtWork))) == fact.Yes
	alike := fact.Where(m.Members, func(o history.EtcdMemberHash) bool { return given(o) && o.Compacted == m.Compacted })
	switch compared := given(m.EtcdMemberHash) && len(alike) > 1; {
	case !compared && undisturbed:
		return e.Unclear("the etcd of %s gave no hash that can be compared, though nothing disturbed it: %s", m.Member, cmp.Or(m.Error, "it was compacted to another revision"))
	case !compared:
		return e.Excused("the member's etcd gave no hash that can be compared, and was disturbed")
	case m.Hash != alike[0].Hash:
		first := alike[0]
		return e.Broken("at revision %d the etcd of %s has the hash %s, and that of %s has %s", m.EtcdHash.Revision, m.Member, m.Hash, first.Member, first.Hash).Alone()
	}
	return e.Met()
}

func given(m history.EtcdMemberHash) bool { return m.Error == "" && m.Hash != "" }
