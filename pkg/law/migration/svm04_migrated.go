package migration

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm04: when a migration has succeeded, each object of the time of its checkpoint that
// still exists is stored in the version that the servers agree on or, where they do not any
// more, in the one that they agreed on when it began (KEP-25, "Migrator").
var svm04 = written{
	Row: law.Row{ID: "SVM-04", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "rewritten", Tag: "rewritten"}, {Name: "compared", Tag: "compared"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.migrations((*Migration).Succeeded) {
			old := func(c *Change) bool { return c.created <= m.checkpoint() }
			m.leavesNone(l, fmt.Sprintf("from before its checkpoint %d", m.checkpoint()), old, "compared")
			if n := len(m.rewritten()); n > 0 && m.finished() != "" {
				l.Add(law.Entry{Ending: law.Met, About: m.Name, Began: f.When(m.Started), Tags: []string{"rewritten"}, Times: int64(n)})
			}
		}
	},
}
