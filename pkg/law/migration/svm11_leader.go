package migration

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm11: the end of the controller that migrates, and a change of leader, delay a migration
// and do not fail it (KEP-25, "Failure recovery").
var svm11 = each[*Migration]{
	Row:  law.Row{ID: "SVM-11", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("survived")},
	Over: all,
	End: func(m *Migration, _ law.Bounds) law.Entry {
		crashes, takeovers := m.crashes(fact.Yes), m.takeovers()
		switch {
		case len(crashes) > 0:
			return m.survives(*crashes[0].Exited, " after its controller had ended", func(e law.Entry) law.Entry { return m.outlivesController(e, takeovers) })
		case len(takeovers) > 0:
			return m.survives(m.When(takeovers[0]), " after another controller had come to lead", func(e law.Entry) law.Entry { return e.Met() })
		}
		return m.survivesEnds(m.crashes(fact.Unknown), " after its controller had ended").Owed(fact.Unknown)
	},
}

// outlivesController ends a success after a crash: it must not have been on its way when
// the controller ended.
func (m *Migration) outlivesController(crash law.Entry, takeovers []fact.Stamp) law.Entry {
	after := slices.ContainsFunc(takeovers, func(s fact.Stamp) bool { return crash.Began.Before(m.When(s)) == fact.Yes })
	if least, _ := crash.Began.Until(m.When(m.Ended)); after || least > statusWrites() {
		return crash.Met("survived")
	}
	return crash.Excused("its success may have been on its way when the controller ended")
}
