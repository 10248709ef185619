package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm14: of one resource one migration runs at a time, and the older one first (KEP-25,
// "Controller": one worker for each resource, in the order of creation).
var svm14 = written{
	Row: law.Row{ID: "SVM-14", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("queued", "ordered")},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		for _, m := range those(func(m *Migration) bool { return was(m.Started) && !m.Found })(f) {
			queued := false
			for _, o := range m.siblings() {
				if o.lived(m.Started.Revision) {
					l.Add(m.beginsBefore(o, bounds))
				}
				queued = queued || o.lived(m.Created.Revision)
			}
			if queued && was(m.Ended) {
				l.Add(m.ended().Met("queued"))
			}
		}
	},
}

// beginsBefore judges the start of a migration against another one of its resource that
// had not ended.
func (m *Migration) beginsBefore(o *Migration, bounds law.Bounds) law.Entry {
	e, sameAge := law.Of(m.Name, m.When(m.Started)), bounds.Of("sameAge")
	older, _ := m.When(o.Created).Until(m.When(m.Created))
	younger, _ := m.When(m.Created).Until(m.When(o.Created))
	switch {
	case o.ran(m.Started.Revision):
		return e.Broken("migration %s of %s began to run at revision %d, while %s ran", m.Name, m.Of.Name, m.Started.Revision, o.Name).Shown(o.Started.Seq, m.Started.Seq)
	case older > sameAge:
		return e.Broken("migration %s of %s began to run at revision %d, and the older %s had not", m.Name, m.Of.Name, m.Started.Revision, o.Name).
			Shown(o.Created.Seq, m.Created.Seq, m.Started.Seq)
	case younger > sameAge:
		return e.Met("ordered")
	}
	return e.Excused("the other one may be of the same age, in whole seconds")
}
