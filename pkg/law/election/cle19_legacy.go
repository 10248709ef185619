package election

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle19: a coordinator leaves a Lease alone that an instance without coordination holds,
// whichever candidate would be better; when it is free, the coordinator may give it to one
// (KEP-4355, "Enabling on a component").
var cle19 = law.Written[*Facts]{
	Row: law.Row{ID: "CLE-19", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "renewals", Tag: "renewal"}, {Name: "elected", Tag: "elected"},
	}},
	Judge: judgeLegacy,
}

// legacy is whether a Lease has a holder and says nothing of coordination.
func legacy(l *history.Lease) bool { return holder(l) != "" && l.Strategy == "" }

func judgeLegacy(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, lease := range f.sorted(func(l *Lease) bool { return l.Key != coordinators }) {
		kept := false
		for _, c := range lease.changes {
			if legacy(c.Before) && !c.byOwner() {
				judgeSeizure(c, l)
			}
			switch {
			case legacy(c.Now) && holder(c.Before) == c.Now.Holder && lease.besideCandidate(c):
				l.Met(lease.Key, c.When(), "renewal")
				kept = true
			case c.Taken() && c.ByCoordinator() && kept:
				l.Met(lease.Key, c.When(), "elected")
				kept = false
			}
		}
	}
}

// besideCandidate is whether a candidate is eligible for the Lease at a change of it.
func (l *Lease) besideCandidate(c *Change) bool {
	return slices.ContainsFunc(l.standing(c.Revision), func(k *Candidate) bool { return k.Eligible().During(c.When()) == fact.Yes })
}

// judgeSeizure judges a change of a Lease that an instance holds without coordination.
func judgeSeizure(c *Change, l *law.Ledger) {
	f, key, at := c.lease.facts, c.lease.Key, c.When()
	before := holder(c.Before)
	switch {
	case c.Deleted():
		if !f.deletedByHarness(key, at) && at.Latest < f.expires(c.Before)-int64(clocksApart()) && c.lease.isEnrolled() {
			l.BrokenUnless(f.asked(at), key, at, law.Evidence(c.Seq), "%s was held without coordination, and was deleted before it expired", key)
		}
	case c.ByHarness():
	case c.Marked():
		l.Broken(key, at, law.Evidence(c.previous.Seq, c.Seq), "%s holds %s without coordination, and was told that %s should", before, key, c.Now.Preferred)
	case c.ByCoordinator() && c.Early() > clocksApart():
		l.Broken(key, at, law.Evidence(c.previous.Seq, c.Seq), "%s held %s without coordination, and a coordinator gave it to %q (strategy %q) %s before it expired",
			before, key, c.Now.Holder, c.Now.Strategy, c.Early().Round(time.Millisecond))
	}
}
