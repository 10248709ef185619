package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm13: API servers that go and come back one after the other delay a migration and do not
// fail it (KEP-25, "Failure recovery").
var svm13 = each[*Migration]{
	Row:  law.Row{ID: "SVM-13", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("survived")},
	Over: all,
	End: func(m *Migration, _ law.Bounds) law.Entry {
		const restarted = " after API servers had been restarted"
		ended, ends := map[string]bool{}, m.ends(history.ComponentAPIServer, fact.Yes)
		if len(ends) == 0 {
			return m.survivesEnds(m.ends(history.ComponentAPIServer, fact.Unknown), restarted).Owed(fact.Unknown)
		}
		var last fact.Moment // the first end of the member that ended last
		for _, p := range ends {
			if !ended[p.Member] {
				ended[p.Member], last = true, *p.Exited
			}
		}
		return m.survives(*ends[0].Exited, restarted, func(e law.Entry) law.Entry {
			switch least, _ := last.Until(m.When(m.Ended)); {
			case len(ended) < len(m.Members()):
				return e.Met()
			case least > statusWrites():
				return e.Met("survived")
			}
			return e.Excused("its success may have been on its way when the last API server ended")
		})
	},
}
