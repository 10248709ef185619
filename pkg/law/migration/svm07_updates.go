package migration

import (
	"cmp"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm07: an update by a user is not undone by a migration that had read the object before
// (KEP-25, "Migrator": it writes with the resource version that it read). Each write of the
// harness leaves its tag in the object, so that an earlier tag that comes back is a later
// write that was lost. One that is on its way when the migration ends may come after it.
var svm07 = together{
	Row: law.Row{ID: "SVM-07", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{{Name: "updates"}, {Name: "ahead", Tag: "ahead"}}},
	Parts: parts{
		untoldWrites,
		neverTouches(func(t *Touch, _ law.Bounds) law.Entry {
			if t.Gone || t.New || !t.Again || !t.Object.in.begunBy(t.Object.in.of, t.Revision) {
				return law.Entry{}
			}
			last := t.Before
			for !last.tagged() {
				last = last.Before()
			}
			return t.Entry().Broken("%s had write %d of %s at revision %d, and at revision %d write %d of %s is back; a migration had begun",
				t, last.By.number, last.By.member, t.Before.Revision, t.Revision, t.By.number, t.By.member)
		}),
		written{Judge: countsUpdates},
	},
}

// countsUpdates counts the updates while migrations ran, and those of objects that the
// migration had not come to: what a server writes back in the old version it had.
func countsUpdates(f *Facts, l *law.Ledger, _ law.Bounds) {
	updates, ahead := map[*Migration]int64{}, map[*Migration]int64{}
	for t := range f.touches(f.resources()...) {
		m := t.During
		switch {
		case m == nil || t.Gone || t.New || !t.tagged() || t.Again:
		case t.converts() && t.Before.Version() != cmp.Or(m.target().Version, m.agreement(m.Of, t.Revision).Is.Version):
			ahead[m]++
		default:
			updates[m]++
		}
	}
	for _, m := range f.Migrations {
		l.Add(tally(m.Entry(), updates[m]), tally(m.Entry(), ahead[m], "ahead"))
	}
}

// begunBy is whether a migration of a resource had begun by a revision.
func (f *Facts) begunBy(r Resource, revision int64) bool {
	return len(fact.Where(f.begunOf(r), func(m *Migration) bool { return m.Started.Revision <= revision })) > 0
}
