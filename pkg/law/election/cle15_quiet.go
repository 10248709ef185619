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
	written := changes(func(c *Change) bool { return c.ofComponent() && c.Before != nil })(f)
	// What moves without need is no reason to move more, however soon: the causes decide that.
	moves := append(fact.Each(fact.Where(written, (*Change).moves), func(c *Change) int64 { return c.At }), f.moves...)
	slices.Sort(moves)
	nothing := fact.Or(quiet(moves, b.Of("quietAfter")), quiet(f.whyMoves(), b.Of("settlesWithin")))
	quiet := func(at fact.Moment) fact.Truth { return until(nothing, at) }
	needless := func(e law.Entry, is fact.Truth, what string) law.Entry {
		if f.Midway() {
			// Why a process of now took the place of one of before may not be known.
			is = min(is, fact.Unknown)
		}
		return f.unlessStalled(needless(e, is, what), e.Began)
	}
	for _, k := range candidates((*Candidate).ofMember)(f) {
		for _, s := range fact.Where(k.said[1:], func(s *statement) bool { return s.asked }) {
			l.Add(needless(law.Of(k.Name, k.when(s)).Shown(s.Seq), quiet(k.when(s)), k.Name+" was pinged"))
		}
	}
	for _, c := range written {
		e := law.Of(c.Key, c.When()).Shown(c.previous.Seq, c.Seq)
		switch is := quiet(c.When()); {
		case c.Deleted() && c.ByHarness():
		case c.Deleted():
			l.Add(needless(c.Entry(), is, c.Key+" was deleted"))
		case c.moves():
			l.Add(needless(e, is, c.Key+" was given, or to be given, to another holder"))
		case c.Now.Renewed.Equal(c.Before.Renewed):
			l.Add(needless(e, is, c.Key+" was written and not renewed"))
		case holder(c.Before) != "" && c.madeAt().Earliest > c.previous.expires().Latest+int64(notion("clocksApart")):
			l.Add(needless(e, is, c.Key+" had run out when its holder renewed it"))
		case is == fact.Yes:
			l.Add(e.Met("renewal"))
		}
	}
}

// needless ends an obligation by whether nothing had happened when something was done; what
// was done while something happens is none.
func needless(e law.Entry, quiet fact.Truth, what string) law.Entry {
	switch quiet {
	case fact.Yes:
		return e.Broken("%s, and nothing had happened for as long as elections take", what)
	case fact.Unknown:
		return e.Unclear("whether nothing had happened for as long as elections take when %s is not certain", what)
	case fact.No:
	}
	return e
}
