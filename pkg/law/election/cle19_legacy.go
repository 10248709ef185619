package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle19: a coordinator leaves a Lease alone that an instance without coordination holds,
// whichever candidate would be better; when it is free, the coordinator may give it to one
// (KEP-4355, "Enabling on a component").
var cle19 = law.Each[*Facts, *Change]{
	Row: law.Row{ID: "CLE-19", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "renewals", Tag: "renewal"}, {Name: "elected", Tag: "elected"},
	}},
	Over: changes(func(c *Change) bool { return !c.isCoordinators() && !c.byOwner() && !c.ByHarness() }),
	End: func(c *Change, _ law.Bounds) law.Entry {
		e, before := c.Entry(), holder(c.Before)
		switch was, early := legacy(c.Before), c.early(); {
		case was && c.Deleted() && c.isEnrolled() && early == fact.Yes:
			return e.Broken("%s was held without coordination, and was deleted %s", c.Key, c.earlyBy())
		case was && c.Marked():
			return e.Broken("%s holds %s without coordination, and was told that %s should", before, c.Key, c.Now.Preferred)
		case was && c.ByCoordinator() && early == fact.Yes:
			return e.Broken("%s held %s without coordination, and a coordinator gave it to %q (strategy %q) %s", before, c.Key, c.Now.Holder, c.Now.Strategy, c.earlyBy())
		case was && (c.Deleted() && c.isEnrolled() || c.ByCoordinator()) && early == fact.Unknown:
			return e.Unclear("whether %s had expired when it was taken from %s is not certain", c.Key, before)
		case c.renewsLegacy():
			return e.Met("renewal")
		case c.Taken() && c.ByCoordinator() && c.afterLegacy():
			return e.Met("elected")
		}
		return law.Entry{}
	},
}

// legacy is whether a Lease has a holder and says nothing of coordination.
func legacy(l *history.Lease) bool { return holder(l) != "" && l.Strategy == "" }

// renewsLegacy is whether a holder without coordination keeps the Lease beside a candidate
// that is eligible for it.
func (c *Change) renewsLegacy() bool {
	return legacy(c.Now) && holder(c.Before) == c.Now.Holder && slices.ContainsFunc(c.standing(c.Revision), func(k *Candidate) bool {
		return k.Eligible().During(c.When()) == fact.Yes
	})
}

// afterLegacy is whether the Lease was kept so since a coordinator elected for it last.
func (c *Change) afterLegacy() bool {
	for before := c.previous; before != nil && !(before.Taken() && before.ByCoordinator()); before = before.previous {
		if before.renewsLegacy() {
			return true
		}
	}
	return false
}
