package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm26: a migration also migrates objects that are being deleted and that a finalizer holds:
// until it is gone, such an object is stored as any other (KEP-25, "Migrator").
var svm26 = together{
	Row:   law.Row{ID: "SVM-26", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "deleting"}}},
	Parts: parts{leavesNone("which are being deleted", func(m *Migration, c *Change) bool { return c.Deleting && c.created <= m.checkpoint() })},
}
