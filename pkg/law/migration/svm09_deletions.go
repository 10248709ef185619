package migration

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm09: that objects are deleted while it runs, one by one or with their namespace, does
// not make a migration fail (KEP-25, "Migrator": what is not found is done).
var svm09 = written{
	Row: law.Row{ID: "SVM-09", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "single", Tag: "single"}, {Name: "together", Tag: "together"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.Migrations {
			deleted := m.deletedAhead()
			if len(deleted) == 0 {
				continue
			}
			after := fmt.Sprintf(" after %d of its objects had been deleted by users", len(deleted))
			m.survives(l, f.when(deleted[0]), after, func() {
				for _, c := range deleted {
					m.survivedDeletion(l, c)
				}
			})
		}
	},
}

func (m *Migration) survivedDeletion(l *law.Ledger, c *Change) {
	at := m.facts.when(c)
	switch {
	case m.target().Untold && m.finished() == "":
		l.Excused(c.Object.Name, at, "nothing tells in which version objects are to be, so that the migration may have rewritten it")
	case m.facts.goneWithNamespace(c):
		l.Met(c.Object.Name, at, "together")
	default:
		l.Met(c.Object.Name, at, "single")
	}
}
