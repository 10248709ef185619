package migration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm09: that objects are deleted while it runs, one by one or with their namespace, does
// not make a migration fail (KEP-25, "Migrator": what is not found is done).
var svm09 = written{
	Row: law.Row{ID: "SVM-09", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("single", "together")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.Migrations {
			deleted := m.deletedAhead()
			if len(deleted) == 0 {
				continue
			}
			after := fmt.Sprintf(" after %d of its objects had been deleted by users", len(deleted))
			l.Add(m.survives(deleted[0].when(), after, func(e law.Entry) law.Entry {
				if m.target().Untold && m.finished() == "" {
					return e.Excused("nothing tells in which version objects are to be, so that the migration may have rewritten them")
				}
				together := fact.Where(deleted, f.goneWithNamespace)
				l.Add(tally(e, int64(len(together)), "together"), tally(e, int64(len(deleted)-len(together)), "single"))
				return law.Entry{}
			}))
		}
	},
}

// goneWithNamespace is whether an object's namespace went after it, by a request of a
// client or not.
func (f *Facts) goneWithNamespace(c *Change) bool {
	namespace, _, _ := strings.Cut(c.Object.Name, "/")
	return slices.ContainsFunc(f.removed[namespace], func(gone fact.Stamp) bool { return gone.Revision > c.Revision })
}
