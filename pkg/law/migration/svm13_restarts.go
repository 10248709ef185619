package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm13: API servers that go and come back one after the other delay a migration and do not
// fail it (KEP-25, "Failure recovery").
var svm13 = written{
	Row: law.Row{ID: "SVM-13", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "survived", Tag: "survived"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.Migrations {
			ends := m.serverEnds()
			if len(ends) == 0 {
				continue
			}
			first := map[string]fact.Moment{}
			last := ends[0].Moment
			for _, e := range ends {
				if _, known := first[e.Member]; !known {
					first[e.Member], last = e.Moment, e.Moment
				}
			}
			m.survives(l, ends[0].Moment, " after API servers had been restarted", func() {
				switch least, _ := last.Until(f.When(m.Ended)); {
				case len(first) < len(f.Members()):
					l.Met(m.Name, last)
				case least > statusWrites():
					l.Met(m.Name, last, "survived")
				default:
					l.Excused(m.Name, last, "its success may have been on its way when the last API server ended")
				}
			})
		}
	},
}
