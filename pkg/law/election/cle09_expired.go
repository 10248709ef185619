package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle09: Leases can never be claimed by another leader until they expire (KEP-4355,
// "Graduation", "Risks and Mitigations"). A deletion takes a Lease from its holder as well, and so
// does an instance that gives up what another one has: client-go releases on exit by who it
// saw lead last, which may be long ago for an instance that was cut off (until KEP-6361).
var cle09 = law.Each[*Facts, *Change]{
	Row: law.Row{ID: "CLE-09", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "taken"}, {Name: "given", Tag: "given"}, {Name: "expired", Tag: "expired"},
	}},
	Over: changes(func(c *Change) bool {
		return (c.isEnrolled() || c.withoutCandidates()) && !c.byOwner() && !c.ByHarness()
	}),
	End: func(c *Change, _ law.Bounds) law.Entry {
		e, before, emptied := c.Entry(), holder(c.Before), c.emptied()
		switch {
		case emptied == "" && (!c.Taken() || c.last == "" || c.last == c.Now.Holder || c.deletedSince), emptied != "" && byForce(before):
			return law.Entry{}
		case c.early() == fact.Unknown:
			return e.Unclear("whether %s lost %s before it expired is not certain", c.last, c.Key)
		case emptied != "" && c.early() == fact.Yes:
			return e.Broken("%s %s", emptied, c.earlyBy())
		case emptied != "":
			return law.Entry{}
		case c.early() == fact.Yes:
			return e.Broken("%s took %s from %s %s", c.Now.Holder, c.Key, before, c.earlyBy())
		case before == "":
			return e.Met("given")
		}
		return e.Met("expired")
	},
}
