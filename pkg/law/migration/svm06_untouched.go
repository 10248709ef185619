package migration

import (
	"cmp"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm06: what is stored in the target version when a migration begins, and no other client
// changes, is not written to etcd again (KEP-25, "Goals": no needless load). What is on its
// way when a migration ends is a write of it too. A write through a member that no longer serves
// a version drops the managed fields of that version: it changes the object, and is none of these.
var svm06 = together{
	Row: law.Row{ID: "SVM-06", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "untouched"}}},
	Parts: parts{
		neverTouches(func(t *Touch, _ law.Bounds) law.Entry {
			if !t.untagged() || t.converts() || !t.sameObject() || len(t.Managed) < len(t.Before.Managed) {
				return law.Entry{}
			}
			if m := cmp.Or(t.During, t.justEnded()); m != nil && t.Version() == m.target().Version {
				return t.Entry().Broken("%s was stored as %s at revision %d, and migration %s wrote it again at revision %d",
					t, t.Version(), t.Before.Revision, m.Name, t.Revision)
			}
			return law.Entry{}
		}),
		each[*Migration]{Over: those((*Migration).Succeeded), End: (*Migration).leftAlone},
	},
}

// leftAlone counts the objects that were in the target version before and after.
func (m *Migration) leftAlone(law.Bounds) law.Entry {
	target := m.target().Version
	alone := fact.Where(m.population(m.Of).at(m.Ended.Revision), func(c *Change) bool {
		return c.Metadata != 0 && c.Version() == target && c.Revision < m.Started.Revision
	})
	return tally(m.ended(), int64(len(alone)))
}
