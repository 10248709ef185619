package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm04: when a migration has succeeded, each object of the time of its checkpoint that
// still exists is stored in the version that the servers agree on or, where they do not any
// more, in the one that they agreed on when it began (KEP-25, "Migrator").
var svm04 = together{
	Row: law.Row{ID: "SVM-04", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("rewritten", "compared")},
	Parts: parts{
		leavesNone("from before its checkpoint", func(m *Migration, c *Change) bool { return c.created <= m.checkpoint() }, "compared"),
		each[*Migration]{
			Over: those(func(m *Migration) bool { return m.Succeeded() && m.finished() != "" }),
			End: func(m *Migration, _ law.Bounds) law.Entry {
				return tally(m.Entry(), int64(len(m.rewritten())), "rewritten")
			},
		},
	},
}
