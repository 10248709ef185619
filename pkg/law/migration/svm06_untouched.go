package migration

import (
	"cmp"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm06: what is stored in the target version when a migration begins, and no other client
// changes, is not written to etcd again (KEP-25, "Goals": no needless load).
var svm06 = written{
	Row: law.Row{ID: "SVM-06", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "untouched"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, r := range f.resources() {
			f.touches(r, func(t *Touch) {
				if !t.untagged() || t.converts() || !f.sameObject(t) {
					return
				}
				// What is on its way when a migration ends is a write of it too.
				if m := cmp.Or(t.During, f.justEnded(t)); m != nil && t.Version() == m.target().Version {
					l.Broken(t.Object.Name, f.when(t.Change), law.Evidence(t.Before.Seq, t.Seq), "%s %s was stored as %s at revision %d, and migration %s wrote it again at revision %d",
						r.Name, t.Object.Name, t.Version(), t.Before.Revision, m.Name, t.Revision)
				}
			})
		}
		for _, m := range f.Migrations {
			if !m.Succeeded() || !was(m.Started) {
				continue
			}
			alone := int64(0)
			for _, c := range f.population(m.Of).at(m.Ended.Revision) {
				if c.Metadata != 0 && c.Version() == m.target().Version && c.Revision < m.Started.Revision {
					alone++
				}
			}
			if alone > 0 {
				l.Add(law.Entry{Ending: law.Met, About: m.Name, Began: f.When(m.Ended), Times: alone})
			}
		}
	},
}
