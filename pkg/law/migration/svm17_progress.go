package migration

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm17: the status of a migration that takes long says more on the way than that it runs
// (KEP-25, "Goals": progress). Between the end of one controller and the start of the next
// there is nothing to tell.
var svm17 = written{
	Row: law.Row{ID: "SVM-17", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "reports", Tag: "reports"}}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		for _, m := range f.Migrations {
			if !was(m.Started) {
				continue
			}
			began, over := f.When(m.Started), m.over()
			least := time.Duration(f.migrating().Lasts(began.Latest, max(over.Earliest, began.Latest), fact.Yes))
			most := time.Duration(f.migrating().Lasts(began.Earliest, over.Latest, fact.Unknown))
			reports := m.progress()
			switch long := bounds.Of("long"); {
			case most < long:
			case len(reports) > 0:
				l.Add(law.Entry{Ending: law.Met, About: m.Name, Began: began, Tags: []string{"reports"}, Times: int64(len(reports))})
			case least >= long:
				l.Broken(m.Name, over, law.Evidence(m.Started.Seq, over.Seq), "migration %s ran for %v, and its status told nothing on the way", m.Name, rounded(least))
			default:
				l.Unclear(m.Name, began, "its status told nothing on the way, and it ran for between %v and %v", rounded(least), rounded(most))
			}
		}
	},
}
