package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm14: of one resource one migration runs at a time, and the older one first (KEP-25,
// "Controller": one worker for each resource, in the order of creation).
var svm14 = written{
	Row: law.Row{ID: "SVM-14", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "queued", Tag: "queued"}, {Name: "ordered", Tag: "ordered"}}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		for _, m := range f.Migrations {
			if !was(m.Started) || m.Found {
				continue
			}
			queued := false
			for _, o := range m.siblings() {
				m.beginsAlone(l, o, int64(bounds.Of("sameAge")))
				queued = queued || o.lived(m.Created.Revision)
			}
			if queued && was(m.Ended) {
				l.Met(m.Name, f.When(m.Ended), "queued")
			}
		}
	},
}

// beginsAlone judges the start of a migration against another one of its resource.
func (m *Migration) beginsAlone(l *law.Ledger, o *Migration, sameAge int64) {
	f, at := m.facts, m.facts.When(m.Started)
	if !o.lived(m.Started.Revision) {
		return
	}
	if o.ran(m.Started.Revision) {
		l.Broken(m.Name, at, law.Evidence(o.Started.Seq, m.Started.Seq), "migration %s of %s began to run at revision %d, while %s ran", m.Name, m.Of.Name, m.Started.Revision, o.Name)
		return
	}
	older, _ := f.When(o.Created).Until(f.When(m.Created))
	younger, _ := f.When(m.Created).Until(f.When(o.Created))
	switch {
	case int64(older) > sameAge:
		l.Broken(m.Name, at, law.Evidence(o.Created.Seq, m.Created.Seq, m.Started.Seq), "migration %s of %s began to run at revision %d, and the older %s had not", m.Name, m.Of.Name, m.Started.Revision, o.Name)
	case int64(younger) > sameAge:
		l.Met(m.Name, at, "ordered")
	default:
		l.Excused(m.Name, at, "the other one may be of the same age, in whole seconds")
	}
}
