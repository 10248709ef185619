package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindByVersion is a conflict of strategies that something else than the fixed list decided.
const kindByVersion = "by-version"

// priority of the strategies of the KEP, the highest first.
var priority = []string{notCoordinated, newest, oldest}

// cle29: of several strategies that candidates want, the one with the highest priority in the
// fixed list of the KEP holds, whatever the versions of the candidates are (KEP-4355, "API" and
// "Strategy propagated from LeaseCandidate").
var cle29 = law.Each[*Facts, *Change]{
	Row: law.Row{ID: "CLE-29", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "decided", Tag: "decided"}, {Name: "againstVersions", Tag: "againstVersions"},
	}, Kinds: []string{kindByVersion}},
	Over: changes(func(c *Change) bool {
		return !c.Deleted() && (c.Before == nil || c.Taken()) && c.byCoordinatorAlone() && c.choice() == nil && len(c.candidates) > 0
	}),
	End: func(c *Change, _ law.Bounds) law.Entry {
		wanting := c.wanting()
		all, known := fact.Each(wanting, func(s *statement) string { return s.Strategy }), len(wanting) > 0
		for _, s := range all {
			known = known && slices.Contains(priority, s)
		}
		if !known || !slices.Contains(priority, c.Now.Strategy) {
			return law.Entry{} // a third party's, about which the list says nothing
		}
		rank := func(s string) int { return slices.Index(priority, s) }
		highest := slices.MinFunc(all, func(a, b string) int { return rank(a) - rank(b) })
		byNewest := slices.MaxFunc(wanting, func(a, b *statement) int { return compareVersions(a.Binary, b.Binary) })
		switch e := c.Entry(); {
		case rank(c.Now.Strategy) > rank(highest):
			return e.Broken("a candidate for %s wants %s, and the coordinator wrote %s, which has a lower priority", c.Key, highest, c.Now.Strategy).
				As(kindByVersion, c.coordinatorRelease(c.When())).Shown(c.Seq)
		case c.Now.Strategy == highest && len(slices.Compact(slices.Sorted(slices.Values(all)))) > 1:
			if byNewest.Strategy != highest {
				return e.Met("decided", "againstVersions")
			}
			return e.Met("decided")
		}
		return law.Entry{}
	},
}

// wanting are what the candidates declare that a coordinator certainly knew when it made a
// change.
func (c *Change) wanting() []*statement {
	var out []*statement
	for _, k := range c.standing(c.Revision) {
		s := k.at(c.Revision)
		if known, _ := k.Declared().Until(c.When()); known >= notion("knownAfter") && !c.expired(s, c.When().Latest) {
			out = append(out, s)
		}
	}
	return out
}
