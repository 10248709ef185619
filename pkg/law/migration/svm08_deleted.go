package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm08: an object that was deleted stays deleted, unless a user creates it again (KEP-25,
// "Migrator"). The tag tells: a new object of the harness has one that was never there.
// Objects put it to the test that the migration had still to rewrite, if it succeeded: a
// controller that has rewritten an object, or never comes to it, does not write it again.
var svm08 = written{
	Row: law.Row{ID: "SVM-08", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "deleted", Tag: "deleted"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, r := range f.resources() {
			f.touches(r, func(t *Touch) {
				if before := t.lastBefore(); t.New && before != nil && before.Metadata != 0 && (!t.tagged() || t.Again) {
					l.Broken(t.Object.Name, f.when(t.Change), law.Evidence(t.Before.Seq, t.Seq), "%s %s was deleted after revision %d, and at revision %d it was back without a user having created it",
						r.Name, t.Object.Name, before.Revision, t.Revision)
				}
			})
		}
		for _, m := range f.Migrations {
			for _, c := range m.deleted() {
				at := f.when(c)
				switch {
				case m.Succeeded():
					l.Met(c.Object.Name, at, "deleted")
				case was(m.end()):
					l.Excused(c.Object.Name, at, "the migration that had still to rewrite it did not succeed")
				default:
					l.Open(c.Object.Name, at, "migration %s has not ended since %s was deleted", m.Name, c.Object.Name)
				}
			}
		}
	},
}

// lastBefore is the object that was deleted before a new one; nil if there was none.
func (t *Touch) lastBefore() *Change {
	if t.Before == nil || !t.Before.Gone {
		return nil
	}
	return t.Before.Before()
}

// deleted are the objects of the harness that were deleted while it ran and while it had
// still to rewrite them.
func (m *Migration) deleted() []*Change {
	var out []*Change
	m.facts.touches(m.Of, func(t *Touch) {
		if t.Gone && t.During == m && t.Before.Metadata != 0 && m.ahead(t) {
			out = append(out, t.Change)
		}
	})
	return out
}
