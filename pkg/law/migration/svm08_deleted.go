package migration

import (
	"cmp"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm08: an object that was deleted stays deleted, unless a user creates it again (KEP-25,
// "Migrator"). The tag tells: a new object of the harness has one that was never there.
var svm08 = together{
	Row: law.Row{ID: "SVM-08", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("deleted")},
	Parts: parts{
		neverTouches(func(t *Touch, _ law.Bounds) law.Entry {
			if t.Before == nil || !t.New || t.tagged() && !t.Again {
				return law.Entry{}
			}
			if deleted := t.Before.Before(); deleted != nil && deleted.Metadata != 0 {
				return t.Entry().Broken("%s was deleted after revision %d, and at revision %d it was back without a user having created it", t, deleted.Revision, t.Revision)
			}
			return law.Entry{}
		}),
		each[*Migration]{Over: all, End: (*Migration).leavesDeleted},
	},
}

// leavesDeleted counts the objects that put it to the test: those that the migration had
// still to rewrite, if it succeeded. A controller that has rewritten an object, or never
// comes to it, does not write it again.
func (m *Migration) leavesDeleted(law.Bounds) law.Entry {
	deleted := m.deletedAhead()
	switch {
	case len(deleted) == 0:
		return law.Entry{}
	case m.Succeeded():
		return tally(m.Entry(), int64(len(deleted)), "deleted")
	case !m.goesOn():
		return m.Entry().Excused("the migration that had still to rewrite deleted objects did not succeed")
	}
	return m.Entry().Open("migration %s has not ended since %s was deleted", m.Name, deleted[0])
}

// deletedAhead are the objects of before its start that users deleted while it ran and
// while it had still to rewrite them.
func (m *Migration) deletedAhead() []*Change {
	var out []*Change
	rewrote := map[*Object]bool{}
	for t := range m.touches(m.Of) {
		during := t.During == m || m.failedBeforeStart() && m.lived(t.Revision)
		if t.Gone && during && t.Before.created < m.begun().Revision && m.ahead(t, rewrote[t.Object]) {
			out = append(out, t.Change)
		}
		if delete(rewrote, t.Object); t.During == m && t.rewrites() {
			rewrote[t.Object] = true
		}
	}
	return out
}

// ahead is whether the migration has still to rewrite what was there before a change, as
// far as is known: one that began without an agreement goes by that of now.
func (m *Migration) ahead(t *Touch, rewrote bool) bool {
	target, now := m.target(), m.agreement(m.Of, t.Revision).Is.Version
	if target.Untold && now == "" {
		return !rewrote
	}
	version := cmp.Or(target.Version, now)
	return version != "" && t.Before.Version() != version
}
