package election

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle25: an API server without coordination ignores the fields that KEP-4355 adds where
// they are new, and keeps them where they were; when all servers have coordination again,
// Leases are coordinated as before ("Upgrade / Downgrade Strategy").
var cle25 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-25", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "dropped", Tag: "dropped"}, {Name: "kept", Tag: "kept"}, {Name: "stored", Tag: "stored"}, {Name: "converged", Tag: "converged"},
	}},
	Parts: []law.Law[*Facts]{
		law.Written[*Facts]{Judge: judgeFields},
		law.Deadline[*Facts, *Lease]{
			Row:      law.Row{ID: "CLE-25"},
			Bound:    "convergesWithin",
			Over:     (*Facts).componentLeases,
			Describe: (*Lease).entry,
			Begin:    func(l *Lease) []fact.Moment { return l.facts.enabledAgain() },
			Running:  func(l *Lease) fact.Signal { return l.electable() },
			Done: func(l *Lease) []fact.Moment {
				return l.facts.Rises(fact.And(l.facts.allCoordinate(), l.Held(), l.exists(func(now *history.Lease) bool { return now.Strategy != "" })))
			},
			Breach: func(l *Lease, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
				return fmt.Sprintf("all servers have coordination again, and for %s no leader has %s by it", took.Round(time.Second), l.Key)
			},
			Tag: func(*Lease, fact.Moment, fact.Moment) []string { return []string{"converged"} },
		},
	},
}

// withCoordination is whether a member's API server has coordination at a moment, as far as
// its command line says.
func (f *Facts) withCoordination(member string, at fact.Moment) bool {
	p := f.LastProcess(member, history.ComponentAPIServer, at.Latest)
	return p != nil && !p.Without(history.FeatureCoordination)
}

// allCoordinate is while the API servers of all members have coordination.
func (f *Facts) allCoordinate() fact.Signal {
	var signals []fact.Signal
	for _, member := range f.Members() {
		var b fact.Builder
		for _, p := range f.Processes(member, history.ComponentAPIServer) {
			b.Set(p.Started, fact.Of(!p.Without(history.FeatureCoordination)))
		}
		signals = append(signals, b.Signal())
	}
	return fact.And(signals...)
}

// enabledAgain are when all servers have coordination again after one had none.
func (f *Facts) enabledAgain() []fact.Moment {
	var out []fact.Moment
	for _, m := range f.Rises(f.allCoordinate()) {
		for _, p := range f.AllProcesses() {
			if p.Component == history.ComponentAPIServer && p.Without(history.FeatureCoordination) && p.Started.Latest < m.Latest {
				out = append(out, m)
				break
			}
		}
	}
	return out
}

// judgeFields compares what was asked for with what was stored.
func judgeFields(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, r := range f.requests {
		if r.Election != history.ElectionFields {
			continue
		}
		at := f.When(r.Stamp)
		if serverFailed(r.Request) {
			l.Broken(r.Name, at, law.Evidence(r.Seq), "%s answered %d to a Lease with the fields of coordination: %s", r.member, r.Code, r.Message)
		}
		if c := f.storedFields(r); c != nil {
			judgeStoredFields(f, r, c, l)
		}
	}
}

// storedFields is the change that a request made; nil where it made none.
func (f *Facts) storedFields(r *request) *Change {
	for _, lease := range f.leases {
		if !strings.HasPrefix(lease.Key, fieldProbes) || r.Code < 200 || r.Code >= 300 {
			continue
		}
		for _, c := range lease.changes {
			if c.Revision == r.ResourceVersion && c.Now != nil {
				return c
			}
		}
	}
	return nil
}

func judgeStoredFields(f *Facts, r *request, c *Change, l *law.Ledger) {
	at := f.When(r.Stamp)
	with := f.withCoordination(r.member, at)
	had := c.Before != nil && c.Before.Strategy != "" && c.Before.Preferred != ""
	has, none := c.Now.Strategy != "" && c.Now.Preferred != "", c.Now.Strategy == "" && c.Now.Preferred == ""
	broken := func(what string) { l.Broken(c.lease.Key, at, law.Evidence(r.Seq, c.Seq), "%s, %s", r.member, what) }
	switch {
	case !with && !had && !none:
		broken("without coordination, stored the fields that are for it in a Lease that had none")
	case !with && had && !has:
		broken("without coordination, took the fields that are for it out of a Lease that had them")
	case with && !has:
		broken("with coordination, did not store the fields that are for it")
	case !with && !had:
		l.MetBy(r.member, c.lease.Key, at, "dropped")
	case !with:
		l.MetBy(r.member, c.lease.Key, at, "kept")
	case r.Verb == "create" && f.hadBeenWithout(r.member, at):
		l.MetBy(r.member, c.lease.Key, at, "stored")
	}
}

// hadBeenWithout is whether a member's API server had been without coordination before.
func (f *Facts) hadBeenWithout(member string, at fact.Moment) bool {
	for _, p := range f.Processes(member, history.ComponentAPIServer) {
		if p.Without(history.FeatureCoordination) && p.Started.Latest <= at.Latest {
			return true
		}
	}
	return false
}
