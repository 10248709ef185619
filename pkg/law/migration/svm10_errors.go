package migration

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm10: errors that pass by themselves delay a migration and do not fail it, nor does an
// object count as migrated because its write met such an error (KEP-25, "Migrator": it
// retries). Only errors that a fault put in the way of the controller are counted: only of
// those is it known that they pass.
var svm10 = written{
	Row: law.Row{ID: "SVM-10", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "passed", Tag: "passed"}, {Name: "kinds", Tag: "passed", Distinct: true}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.Migrations {
			running := m.Running()
			met := fact.Where(m.sent(), func(x exchange) bool { return x.passes() && running.At(x.At) == fact.Yes })
			if len(met) == 0 {
				continue
			}
			last := f.When(met[len(met)-1].Stamp)
			l.Add(m.survives(last, fmt.Sprintf(" after %d errors that pass by themselves", len(met)), func(law.Entry) law.Entry {
				kinds, names := map[int]int64{}, map[string]bool{}
				for _, x := range met {
					kinds[x.code]++
					names[x.name] = true
				}
				for _, code := range law.SortedKeys(kinds) {
					l.Add(tally(law.Of(fmt.Sprintf("status %d", code), last), kinds[code], "passed"))
				}
				return m.leaves("whose write had met an error that passes by itself", func(c *Change) bool { return names[c.Object.Name] })
			}))
		}
	},
}
