package migration

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm04: when a migration has succeeded, each object of the time of its checkpoint that
// still exists is stored in the version that the servers agree on or, where they do not any
// more, in the one that they agreed on when it began (KEP-25, "Migrator").
var svm04 = written{
	Row: law.Row{ID: "SVM-04", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "rewritten", Tag: "rewritten"}, {Name: "compared", Tag: "compared"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.Migrations {
			if m.Succeeded() {
				m.leavesNone(l)
			}
		}
	},
}

func (m *Migration) leavesNone(l *law.Ledger) {
	f, at := m.facts, m.facts.When(m.Ended)
	old := func(c *Change) bool { return c.created <= m.checkpoint() }
	if m.finished() == "" {
		m.leavesNoneUnagreed(l, old)
		return
	}
	compared, left := m.left(old)
	if len(left) > 0 {
		l.Broken(m.Name, at, evidenceOf(m.Ended.Seq, left), "migration %s succeeded at revision %d, and %d objects from before its checkpoint %d are not stored as %s",
			m.Name, m.Ended.Revision, len(left), m.checkpoint(), m.finished())
	}
	if compared > 0 {
		l.Add(law.Entry{Ending: law.Met, About: m.Name, Began: at, Tags: []string{"compared"}, Times: compared})
	}
	if n := len(m.rewritten()); n > 0 {
		l.Add(law.Entry{Ending: law.Met, About: m.Name, Began: f.When(m.Started), Tags: []string{"rewritten"}, Times: int64(n)})
	}
}

// leavesNoneUnagreed judges a success without any agreement: it cannot be held against one
// version, but whatever no server stores objects in was left behind.
func (m *Migration) leavesNoneUnagreed(l *law.Ledger, old func(*Change) bool) {
	f, at := m.facts, m.facts.When(m.Ended)
	now := f.agreement(m.Of, m.Ended.Revision)
	_, left := m.left(old)
	if len(left) == 0 {
		return // nothing was there to be migrated
	}
	left = slices.DeleteFunc(left, func(c *Change) bool { return len(now.Encodings) == 0 || slices.Contains(now.Encodings, c.Version()) })
	if len(left) > 0 {
		l.Broken(m.Name, at, evidenceOf(m.Ended.Seq, left), "migration %s succeeded at revision %d, and %d objects are stored in a version that no server stores (%v are announced)",
			m.Name, m.Ended.Revision, len(left), now.Encodings)
		return
	}
	l.Unclear(m.Name, at, "migration %s succeeded when the servers agreed on no version, so that what it did cannot be compared with any", m.Name)
}
