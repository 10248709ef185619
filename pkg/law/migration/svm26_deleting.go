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
		for _, m := range f.migrations((*Migration).Succeeded) {
			m.leavesNone(l, "which are being deleted", func(c *Change) bool { return c.Deleting && c.created <= m.checkpoint() })
		}
	},
}
