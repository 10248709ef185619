package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindStrategyRewritten is a strategy that was set on a Lease and that the coordinator replaced.
const kindStrategyRewritten = "strategy-rewritten"

// cle28: what the coordinator writes to a Lease leaves the strategy as it is that an operator
// has set (KEP-4355, "Strategy": a third party updates the Lease to the desired strategy).
var cle28 = law.Each[*Facts, *Change]{
	Row: law.Row{ID: "CLE-28", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "kept", Tag: "kept"},
	}, Kinds: []string{kindStrategyRewritten}},
	Over: changes(func(c *Change) bool { return !c.Deleted() && c.choice() != nil && c.byCoordinatorAlone() }),
	End: func(c *Change, _ law.Bounds) law.Entry {
		chosen := c.choice()
		switch {
		case c.Now.Strategy != chosen.Now.Strategy:
			return c.Entry().Broken("an operator had set the strategy of %s to %s, and the coordinator wrote %s", c.Key, chosen.Now.Strategy, c.Now.Strategy).
				As(kindStrategyRewritten, c.coordinatorRelease(c.When())).Shown(chosen.Seq, c.Seq)
		case c.Taken(), c.Marked():
			return c.Entry().Met("kept")
		}
		return law.Entry{}
	},
}
