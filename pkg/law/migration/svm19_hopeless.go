package migration

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// svm19: the migration of what is hosted and not stored, so that there is nothing to
// migrate, ends as failed; and no migration stays open for ever (KEP-4192, the resource
// version controller).
var svm19 = together{
	Row:   law.Row{ID: "SVM-19", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: needs("failed")},
	Parts: parts{fails(law.Row{ID: "SVM-19", Also: []string{history.LackTraffic}}, (*Migration).unstored, "which is never stored"), staysOpen},
}

// unstored is whether its resource is hosted by the API servers themselves, and none says
// that it is stored.
func (m *Migration) unstored() bool {
	offers, _ := m.offers(m.Of, m.end().Seq)
	return len(offers) > 0 && !slices.ContainsFunc(offers, func(h history.HostedResource) bool { return h.Persisted || h.Custom || h.Aggregated })
}

// staysOpen has migrations begin, and go on to their end. They may have to wait for an
// agreement, for others, and for a controller. SVM-18 judges those of unknown resources,
// with a bound of its own.
var staysOpen = deadline{
	BoundOf: func(m *Migration, _ fact.Moment) time.Duration {
		return requirement.MustBound("SVM-19", "open") + m.passesDone(m.lastBegan())
	},
	Over:    those(func(m *Migration) bool { return !m.unstored() && !m.unknown() }),
	Begin:   law.Once(func(m *Migration) fact.Moment { return m.When(m.lastBegan()) }),
	Running: func(m *Migration) fact.Signal { return fact.And(m.clock(), m.free()) },
	Done: func(m *Migration) []fact.Moment {
		return m.Moments(cmp.Or(m.Ended, m.Gone))
	},
	Breach: func(m *Migration, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		what := "begun"
		if was(m.Started) {
			what = "come to an end"
		}
		return fmt.Sprintf("migration %s has not %s for %v, with %s", m.Name, what, rounded(took), m.standing())
	},
}

// lastBegan is when it came to where it is: it was created, it began, it rewrote an object
// last, or it ended.
func (m *Migration) lastBegan() fact.Stamp {
	switch rewritten := m.rewritten(); {
	case was(m.Ended):
		return m.Ended
	case !was(m.Started):
		return m.Created
	case len(rewritten) > 0:
		return rewritten[len(rewritten)-1].Stamp
	}
	return m.Started
}

// free is while nothing but a controller keeps it from going on. Without the agreement that
// it began with it has to stop, which SVM-21 judges.
func (m *Migration) free() fact.Signal {
	if !was(m.Started) {
		return m.turn()
	}
	target := m.target().Version
	return m.agreeing(m.Of, func(version string) bool { return target == "" || cmp.Or(version, target) == target })
}

// turn is while nothing but a controller keeps a migration from beginning: the servers are
// in agreement, no other migration runs, and no older one of its resource waits.
func (m *Migration) turn() fact.Signal {
	others := fact.Where(m.Migrations, func(o *Migration) bool { return o != m })
	older := fact.Where(m.Migrations[:slices.Index(m.Migrations, m)], func(o *Migration) bool { return o.Of == m.Of })
	busy := fact.Or(append(fact.Each(others, (*Migration).Running), fact.Each(older, (*Migration).Pending)...)...)
	return fact.And(m.Pending(), m.agreeing(m.Of, func(string) bool { return true }), fact.Not(busy))
}
