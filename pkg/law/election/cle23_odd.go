package election

import (
	"net/http"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle23: odd content of a Lease never crashes an API server, and does not keep the
// coordinator from its work (KEP-4355, "Risks and Mitigations").
var cle23 = law.Written[*Facts]{
	Row: law.Row{ID: "CLE-23", Sources: []fact.Source{fact.Etcd, fact.Readyz, fact.Requests}, Needs: []law.Need{
		{Name: "stored", Tag: "stored"}, {Name: "dealt", Tag: "dealt"}, {Name: "survived", Tag: "survived", Each: true}, {Name: "elected", Tag: "elected"},
	}},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		var after fact.Builder // a while after odd Leases were stored
		for _, r := range fact.Where(f.requests, func(r *fact.Asked) bool { return r.Election == history.ElectionMalformed }) {
			e := law.Of(r.Name, f.When(r.Stamp))
			switch {
			case serverFailed(r):
				l.Add(e.Broken("%s answered %d to an odd Lease: %s", r.Member, r.Code, r.Message).Shown(r.Seq))
			case r.Took() == fact.Yes:
				after.SetAt(r.At, fact.No)
				after.SetAt(r.At+int64(b.Of("survives")), fact.Yes)
				l.Add(e.Met(f.dealt(r)...))
				l.Add(f.crashesAfter(r, b)...)
			}
		}
		f.countAfter(after.Signal(), l)
	},
}

// serverFailed is whether a server answered that it has failed. That it is too busy, that
// it took too long, or that its etcd had trouble says nothing of what it was asked.
func serverFailed(r *fact.Asked) bool {
	return r.Code >= http.StatusInternalServerError && r.Code != http.StatusServiceUnavailable && r.Code != http.StatusGatewayTimeout &&
		!strings.Contains(r.Message, "etcdserver: ")
}

// dealt tags an odd Lease that was stored, and one that a coordinator did something about.
func (f *Facts) dealt(r *fact.Asked) []string {
	if l := f.leases[r.Name]; l != nil && r.ResourceVersion > 0 && slices.ContainsFunc(l.changes, func(c *Change) bool {
		return c.Revision > r.ResourceVersion && (c.Marked() || c.Taken() && c.ByCoordinator())
	}) {
		return []string{"stored", "dealt"}
	}
	return []string{"stored"}
}

// crashesAfter judges that no API server ends by itself soon after an odd Lease.
func (f *Facts) crashesAfter(r *fact.Asked, b law.Bounds) []law.Entry {
	return fact.Each(f.AllProcesses(), func(p *fact.Process) law.Entry {
		harness := f.Blameless(p)
		if p.Component != history.ComponentAPIServer || p.Exited == nil || harness == fact.Yes || p.Exited.Latest < r.At {
			return law.Entry{}
		}
		stored, end := f.When(r.Stamp), f.WhenEnded(p)
		switch e, soon := law.Of(p.Member, end), within(stored, end, b.Of("crashesWithin")); {
		case soon == fact.No:
			return law.Entry{}
		case soon == fact.Unknown, harness == fact.Unknown, p.Untold && stored.Before(end) != fact.Yes:
			return e.Unclear("whether its API server ended by itself within %s of an odd Lease is not certain", b.Of("crashesWithin"))
		default:
			return e.Broken("the API server of %s ended (%s) within %s of when an odd Lease was stored", p.Member, p.HowEnded(), b.Of("crashesWithin")).Shown(r.Seq, end.Seq)
		}
	})
}

// countAfter counts servers that are ready, and elections, a while after odd Leases were
// stored.
func (f *Facts) countAfter(after fact.Signal, l *law.Ledger) {
	for _, member := range f.Members() {
		for _, span := range fact.And(f.Ready(member), after).Spans(fact.Yes) {
			if span.Begin <= f.Now { // else the history ended before
				l.Add(law.Of(member, fact.Exactly(span.Begin, f.Evidence(span.Begin))).By(member).Met("survived"))
			}
		}
	}
	for _, e := range fact.Where(f.elections(), func(e *election) bool { return after.At(e.madeAt().Latest) == fact.Yes }) {
		l.Add(e.Entry().Met("elected"))
	}
}
