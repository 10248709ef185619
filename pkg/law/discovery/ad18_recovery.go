package discovery

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad18: when the aggregated server is back its group-version is current again within a
// bound (KEP-3352: aggregated servers are contacted "on a set interval").
var ad18 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-18", Sources: readiness, Needs: each("back")},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		for _, o := range f.outages {
			if o.until == fact.Forever {
				continue
			}
			for _, d := range f.definitionsOf(o.group) {
				now := d.latest(o.until)
				if !d.remote || now == nil || !now.known {
					continue
				}
				for _, version := range now.versions {
					for _, m := range f.all() {
						l.Add(m.recovers(o, now, version, b.Of("recoversWithin")))
					}
				}
			}
		}
	},
}

// recovers judges when the member calls a group-version current after an outage.
func (m *member) recovers(o *outage, now *change, version string, bound time.Duration) law.Entry {
	f, name := m.facts, named(o.group, version)
	e := law.Entry{About: fmt.Sprintf("%s since event %d", name, o.seq), Member: m.name, Began: fact.Exactly(o.until, f.Evidence(o.until))}
	over, why := fact.Exactly(now.over(), 0), "the APIService was changed"
	if next := f.next(o); next != nil && next.since < over.Latest {
		over, why = fact.Exactly(next.since, next.seq), "the server misbehaved again"
		if next.since <= o.until+int64(turnsWithin()) {
			e.Ending, e.Why = law.Superseded, "the server went over to another misbehaviour at once"
			return e
		}
	}
	current := func(k *look) bool { return k.from >= o.until && k.told() != nil && k.listing.current(o.group, version) }
	breach := func(took time.Duration, last string) string {
		return fmt.Sprintf("the server of %s answers for %s, and %s does not call it current%s", name, took, m.name, lately(last))
	}
	e, shown := (&owed{
		Entry: e, member: m, bound: bound, over: over, why: why, fits: current, breach: breach,
		tags: func(*look) []string {
			if slices.ContainsFunc(m.between(o.since, o.until), func(k *look) bool {
				found := k.told().version(o.group, version)
				return found != nil && found.Freshness == history.FreshnessStale
			}) {
				return []string{"back"}
			}
			return nil
		},
	}).end(f.Over())
	if shown == nil {
		return e
	}
	k := m.goesBack(o.until, over.Earliest, bound, func(k *look) bool { return current(k) || f.changing(o.group, k.from, k.last) })
	if k != nil {
		e.Ending, e.Evidence, e.Why = law.Broken, law.Evidence(o.seq, k.seq), breach(time.Duration(k.until-o.until).Round(100*time.Millisecond), "")
	}
	return e
}
