package discovery

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad12: groups and resources come in one stable order on all servers, so that those who
// have the same have the same document.
var ad12 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-12", Sources: documents, Needs: []law.Need{
		{Name: "contents", Tag: "content"}, {Name: "common", Tag: "common"}, {Name: "restarted", Tag: "restarted"},
	}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		sets, broken := map[string]*seenFirst{}, map[string]bool{}
		for _, k := range f.looks(groupsPath) {
			// While a server starts it may still put things in order.
			if k.told() == nil || !k.ready() {
				continue
			}
			// The APIServices of a group decide on its place, the foreign ones among them.
			var foreign func(group, version string) bool
			if k.member.foreignAt(k.from) != nil {
				foreign = func(group, _ string) bool { return k.member.isForeign(group, "", k.from) }
			}
			set, order := k.listing.contents(foreign)
			known, name := sets[set], k.member.name
			if known == nil {
				known = &seenFirst{with: order, seq: k.seq, by: map[string]*fact.Process{}}
				sets[set] = known
				l.MetBy(name, "", k.moment(), "content")
			}
			if known.with == order {
				known.sameOrder(f, l, k)
			} else if !broken[name+set] {
				broken[name+set] = true
				l.Add(law.Entry{Ending: law.Broken, Member: name, Began: k.moment(), Evidence: law.Evidence(known.seq, k.seq),
					Why: fmt.Sprintf("%s lists what was listed before, or by another member, in another order", name)})
			}
		}
	},
}

// sameOrder enters that another process has the same in the same order.
func (s *seenFirst) sameOrder(f *Facts, l *law.Ledger, k *look) {
	name, in := k.member.name, k.process()
	before, had := s.by[name]
	if had && before == in {
		return
	}
	var tags []string
	if had {
		tags = append(tags, "restarted")
	}
	s.by[name] = in
	if len(s.by) == len(f.Members()) && !s.common {
		s.common = true
		tags = append(tags, "common")
	}
	l.MetBy(name, "", k.moment(), tags...)
}
