package migration

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// svm29: a migration begins within a bound although an older one of another resource does
// not end, as where a conversion webhook is down. The clock stands while the other one gets
// anywhere: there may be one worker for all resources (KEP-25, "Goals": "make progress in
// flaky environment"). One of a resource that cannot be migrated does not have to begin: what
// becomes of it SVM-18 and SVM-19 judge.
var svm29 = deadline{
	Row:   law.Row{ID: "SVM-29", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("begun")},
	Bound: "beginsWithin",
	Over: those(func(m *Migration) bool {
		return m.Seen && !m.unknown() && !m.unstored() && len(m.olderOfOthers(m.Created.Revision)) > 0
	}),
	Begin:   law.Once(func(m *Migration) fact.Moment { return m.When(m.Created) }),
	Running: (*Migration).mayBegin,
	Done: func(m *Migration) []fact.Moment {
		if was(m.Started) {
			return m.Moments(m.Started)
		}
		return m.Moments(m.Ended)
	},
	Void: func(m *Migration) []law.Void {
		return law.Voids("it was deleted before the bound was over", m.Moments(m.Gone)...)
	},
	Breach: func(m *Migration, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("migration %s of %s had not begun %v after it could, while %s of another resource got nowhere",
			m.Name, m.Of, rounded(took), m.olderOfOthers(m.Created.Revision)[0].Name)
	},
	Tag: func(m *Migration, _, _ fact.Moment) []string {
		if was(m.Started) && len(m.olderOfOthers(m.Started.Revision)) > 0 {
			return []string{"begun"}
		}
		return nil
	},
}

// olderOfOthers are the older migrations of other resources that had not ended at a revision.
func (m *Migration) olderOfOthers(revision int64) []*Migration {
	return fact.Where(m.Migrations, func(o *Migration) bool {
		return o.Of != m.Of && o.Created.Revision < m.Created.Revision && o.lived(revision)
	})
}

// mayBegin is while a controller is able to begin with it: the servers agree, it is its turn
// among those of its resource, and no other migration gets anywhere.
func (m *Migration) mayBegin() fact.Signal {
	older := fact.Where(m.Migrations[:slices.Index(m.Migrations, m)], func(o *Migration) bool { return o.Of == m.Of })
	others := fact.Where(m.Migrations, func(o *Migration) bool { return o.Of != m.Of && was(o.Started) })
	busy := fact.Or(append(fact.Each(others, (*Migration).progresses), fact.Each(older, (*Migration).Pending)...)...)
	return fact.And(m.clock(), m.hosting(), m.agreeing(m.Of, func(string) bool { return true }), fact.Not(busy))
}

// progresses is while it runs and got somewhere a short time ago.
func (m *Migration) progresses() fact.Signal {
	shows := int64(requirement.MustBound("SVM-29", "progressShows"))
	steps := append([]fact.Stamp{m.Started}, fact.Each(m.rewritten(), func(c *Change) fact.Stamp { return c.Stamp })...)
	var b fact.Builder
	until := int64(fact.Never)
	for _, s := range steps {
		at := m.When(s)
		if until != fact.Never && at.Earliest > until {
			b.SetAt(until, fact.No)
		}
		b.SetAt(at.Earliest, fact.Yes)
		until = max(until, at.Latest+shows)
	}
	b.SetAt(until, fact.No)
	return fact.And(b.Signal(), m.Running())
}
