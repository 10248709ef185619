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
var svm18 = law.Together[*Facts]{
	Row:   law.Row{ID: "SVM-18", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{{Name: "failed", Tag: "failed"}}},
	Parts: fails((*Migration).unknown, "which no server hosts"),
}

// unknown is whether no server hosted its resource.
func (m *Migration) unknown() bool { return m.facts.unknown(m.Of, m.asked()) }

// vainSince is since when there is nothing that it could migrate: since its creation, or
// since its resource was deleted.
func (m *Migration) vainSince() fact.Stamp {
	if gone := m.facts.undefinedSince(m.Of, m.asked().Revision); was(gone) && gone.Revision > m.Created.Revision {
		return gone
	}
	return m.Created
}

// fails are the parts of a law by which migrations that have nothing to migrate fail, with a
// reason and in time.
func fails(over func(*Migration) bool, what string) parts {
	return parts{written{Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.migrations(over) {
			m.failsWithReason(l, what)
		}
	}}, deadline{
		Bound: "failsWithin",
		Over: func(f *Facts) []*Migration {
			return f.migrations(func(m *Migration) bool { return over(m) && !m.Succeeded() })
		},
		Describe: (*Migration).name,
		Begin:    func(m *Migration) []fact.Moment { return m.facts.moments(m.vainSince()) },
		Running:  (*Migration).clock,
		Done:     func(m *Migration) []fact.Moment { return m.facts.moments(m.Ended) },
		Void: func(m *Migration) []law.Void {
			return m.facts.voids("it was deleted before the bound was over", m.Gone)
		},
		Breach: func(m *Migration, began fact.Moment, done *fact.Moment, took time.Duration) string {
			if done == nil {
				return fmt.Sprintf("migration %s of %s, %s, has not failed for %v", m.Name, m.Of, what, rounded(took))
			}
			elapsed, _ := began.Until(*done)
			return fmt.Sprintf("migration %s of %s, %s, took %v to fail", m.Name, m.Of, what, rounded(elapsed))
		},
		// It may have failed for something else, or without a controller that could.
		Tag: func(m *Migration, began, done fact.Moment) []string {
			if elapsed, _ := began.Until(done); m.Seen && m.vainSince() == m.Created && elapsed <= requirement.MustBound("SVM-18", "failsWithin") {
				return []string{"failed"}
			}
			return nil
		},
	}}
}

func (m *Migration) failsWithReason(l *law.Ledger, what string) {
	f, at := m.facts, m.facts.When(m.vainSince())
	switch reason := conditionOf(m.Now(), m.Outcome); {
	case m.Succeeded() && m.vainSince() != m.Created:
		l.Excused(m.Name, at, "it had something to migrate when it was created")
	case m.Succeeded():
		l.Broken(m.Name, at, law.Evidence(m.Created.Seq, m.Ended.Seq), "migration %s of %s, %s, succeeded", m.Name, m.Of, what)
	case was(m.Ended) && (reason == nil || reason.Reason == "" || reason.Message == ""):
		l.Broken(m.Name, f.When(m.Ended), law.Evidence(m.Created.Seq, m.Ended.Seq), "migration %s failed without a reason or a message", m.Name)
	}
}
