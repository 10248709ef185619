package election

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle21: for a strategy of a third party the coordinator creates the Lease without a
// holder and never gives it one; a holder that the third party gave it stays (KEP-4355,
// "Strategy").
var cle21 = law.Written[*Facts]{
	Row: law.Row{ID: "CLE-21", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "made", Tag: "made"}, {Name: "kept", Tag: "kept"},
	}},
	Judge: judgeThirdParty,
}

func judgeThirdParty(f *Facts, l *law.Ledger, b law.Bounds) {
	for _, lease := range f.sorted(func(*Lease) bool { return true }) {
		var given *Change
		for _, c := range lease.changes {
			if !lease.ofThirdParty(c.Revision) {
				given = nil
				continue
			}
			if c.byOwner() {
				continue // the foreign program that knows the strategy may have made it
			}
			at, key := c.When(), lease.Key
			switch {
			case c.Deleted() && given != nil && !f.deletedByHarness(key, at):
				l.BrokenUnless(f.asked(at), key, at, law.Evidence(given.Seq, c.Seq), "%s was deleted, which a third party had given a holder", key)
				given = nil
			case c.Deleted():
				given = nil
			case c.Taken() && c.Now.Holder == history.ElectionThirdParty:
				given = c
				lease.judgeGift(c, l, b)
			case c.Taken():
				l.Broken(key, at, law.Evidence(c.Seq), "%s was given to %s, and its candidates want a strategy that no coordinator knows", key, c.Now.Holder)
				given = nil
			case given != nil && (c.Marked() || c.Released()):
				l.Broken(key, at, law.Evidence(given.Seq, c.Seq), "%s was taken from the holder that a third party had given it", key)
				given = nil
			case c.Before == nil && c.Now.Strategy != "" && c.Now.Strategy != oldest:
				l.Met(key, at, "made")
			}
		}
	}
}

// judgeGift judges whether a holder of a third party stays for as long as a coordinator
// takes to look at the Lease.
func (l *Lease) judgeGift(given *Change, ledger *law.Ledger, b law.Bounds) {
	end, over := b.Over(), true
	for _, c := range l.changes {
		if c.Revision > given.Revision && (holder(c.Now) != given.Now.Holder || c.Now.Preferred != "") {
			end, over = c.When(), false
			break
		}
	}
	least, _ := given.When().Until(end)
	switch {
	case least > b.Of("leftAlone"):
		ledger.Met(l.Key, given.When(), "kept")
	case over:
		ledger.Open(l.Key, given.When(), "the history ended %s after a third party gave it a holder", least.Round(time.Millisecond))
	}
}

// ofThirdParty is whether all candidates of the Lease at a revision want a strategy of a
// third party.
func (l *Lease) ofThirdParty(revision int64) bool {
	all := l.standing(revision)
	return len(all) > 0 && !slices.ContainsFunc(all, func(k *Candidate) bool { return k.at(revision).now.Strategy == oldest })
}
