package migration

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm18: the migration of a resource that no server hosts fails within a bound, and says
// why (KEP-4192, the resource version controller).
var svm18 = fails(law.Row{ID: "SVM-18", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: needs("failed")},
	(*Migration).unknown, "which no server hosts")

// unknown is whether it is known of each member that it does not host the resource, and
// nothing defines it.
func (m *Migration) unknown() bool {
	at := m.end()
	offers, silent := m.offers(m.Of, at.Seq)
	return !silent && len(offers) == 0 && m.definition(m.Of).At(at.Revision) == nil && !m.written(m.Of)
}

// vainSince is since when there is nothing that it could migrate: since its creation, or
// since its resource was deleted.
func (m *Migration) vainSince() fact.Stamp {
	if gone := m.undefinedSince(m.Of, m.end().Revision); was(gone) && gone.Revision > m.Created.Revision {
		return gone
	}
	return m.Created
}

// fails has migrations that have nothing to migrate fail, with a reason and in time. One
// that succeeded while there was something to migrate need not.
func fails(row law.Row, over func(*Migration) bool, what string) deadline {
	return deadline{
		Row:     row,
		Bound:   "failsWithin",
		Over:    those(func(m *Migration) bool { return over(m) && !(m.Succeeded() && m.vainSince() != m.Created) }),
		Begin:   law.Once(func(m *Migration) fact.Moment { return m.When(m.vainSince()) }),
		Running: (*Migration).clock,
		Done:    func(m *Migration) []fact.Moment { return m.Moments(m.Ended) },
		Void: func(m *Migration) []law.Void {
			return law.Voids("it was deleted before the bound was over", m.Moments(m.Gone)...)
		},
		Breaks: func(m *Migration, e law.Entry) law.Entry {
			switch reason := conditionOf(m.atEnd(), m.Outcome); {
			case m.Succeeded():
				return e.Broken("migration %s of %s, %s, succeeded", m.Name, m.Of, what).Shown(m.Created.Seq, m.Ended.Seq)
			case was(m.Ended) && (reason == nil || reason.Reason == "" || reason.Message == ""):
				return e.Broken("migration %s failed without a reason or a message", m.Name).Shown(m.Created.Seq, m.Ended.Seq)
			}
			return e
		},
		Breach: func(m *Migration, began fact.Moment, done *fact.Moment, took time.Duration) string {
			if done != nil && m.Failed() {
				took, _ = began.Until(*done)
				return fmt.Sprintf("migration %s of %s, %s, took %v to fail", m.Name, m.Of, what, rounded(took))
			}
			return fmt.Sprintf("migration %s of %s, %s, has not failed for %v", m.Name, m.Of, what, rounded(took))
		},
		// It may have failed for something else, or without a controller that could.
		Tag: inTime("failed", row.ID, "failsWithin", func(m *Migration) bool { return m.Seen && m.vainSince() == m.Created }),
	}
}
