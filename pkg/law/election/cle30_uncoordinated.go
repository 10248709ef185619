package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle30: with the strategy NoCoordination the coordinator makes the Lease without a holder,
// gives it none and tells none to give way: an instance takes it by itself, and keeps it while
// it renews, whichever candidate is better (KEP-4355, "Strategy propagated from
// LeaseCandidate").
var cle30 = law.Each[*Facts, *Change]{
	Row: law.Row{ID: "CLE-30", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "made", Tag: "made"}, {Name: "kept", Tag: "kept"},
	}},
	Over: changes(func(c *Change) bool {
		return !c.Deleted() && c.Now.Strategy == notCoordinated && !c.byOwner()
	}),
	End: func(c *Change, b law.Bounds) law.Entry {
		e, coordinator := c.Entry(), c.byCoordinatorAlone()
		switch {
		case coordinator && c.Marked():
			return e.Broken("%s is without coordination, and the coordinator told %s to give it up for %s", c.Key, c.Now.Holder, c.Now.Preferred)
		case coordinator && c.Taken():
			return e.Broken("%s is without coordination, and the coordinator gave it to %s", c.Key, c.Now.Holder)
		case coordinator && c.Now.Holder == "" && (c.Before == nil || c.Before.Strategy != notCoordinated):
			return e.Met("made")
		case c.Taken():
			return c.stays(b)
		}
		return law.Entry{}
	},
}
