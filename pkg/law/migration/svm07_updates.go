package migration

import (
	"cmp"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm07: an update by a user is not undone by a migration that had read the object before
// (KEP-25, "Migrator": it writes with the resource version that it read). Each write of the
// harness leaves its tag in the object, so that an earlier tag that comes back is a later
// write that was lost. One that is on its way when the migration ends may come after it.
var svm07 = written{
	Row: law.Row{ID: "SVM-07", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{{Name: "updates"}, {Name: "ahead", Tag: "ahead"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		f.untoldWrites(l)
		updates, ahead := map[*Migration]int64{}, map[*Migration]int64{}
		for t := range f.allTouches() {
			switch {
			case t.Gone || t.New || !t.tagged():
			case t.Again && f.begunBy(t.Object.in.of, t.Revision):
				last := t.lastTagged()
				l.Add(law.Of(t.Object.Name, f.when(t.Change)).Shown(t.Before.Seq, t.Seq).Broken("%s %s had write %d of %s at revision %d, and at revision %d write %d of %s is back; a migration had begun",
					t.Object.in.of.Name, t.Object.Name, last.number, last.member, t.Before.Revision, t.Revision, t.By.number, t.By.member))
			case t.During != nil && t.isAhead():
				ahead[t.During]++
			case t.During != nil:
				updates[t.During]++
			}
		}
		for _, m := range f.Migrations {
			l.Add(tally(m.Entry(), updates[m]), tally(m.Entry(), ahead[m], "ahead"))
		}
	},
}

// isAhead is whether an update is of an object that the migration had not come to: what a
// server writes back in the old version it had.
func (t *Touch) isAhead() bool {
	m := t.During
	return t.converts() && t.Before.Version() != cmp.Or(m.target().Version, m.agreement(m.Of, t.Revision).Is.Version)
}

// lastTagged is the tagged write that was applied to an object last before a change.
func (t *Touch) lastTagged() writeID {
	for c := t.Before; c != nil; c = c.Before() {
		if c.tagged() {
			return c.By
		}
	}
	return writeID{}
}

// begunBy is whether a migration of a resource had begun by a revision.
func (f *Facts) begunBy(r Resource, revision int64) bool {
	return len(fact.Where(f.begunOf(r), func(m *Migration) bool { return m.Started.Revision <= revision })) > 0
}
