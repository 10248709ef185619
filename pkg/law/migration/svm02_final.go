package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm02: a migration has one outcome, once, and no client can take it back (KEP-4192, the
// conditions of the status).
var svm02 = written{
	Row: law.Row{ID: "SVM-02", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "ended", Tag: "ended"}, {Name: "outcomes", Tag: history.InvalidOutcome}, {Name: "seconds", Tag: history.InvalidBoth},
	}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.Migrations {
			if was(m.Ended) {
				m.keepsOutcome(l)
			}
		}
		f.refuses(l, history.InvalidOutcome, "that the outcome is taken back")
		f.refuses(l, history.InvalidBoth, "a second outcome")
	},
}

func (m *Migration) keepsOutcome(l *law.Ledger) {
	for _, r := range m.Reports {
		if r.Revision < m.Ended.Revision {
			continue
		}
		at := m.facts.When(r.Stamp)
		if isTrue(r.Migration, history.MigrationSucceeded) && isTrue(r.Migration, history.MigrationFailed) {
			l.Add(law.Entry{Ending: law.Broken, About: m.Name, Began: at, Evidence: []int64{r.Seq}, SelfEvident: true,
				Why: "migration " + m.Name + " has both succeeded and failed"})
			return
		}
		if !isTrue(r.Migration, m.Outcome) {
			l.Broken(m.Name, at, law.Evidence(m.Ended.Seq, r.Seq), "migration %s had %s, and does not any more at revision %d", m.Name, m.Outcome, r.Revision)
			return
		}
	}
	if m.Found && !was(m.Started) {
		l.Excused(m.Name, m.facts.When(m.Ended), "it had ended before the recorder looked first")
		return
	}
	l.Met(m.Name, m.facts.When(m.Ended), "ended")
}
