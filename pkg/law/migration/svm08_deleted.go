package migration

import (
	"cmp"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm08: an object that was deleted stays deleted, unless a user creates it again (KEP-25,
// "Migrator"). The tag tells: a new object of the harness has one that was never there.
// Objects put it to the test that the migration had still to rewrite, if it succeeded: a
// controller that has rewritten an object, or never comes to it, does not write it again.
var svm08 = together{
	Row:   law.Row{ID: "SVM-08", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "deleted", Tag: "deleted"}}},
	Parts: parts{comesNotBack, each[deletion]{Over: deletionsAhead, End: deletion.staysDeleted}},
}

var comesNotBack = written{Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
	for t := range f.allTouches() {
		if before := t.lastBefore(); t.New && before != nil && before.Metadata != 0 && (!t.tagged() || t.Again) {
			l.Add(law.Of(t.Object.Name, f.when(t.Change)).Shown(t.Before.Seq, t.Seq).Broken("%s %s was deleted after revision %d, and at revision %d it was back without a user having created it",
				t.Object.in.of.Name, t.Object.Name, before.Revision, t.Revision))
		}
	}
}}

// lastBefore is the object that was deleted before a new one; nil if there was none.
func (t *Touch) lastBefore() *Change {
	if t.Before == nil || !t.Before.Gone {
		return nil
	}
	return t.Before.Before()
}

// deletion is one of an object that a migration had still to rewrite.
type deletion struct {
	*Change
	under *Migration
}

func deletionsAhead(f *Facts) []deletion {
	var out []deletion
	for _, m := range f.Migrations {
		out = append(out, fact.Each(m.deletedAhead(), func(c *Change) deletion { return deletion{c, m} })...)
	}
	return out
}

func (d deletion) staysDeleted(law.Bounds) law.Entry {
	e := law.Of(d.Object.Name, d.under.when(d.Change))
	switch m := d.under; {
	case m.Succeeded():
		return e.Met("deleted")
	case was(m.end()):
		return e.Excused("the migration that had still to rewrite it did not succeed")
	default:
		return e.Open("migration %s has not ended since %s was deleted", m.Name, d.Object.Name)
	}
}

// deletedAhead are the objects of before its start that users deleted while it ran and
// while it had still to rewrite them.
func (m *Migration) deletedAhead() []*Change {
	var out []*Change
	for t := range m.touches(m.Of) {
		during := t.During == m || m.failedBeforeStart() && m.lived(t.Revision)
		if t.Gone && during && t.Before.created < m.begun().Revision && m.ahead(t) {
			out = append(out, t.Change)
		}
	}
	return out
}

// ahead is whether the migration has still to rewrite what was there before a change, as
// far as is known: one that began without an agreement goes by that of now.
func (m *Migration) ahead(t *Touch) bool {
	target, now := m.target(), m.agreement(m.Of, t.Revision).Is.Version
	if target.Untold && now == "" {
		return t.rewrote != m
	}
	version := cmp.Or(target.Version, now)
	return version != "" && t.Before.Version() != version
}
