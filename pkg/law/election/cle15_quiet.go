package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle15: while nothing happens a Lease is written by its holder alone, which renews it, and
// no candidate is pinged (KEP-4355, "Renewal Interval and Performance").
var cle15 = law.Written[*Facts]{
	Row: law.Row{ID: "CLE-15", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "renewals", Tag: "renewal"}, {Name: "leases", Tag: "renewal", Distinct: true},
	}},
	Judge: judgeQuiet,
}

func judgeQuiet(f *Facts, l *law.Ledger, b law.Bounds) {
	moves := f.moves()
	quiet := func(at fact.Moment) fact.Truth {
		return max(longSince(moves, at, b.Of("quietAfter")), longSince(f.causes(), at, b.Of("settlesWithin")))
	}
	for _, c := range f.ofMembers() {
		for i, ch := range c.changes {
			if i == 0 || ch.now.Pinged.Equal(c.changes[i-1].now.Pinged) {
				continue
			}
			switch at := f.When(ch.Stamp); quiet(at) {
			case fact.Yes:
				l.Broken(c.Name, at, law.Evidence(ch.Seq), "candidate %s was pinged, and nothing had happened for %s", c.Name, b.Of("quietAfter"))
			case fact.Unknown:
				l.Unclear(c.Name, at, "whether nothing had happened for %s when it was pinged is not certain", b.Of("quietAfter"))
			}
		}
	}
	for _, lease := range f.componentLeases() {
		for _, c := range lease.changes {
			if lease.Key == coordinators || c.Before == nil {
				continue
			}
			switch quiet(c.When()) {
			case fact.Yes:
				judgeQuietChange(c, l, b)
			case fact.Unknown:
				if !c.renewsOnly() {
					l.Unclear(lease.Key, c.When(), "whether nothing had happened for %s when it changed is not certain", b.Of("quietAfter"))
				}
			}
		}
	}
}

// renewsOnly is whether the holder renewed the Lease with the change, and no more.
func (c *Change) renewsOnly() bool {
	return !c.Deleted() && !c.Taken() && !c.Marked() && !c.Released() && !c.Now.Renewed.Equal(c.Before.Renewed)
}

func judgeQuietChange(c *Change, l *law.Ledger, b law.Bounds) {
	at, key := c.When(), c.lease.Key
	switch {
	case c.Deleted() && c.lease.facts.deletedByHarness(key, at):
	case c.Deleted():
		l.BrokenUnless(c.lease.facts.asked(at), key, at, law.Evidence(c.Seq), "%s was deleted, and nothing had happened for %s", key, b.Of("quietAfter"))
	case c.Taken() || c.Marked() || c.Released():
		l.Broken(key, at, law.Evidence(c.previous.Seq, c.Seq), "%s was given to %q instead of %q (preferred %q), and nothing had happened for %s", key, holder(c.Now), holder(c.Before), c.Now.Preferred, b.Of("quietAfter"))
	case c.Now.Renewed.Equal(c.Before.Renewed):
		l.Broken(key, at, law.Evidence(c.previous.Seq, c.Seq), "%s was written and not renewed, and nothing had happened for %s", key, b.Of("quietAfter"))
	default:
		l.Add(law.Entry{Ending: law.Met, About: key, Began: at, Tags: []string{"renewal"}})
	}
}

// moves are the times at which something happened, or a Lease changed hands. What moves
// without need is no reason to move more, however soon: the causes decide that.
func (f *Facts) moves() []int64 {
	out := slices.Clone(f.active())
	for _, lease := range f.componentLeases() {
		for _, c := range lease.changes {
			if lease.Key != coordinators && c.Before != nil && (c.Deleted() || c.Taken() || c.Marked() || c.Released()) {
				out = append(out, c.At)
			}
		}
	}
	slices.Sort(out)
	return out
}
