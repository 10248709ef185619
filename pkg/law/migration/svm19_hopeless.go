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
	Row: law.Row{ID: "SVM-19", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: needs("failed")},
	Parts: parts{fails(law.Row{ID: "SVM-19", Also: []string{history.LackTraffic}}, func(f *Facts) []vain {
		return fact.Each(those((*Migration).unstored)(f), func(m *Migration) vain { return vain{m, m.When(m.Created), nil} })
	}, "which is never stored"), staysOpen},
}

// unstored is whether its resource is hosted by the API servers themselves, and none says
// that it is stored.
func (m *Migration) unstored() bool {
	offers := m.offers(m.Of, m.end().Seq)
	return len(offers) > 0 && !slices.ContainsFunc(offers, func(h history.HostedResource) bool { return h.Persisted || h.Custom || h.Aggregated })
}

// staysOpen has migrations begin, go on, and end. They may have to wait for an agreement, for
// others, and for a controller. SVM-18 judges the time in which no server hosts the resource, with
// a bound of its own.
var staysOpen = law.Deadline[*Facts, pause]{
	BoundOf: func(p pause, _ fact.Moment) time.Duration {
		return requirement.MustBound("SVM-19", "open") + p.passesDone(p.from, p.until())
	},
	Over:    (*Facts).pauses,
	Begin:   law.Once(func(p pause) fact.Moment { return p.When(p.from) }),
	Running: func(p pause) fact.Signal { return fact.And(p.clock(), p.free(), p.hosting()) },
	Done:    func(p pause) []fact.Moment { return p.Moments(p.next) },
	Breach: func(p pause, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		what := "come to an end"
		switch {
		case p.waits():
			what = "begun"
		case p.next != p.end() && was(p.next):
			what = "gone on"
		}
		return fmt.Sprintf("migration %s has not %s for %v, with %s", p.Name, what, rounded(took), p.standing())
	},
}

// pause is the time from a step of a migration to the next one. Its steps are that it is
// created, begins, rewrites an object, and ends or is deleted. Next is the zero Stamp where
// none followed.
type pause struct {
	*Migration
	from, next fact.Stamp
}

// pauses are the last one of each migration that has something to migrate, and those that are
// long enough to be too long. A step does not make up for the time without one before it.
func (f *Facts) pauses() (out []pause) {
	for _, m := range those(func(m *Migration) bool { return !m.unstored() && !m.unknown() })(f) {
		steps := append([]fact.Stamp{m.Created, m.Started}, fact.Each(m.rewritten(), func(c *Change) fact.Stamp { return c.Stamp })...)
		steps = append(fact.Where(steps, was), cmp.Or(m.Ended, m.Gone))
		for i, from := range steps[:len(steps)-1] {
			p := pause{m, from, steps[i+1]}
			_, took := m.When(from).Until(m.When(p.until()))
			if i == len(steps)-2 || took > requirement.MustBound("SVM-19", "open") {
				out = append(out, p)
			}
		}
	}
	return out
}

// until is its end; while it goes on, that of the history.
func (p pause) until() fact.Stamp { return cmp.Or(p.next, p.end()) }

// waits is whether the migration had not begun.
func (p pause) waits() bool { return !was(p.Started) || p.from.Revision < p.Started.Revision }

// free is while nothing but a controller keeps it from going on. Without the agreement that
// it began with it has to stop, which SVM-21 judges, and one that gave way to another one waits
// while that runs.
func (p pause) free() fact.Signal {
	if p.waits() {
		return p.turn()
	}
	target := p.target().Version
	agreeing := p.agreeing(p.Of, func(version string) bool { return target == "" || cmp.Or(version, target) == target })
	others := fact.Where(p.Migrations, func(o *Migration) bool { return o != p.Migration })
	gaveWay := fact.And(fact.Not(p.saidToRun()), fact.Or(fact.Each(others, (*Migration).saidToRun)...))
	return fact.And(agreeing, fact.Not(gaveWay))
}

// saidToRun is while it says that it runs.
func (m *Migration) saidToRun() fact.Signal {
	says := fact.Follow(m.Reports, func(r Report) fact.Moment { return m.When(r.Stamp) }, func(r Report) bool { return isTrue(r.Migration, history.MigrationRunning) })
	return fact.And(m.Running(), says)
}

// turn is while nothing but a controller keeps a migration from beginning: the servers are
// in agreement, no other migration runs, and no older one of its resource waits.
func (m *Migration) turn() fact.Signal {
	others := fact.Where(m.Migrations, func(o *Migration) bool { return o != m })
	older := fact.Where(m.Migrations[:slices.Index(m.Migrations, m)], func(o *Migration) bool { return o.Of == m.Of })
	busy := fact.Or(append(fact.Each(others, (*Migration).Running), fact.Each(older, (*Migration).Pending)...)...)
	return fact.And(m.Pending(), m.agreeing(m.Of, func(string) bool { return true }), fact.Not(busy))
}
