package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm16: very many objects are migrated to the end, while members are upgraded, the
// controller that migrates is killed again and again and one member is rolled back half
// way; then none of them is lost, altered or stored in an old version (KEP-25, "Goals"). A
// migration that stops because the agreement is lost may leave the rest to the next one.
var svm16 = written{
	Row: law.Row{ID: "SVM-16", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "before", Tag: "before"}, {Name: "rewritten", Tag: "rewritten"}, {Name: "after", Tag: "after"}, {Name: "upgraded", Tag: "upgraded"},
		{Name: "killedEarly", Tag: "early"}, {Name: "killedHalf", Tag: "half"}, {Name: "killedLate", Tag: "late"}, {Name: "servers", Tag: "servers"}, {Name: "halfway", Tag: "halfway"},
	}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		f.unshown(l)
		var largest passage
		for _, r := range f.resources() {
			f.touches(r, func(t *Touch) {
				if t.again() || t.byMigrator() && (t.converts() || t.content != "") {
					f.alters(l, t, "while migration "+t.During.Name+" ran")
				}
			})
			f.noneLost(l, r, int64(bounds.Of("requestsTake")))
			if p := f.passageOf(r, bounds.Number("nearly")); p.after > largest.after || p.after == largest.after && p.before > largest.before {
				largest = p
			}
		}
		for _, m := range f.Migrations {
			m.comesToTheEnd(l)
		}
		largest.enter(l, bounds)
	},
}

// comesToTheEnd judges how a migration ended.
func (m *Migration) comesToTheEnd(l *law.Ledger) {
	f, at := m.facts, m.facts.When(m.Created)
	switch {
	case m.Succeeded():
		if f.agreement(m.Of, m.Ended.Revision).Version == "" {
			l.Excused(m.Name, at, "it succeeded without an agreement, so that the next one has to show that all is migrated")
			return
		}
		compared, left := m.left(func(*Change) bool { return true })
		if len(left) > 0 {
			l.Broken(m.Name, f.When(m.Ended), evidenceOf(m.Ended.Seq, left), "migration %s succeeded at revision %d with %d objects stored as %s, and %d that are not", m.Name, m.Ended.Revision, compared, m.finished(), len(left))
		} else {
			l.Met(m.Name, at)
		}
	case m.Failed() && m.held():
		l.Broken(m.Name, f.When(m.Ended), law.Evidence(m.Started.Seq, m.Ended.Seq), "migration %s failed (%s), with %s", m.Name, m.reason(), m.standing())
	case m.Failed():
		l.Excused(m.Name, at, "it lost its agreement, or its resource is not stored")
	case was(m.Started) && m.held():
		m.unended(l, at, "")
	}
}

// noneLost judges what went since the first migration of a resource began.
func (f *Facts) noneLost(l *law.Ledger, r Resource, requestsTake int64) {
	first := f.firstBegun(r)
	if first == nil {
		return
	}
	f.unasked(r, func(c *Change) {
		at := f.when(c)
		switch {
		case c.Revision < first.Started.Revision:
		case f.Now-at.Latest <= requestsTake:
			l.Open(c.Object.Name, at, "it was deleted shortly before the end, and the request may not have been answered")
		default:
			l.Broken(c.Object.Name, at, law.Evidence(c.Before().Seq, c.Seq), "%s %s went after migration %s had begun, and no client had asked for that", r.Name, c.Object.Name, first.Name)
		}
	})
}
