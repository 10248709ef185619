package migration

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// svm18: the migration of a resource that no server hosts fails within a bound, and says
// why (KEP-4192, the resource version controller).
var svm18 = together{
	Row:   law.Row{ID: "SVM-18", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{{Name: "failed", Tag: "failed"}}},
	Parts: fails((*Migration).unknown, "SVM-18", "which no server hosts"),
}

// unknown is whether it is known of each member that it does not host the resource, and
// nothing defines it.
func (m *Migration) unknown() bool {
	at := m.end()
	said, silent := m.hosting(m.Of, at.Seq)
	return !silent && len(said) == 0 && m.definition(m.Of).At(at.Revision) == nil && !m.written(m.Of)
}

// vainSince is since when there is nothing that it could migrate: since its creation, or
// since its resource was deleted.
func (m *Migration) vainSince() fact.Stamp {
	if gone := m.undefinedSince(m.Of, m.end().Revision); was(gone) && gone.Revision > m.Created.Revision {
		return gone
	}
	return m.Created
}

// fails are the parts of a law by which migrations that have nothing to migrate fail, with a
// reason and in time.
func fails(over func(*Migration) bool, id requirement.ID, what string) parts {
	return parts{each[*Migration]{Over: those(over), End: func(m *Migration, _ law.Bounds) law.Entry { return m.failsWithReason(what) }}, deadline{
		Bound:   "failsWithin",
		Over:    those(func(m *Migration) bool { return over(m) && !m.Succeeded() }),
		Begin:   law.Once(func(m *Migration) fact.Moment { return m.When(m.vainSince()) }),
		Running: (*Migration).clock,
		Done:    func(m *Migration) []fact.Moment { return m.Moments(m.Ended) },
		Void: func(m *Migration) []law.Void {
			return law.Voids("it was deleted before the bound was over", m.Moments(m.Gone)...)
		},
		Breach: func(m *Migration, began fact.Moment, done *fact.Moment, took time.Duration) string {
			if done == nil {
				return fmt.Sprintf("migration %s of %s, %s, has not failed for %v", m.Name, m.Of, what, rounded(took))
			}
			elapsed, _ := began.Until(*done)
			return fmt.Sprintf("migration %s of %s, %s, took %v to fail", m.Name, m.Of, what, rounded(elapsed))
		},
		// It may have failed for something else, or without a controller that could.
		Tag: inTime("failed", id, "failsWithin", func(m *Migration) bool { return m.Seen && m.vainSince() == m.Created }),
	}}
}

func (m *Migration) failsWithReason(what string) law.Entry {
	e := law.Of(m.Name, m.When(m.vainSince()))
	switch reason := conditionOf(m.atEnd(), m.Outcome); {
	case m.Succeeded() && m.vainSince() != m.Created:
		return e.Excused("it had something to migrate when it was created")
	case m.Succeeded():
		return e.Broken("migration %s of %s, %s, succeeded", m.Name, m.Of, what).Shown(m.Created.Seq, m.Ended.Seq)
	case was(m.Ended) && (reason == nil || reason.Reason == "" || reason.Message == ""):
		return e.Broken("migration %s failed without a reason or a message", m.Name).Shown(m.Created.Seq, m.Ended.Seq)
	}
	return law.Entry{}
}
