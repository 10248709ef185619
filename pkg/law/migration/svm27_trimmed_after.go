package migration

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// svm27: when a migration of a custom resource has succeeded, storedVersions of its
// definition names the storage version alone within a bound (KEP-4192, "Storage version of
// custom resources"). A definition that was changed since the migration began is to be
// migrated again.
var svm27 = deadline{
	Row:   law.Row{ID: "SVM-27", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "trimmed", Tag: "trimmed"}}},
	Bound: "trimsWithin",
	Over: func(f *Facts) []*Migration {
		return f.migrations(func(m *Migration) bool { return m.Succeeded() && f.definitionAt(m.Of, m.Ended.Revision) != nil })
	},
	Describe: func(m *Migration) law.Entry { return law.Entry{About: m.Of.String()} },
	Begin:    func(m *Migration) []fact.Moment { return m.facts.moments(m.Ended) },
	Running:  (*Migration).clock,
	Done: func(m *Migration) []fact.Moment {
		return m.facts.moments(m.definedSince(func(d *Definition) bool { return m.unchanged(d) && len(d.Stored) == 1 && d.Stored[0] == d.Storage })...)
	},
	Void: func(m *Migration) []law.Void {
		return m.facts.voids("the definition was changed or deleted, so that it is to be migrated again", m.definedSince(func(d *Definition) bool { return !m.unchanged(d) })...)
	},
	Breach: func(m *Migration, _ fact.Moment, _ *fact.Moment, _ time.Duration) string {
		return fmt.Sprintf("storedVersions of %s still named an old version %v after migration %s had succeeded", m.Of, trimsWithin(), m.Name)
	},
	// Where no controller was able to trim, it does not show that one does.
	Tag: func(_ *Migration, began, done fact.Moment) []string {
		if _, most := began.Until(done); most <= trimsWithin() {
			return []string{"trimmed"}
		}
		return nil
	},
}

func trimsWithin() time.Duration { return requirement.MustBound("SVM-27", "trimsWithin") }

// definedSince is when the definition has fitted since its success: at that, and at each
// change after it.
func (m *Migration) definedSince(fits func(*Definition) bool) []fact.Stamp {
	var out []fact.Stamp
	if fits(m.facts.definitionAt(m.Of, m.Ended.Revision)) {
		out = append(out, m.Ended)
	}
	for i := range m.facts.definitions[m.Of] {
		if d := &m.facts.definitions[m.Of][i]; d.Revision > m.Ended.Revision && fits(d) {
			out = append(out, d.Stamp)
		}
	}
	return out
}

// unchanged is whether a revision of the definition exists and is as it was when the
// migration began.
func (m *Migration) unchanged(d *Definition) bool {
	return d.CustomResource != nil && m.beganWith(d)
}
