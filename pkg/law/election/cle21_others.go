package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle21: for a strategy of a third party the coordinator creates the Lease without a
// holder and never gives it one; a holder that the third party gave it stays (KEP-4355,
// "Strategy"). Of a foreign Lease its owner may have made the change.
var cle21 = law.Each[*Facts, *Change]{
	Row: law.Row{ID: "CLE-21", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "made", Tag: "made"}, {Name: "kept", Tag: "kept"},
	}},
	Over: changes(func(c *Change) bool {
		return c.ofThirdParty(c.Revision) && !c.byOwner() && !(c.Deleted() && c.ByHarness())
	}),
	End: func(c *Change, b law.Bounds) law.Entry {
		e, given := c.Entry(), holder(c.Before) == history.ThirdPartyHolder
		switch {
		case c.Taken() && c.Now.Holder == history.ThirdPartyHolder:
			return c.stays(b)
		case c.Taken():
			return e.Broken("%s was given to %s, and its candidates want a strategy that no coordinator knows", c.Key, c.Now.Holder)
		case given && c.moves():
			return e.Broken("%s was taken or to be taken from the holder that a third party had given it", c.Key)
		case c.Before == nil && c.Now != nil && isThirdParty(c.Now.Strategy):
			return e.Met("made")
		}
		return law.Entry{}
	},
}

// stays judges whether a holder of a third party stays for as long as a coordinator takes to
// look at the Lease. One that does not is judged by the change that takes it away.
func (c *Change) stays(b law.Bounds) law.Entry {
	end, over := b.Over(), true
	i := slices.IndexFunc(c.changes, func(later *Change) bool {
		return later.Revision > c.Revision && (holder(later.Now) != c.Now.Holder || later.Now.Preferred != "")
	})
	if i >= 0 {
		end, over = c.changes[i].When(), false
	}
	switch least, _ := c.When().Until(end); {
	case least > b.Of("leftAlone"):
		return c.Entry().Met("kept")
	case over:
		return c.Entry().Open("the history ended %s after a third party gave it a holder", least)
	}
	return law.Entry{}
}

// ofThirdParty is whether all candidates of the Lease at a revision want a strategy of a
// third party.
func (l *Lease) ofThirdParty(revision int64) bool {
	all := l.standing(revision)
	return len(all) > 0 && !slices.ContainsFunc(all, func(k *Candidate) bool { return !isThirdParty(k.at(revision).Strategy) })
}

// isThirdParty is whether a strategy is one that no coordinator of the KEP knows.
func isThirdParty(strategy string) bool {
	return strategy != "" && strategy != oldest && strategy != newest && strategy != notCoordinated
}
