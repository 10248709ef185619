package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle09: Leases can never be claimed by another leader until they expire (KEP-4355,
// "Graduation", "Risks and Mitigations"). A deletion takes a Lease from its holder as well.
var cle09 = law.Each[*Facts, *Change]{
	Row: law.Row{ID: "CLE-09", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "taken"}, {Name: "given", Tag: "given"}, {Name: "expired", Tag: "expired"},
	}},
	Over: changes(func(c *Change) bool { return c.isEnrolled() && !c.byOwner() && !c.ByHarness() }),
	End: func(c *Change, _ law.Bounds) law.Entry {
		e, before := c.Entry(), holder(c.Before)
		switch {
		case !c.Deleted() && (!c.Taken() || c.last == "" || c.last == c.Now.Holder || c.deletedSince), c.Deleted() && byForce(before):
			return law.Entry{}
		case c.early() == fact.Unknown:
			return e.Unclear("whether %s lost %s before it expired is not certain", c.last, c.Key)
		case c.Deleted() && c.early() == fact.Yes:
			return e.Broken("%s was deleted, which the harness had not asked for, %s", c.Key, c.earlyBy())
		case c.Deleted():
			return law.Entry{}
		case c.early() == fact.Yes:
			return e.Broken("%s took %s from %s %s", c.Now.Holder, c.Key, before, c.earlyBy())
		case before == "":
			return e.Met("given")
		}
		return e.Met("expired")
	},
}
