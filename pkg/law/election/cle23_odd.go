package election

import (
	"net/http"
	"strings"
	"time"

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
	Judge: judgeOdd,
}

func judgeOdd(f *Facts, l *law.Ledger, b law.Bounds) {
	var stored []int64
	for _, r := range f.requests {
		if r.Election != history.ElectionOdd {
			continue
		}
		at := f.When(r.Stamp)
		switch {
		case serverFailed(r.Request):
			l.Broken(r.Name, at, law.Evidence(r.Seq), "%s answered %d to an odd Lease: %s", r.member, r.Code, r.Message)
		case r.Code >= 200 && r.Code < 300:
			stored = append(stored, r.At)
			l.Met(r.Name, at, "stored")
			f.judgeDealt(r, l)
			f.judgeCrashes(r, l, b)
		}
	}
	f.judgeAfterwards(stored, b.Of("survives"), l)
}

// serverFailed is whether a server answered that it has failed. That it is too busy, that
// it took too long, or that its etcd had trouble says nothing of what it was asked.
func serverFailed(r *history.Request) bool {
	switch r.Code {
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return r.Code >= http.StatusInternalServerError && !strings.Contains(r.Message, "etcdserver: ")
}

// judgeDealt counts an odd Lease that a coordinator did something about.
func (f *Facts) judgeDealt(r *request, l *law.Ledger) {
	lease := f.leases[r.Name]
	if lease == nil || r.ResourceVersion == 0 {
		return
	}
	for _, c := range lease.changes {
		if c.Revision > r.ResourceVersion && (c.Marked() || c.Taken() && c.ByCoordinator()) {
			l.Met(r.Name, c.When(), "dealt")
			return
		}
	}
}

// judgeCrashes judges that no API server ends by itself soon after an odd Lease.
func (f *Facts) judgeCrashes(r *request, l *law.Ledger, b law.Bounds) {
	for _, p := range f.AllProcesses() {
		if p.Component != history.ComponentAPIServer || !p.EndedItself() || p.Exited.Latest < r.At {
			continue
		}
		switch after := time.Duration(p.Exited.Latest - r.At); within(f.When(r.Stamp), *p.Exited, b.Of("crashesWithin")) {
		case fact.Yes:
			l.Broken(p.Member, *p.Exited, law.Evidence(r.Seq, p.Exited.Seq), "the API server of %s ended (%s), %s after an odd Lease was stored", p.Member, p.Exit, took(after))
		case fact.Unknown:
			l.Unclear(p.Member, *p.Exited, "whether its API server ended within %s of an odd Lease is not certain", b.Of("crashesWithin"))
		}
	}
}

// judgeAfterwards counts servers that are ready, and elections, a while after odd Leases
// were stored.
func (f *Facts) judgeAfterwards(stored []int64, survives time.Duration, l *law.Ledger) {
	var b fact.Builder
	for i, at := range stored {
		b.SetAt(at+int64(survives), fact.Yes)
		if i+1 < len(stored) {
			b.SetAt(stored[i+1], fact.No)
		}
	}
	after := b.Signal()
	for _, member := range f.Members() {
		for _, span := range fact.And(f.Ready(member), after).Spans(fact.Yes) {
			if span.Begin > f.Now {
				continue // the history ended before
			}
			l.MetBy(member, member, fact.Exactly(span.Begin, f.Evidence(span.Begin)), "survived")
		}
	}
	for _, c := range f.elections() {
		if after.At(c.madeAt().Latest) == fact.Yes {
			l.Met(c.lease.Key, c.When(), "elected")
		}
	}
}
