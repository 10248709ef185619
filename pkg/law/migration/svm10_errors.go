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
			for _, ran := range []fact.Truth{fact.Yes, fact.Unknown} {
				m.outlivesErrors(l, fact.Where(m.sent(), func(x exchange) bool { return x.passes() && m.Running().At(x.At) == ran }), ran)
			}
		}
	},
}

// outlivesErrors judges what came of a migration after errors that its writes met while it ran, or may
// have.
func (m *Migration) outlivesErrors(l *law.Ledger, met []exchange, ran fact.Truth) {
	if len(met) == 0 {
		return
	}
	last := m.When(met[len(met)-1].Stamp)
	l.Add(m.survives(last, fmt.Sprintf(" after %d errors that pass by themselves", len(met)), func(law.Entry) law.Entry {
		kinds, names := map[int]int64{}, map[string]bool{}
		for _, x := range met {
			kinds[x.code]++
			names[x.name] = true
		}
		for _, code := range law.SortedKeys(kinds) {
			l.Add(tally(law.Of(fmt.Sprintf("status %d", code), last), kinds[code], "passed").Owed(ran))
		}
		return m.leaves("whose write had met an error that passes by itself", func(c *Change) bool { return names[c.Object.Name] })
	}).Owed(ran))
}
