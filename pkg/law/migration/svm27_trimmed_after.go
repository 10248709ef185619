package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm27: when a migration of a custom resource has succeeded, storedVersions of its
// definition names the storage version alone within a bound (KEP-4192, "Storage version of
// custom resources"). A definition that was changed since the migration began is to be
// migrated again.
var svm27 = written{
	Row: law.Row{ID: "SVM-27", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "trimmed", Tag: "trimmed"}}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		for _, m := range f.Migrations {
			if m.Succeeded() && f.definition(m.Of, m.Ended.Revision) != nil {
				m.trimsInTime(l, bounds)
			}
		}
	},
}

func (m *Migration) trimsInTime(l *law.Ledger, bounds law.Bounds) {
	f, began := m.facts, m.facts.When(m.Ended)
	until, evidence := f.Over(), m.Ended.Seq
	changed, trimmed := false, false
	for i := range f.definitions[m.Of] {
		d := &f.definitions[m.Of][i]
		// What holds when it succeeds is the last revision before.
		if d.Revision <= m.Ended.Revision && d != f.definitionAt(m.Of, m.Ended.Revision) {
			continue
		}
		changed = !m.unchanged(d)
		trimmed = !changed && len(d.Stored) == 1 && d.Stored[0] == d.Storage
		if changed || trimmed {
			until, evidence = f.When(d.Stamp), d.Seq
			break
		}
	}
	least, most := f.worked(began, until)
	within := bounds.Of("trimsWithin")
	e := law.Entry{About: m.Of.String(), Began: began, Least: least, Most: most, Evidence: law.Evidence(m.Ended.Seq, evidence)}
	switch {
	case least > within:
		e.Ending, e.Why = law.Late, "storedVersions of "+m.Of.String()+" still named an old version "+within.String()+" after migration "+m.Name+" had succeeded"
	case changed:
		e.Ending, e.Why = law.Excused, "the definition was changed or deleted, so that it is to be migrated again"
	case trimmed && most > within:
		e.Ending, e.Why = law.Unclear, "it is not certain whether storedVersions was trimmed in time"
	case trimmed:
		e.Ending, e.Tags = law.Met, []string{"trimmed"}
	case f.able().At(f.Now) == fact.No:
		e.Ending, e.Why = law.Excused, "no controller could trim storedVersions at the end of the history"
	default:
		e.Ending, e.Why = law.Open, "the history ended before the bound was over"
	}
	l.Add(e)
}

// unchanged is whether a revision of the definition exists and is as it was when the
// migration began.
func (m *Migration) unchanged(d *Definition) bool {
	return d.CustomResource != nil && m.beganWith(d)
}
