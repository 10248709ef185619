package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm11: the end of the controller that migrates, and a change of leader, delay a migration
// and do not fail it (KEP-25, "Failure recovery").
var svm11 = written{
	Row: law.Row{ID: "SVM-11", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "survived", Tag: "survived"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.Migrations {
			crashes, takeovers := m.crashes(), m.takeovers()
			switch {
			case len(crashes) > 0:
				m.survives(l, crashes[0].Moment, " after its controller had ended", func() { m.outlivesController(l, crashes[0], takeovers) })
			case len(takeovers) > 0:
				at := f.When(takeovers[0].Stamp)
				m.survives(l, at, " after another controller had come to lead", func() { l.Met(m.Name, at) })
			}
		}
	},
}

// outlivesController ends a success after a crash: it must not have been on its way when
// the controller ended.
func (m *Migration) outlivesController(l *law.Ledger, crash interruption, takeovers []leader) {
	f := m.facts
	for _, t := range takeovers {
		if crash.Before(f.When(t.Stamp)) == fact.Yes {
			l.MetBy(crash.Member, m.Name, crash.Moment, "survived")
			return
		}
	}
	if least, _ := crash.Until(f.When(m.Ended)); least > statusWrites() {
		l.MetBy(crash.Member, m.Name, crash.Moment, "survived")
		return
	}
	l.Excused(m.Name, crash.Moment, "its success may have been on its way when the controller ended")
}
