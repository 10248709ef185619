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
		wanting := c.wanting(fact.Yes)
		if !ranked(wanting) || !slices.Contains(priority, c.Now.Strategy) {
			return law.Entry{} // a third party's, about which the list says nothing
		}
		highest, perhaps, now := highest(wanting), highest(c.wanting(fact.Unknown)), rank(c.Now.Strategy)
		byNewest := func(a, b *statement) int { return compareVersions(a.Binary, b.Binary) }
		switch e := c.Entry(); {
		case len(wanting) > 0 && now > rank(highest):
			return e.Broken("a candidate for %s wants %s, and the coordinator wrote %s, which has a lower priority", c.Key, highest, c.Now.Strategy).
				As(kindByVersion, c.coordinatorRelease(c.When())).Shown(c.Seq)
		case now > rank(perhaps):
			return e.Unclear("it is not certain whether the coordinator knew of a candidate for %s that wants %s when it wrote %s", c.Key, perhaps, c.Now.Strategy).Shown(c.Seq)
		case len(wanting) == 0 || c.Now.Strategy != highest || !disagree(wanting):
			return law.Entry{}
		case slices.MaxFunc(wanting, byNewest).Strategy != highest:
			return e.Met("decided", "againstVersions")
		default:
			return e.Met("decided")
		}
	},
}

// rank of a strategy in the list; that of one that is not in it comes after all.
func rank(strategy string) int {
	if i := slices.Index(priority, strategy); i >= 0 {
		return i
	}
	return len(priority)
}

// highest is the strategy with the highest priority of those that candidates want; empty for none.
func highest(wanting []*statement) string {
	out := ""
	for _, s := range wanting {
		if rank(s.Strategy) < rank(out) {
			out = s.Strategy
		}
	}
	return out
}

// ranked is whether the list says something of all that candidates want.
func ranked(wanting []*statement) bool {
	return !slices.ContainsFunc(wanting, func(s *statement) bool { return rank(s.Strategy) == len(priority) })
}

// disagree is whether candidates want several strategies.
func disagree(wanting []*statement) bool {
	return slices.ContainsFunc(wanting, func(s *statement) bool { return s.Strategy != wanting[0].Strategy })
}

// wanting are what the candidates declare of which a coordinator knew when it made a change, at
// least by a truth: of which it certainly did, or may have.
func (c *Change) wanting(atLeast fact.Truth) []*statement {
	var out []*statement
	for _, k := range c.standing(c.Revision) {
		if s := k.at(c.Revision); c.knows(k) >= atLeast && !c.expired(s, c.When().Latest) {
			out = append(out, s)
		}
	}
	return out
}
