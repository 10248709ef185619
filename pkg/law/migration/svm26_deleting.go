package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm26: a migration also migrates objects that are being deleted and that a finalizer holds:
// until it is gone, such an object is stored as any other (KEP-25, "Migrator").
var svm26 = written{
	Row: law.Row{ID: "SVM-26", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "deleting"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.Migrations {
			if !m.Succeeded() {
				continue
			}
			held := func(c *Change) bool { return c.Deleting && c.created <= m.checkpoint() }
			if m.finished() == "" {
				m.leavesNoneUnagreed(l, held)
				continue
			}
			compared, left := m.left(held)
			if compared > 0 {
				l.Add(law.Entry{Ending: law.Met, About: m.Name, Began: f.When(m.Ended), Times: compared})
			}
			for _, c := range left {
				l.Broken(c.Object.Name, f.When(m.Ended), law.Evidence(c.Seq, m.Ended.Seq), "migration %s succeeded at revision %d, and %s %s, which is being deleted, is stored as %s and not as %s",
					m.Name, m.Ended.Revision, m.Of.Name, c.Object.Name, c.Version(), m.finished())
			}
		}
	},
}
