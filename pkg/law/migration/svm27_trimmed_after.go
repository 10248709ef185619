package migration

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// svm27: when a migration of a custom resource has succeeded, storedVersions of its
// definition names the storage version alone within a bound (KEP-4192, "Storage version of
// custom resources"). A definition that was changed since the migration began is to be
// migrated again.
var svm27 = deadline{
	Row:      law.Row{ID: "SVM-27", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("trimmed")},
	Bound:    "trimsWithin",
	Over:     those(func(m *Migration) bool { return m.Succeeded() && m.definition(m.Of).ChangeBy(m.Ended.Revision) != nil }),
	Describe: func(m *Migration) law.Entry { return law.Entry{About: m.Of.String()} },
	Begin:    law.Once(func(m *Migration) fact.Moment { return m.When(m.Ended) }),
	Running:  (*Migration).clock,
	Done: func(m *Migration) []fact.Moment {
		return m.definedSince(func(d Definition) bool {
			return m.beganWith(d) && isTrimmed(d)
		})
	},
	Breaks: func(m *Migration, e law.Entry) law.Entry {
		if d := m.namesAgain(); d != nil {
			return e.Broken("storedVersions of %s named the storage version alone after migration %s had succeeded, and is %v again at revision %d", m.Of, m.Name, d.Is.Stored, d.Revision).
				Shown(m.Ended.Seq, d.Seq)
		}
		return e
	},
	Void: func(m *Migration) []law.Void {
		return law.Voids("the definition was changed or deleted, so that it is to be migrated again",
			m.definedSince(func(d Definition) bool { return !m.beganWith(d) })...)
	},
	Breach: func(m *Migration, _ fact.Moment, _ *fact.Moment, _ time.Duration) string {
		return fmt.Sprintf("storedVersions of %s still named an old version %v after migration %s had succeeded",
			m.Of, requirement.MustBound("SVM-27", "trimsWithin"), m.Name)
	},
	Tag: inTime("trimmed", "SVM-27", "trimsWithin", func(*Migration) bool { return true }),
}

// definedSince is when the definition has fitted since its success: at that, and at each
// change after it.
func (m *Migration) definedSince(fits func(Definition) bool) []fact.Moment {
	var out []fact.Stamp
	if fits(*m.definition(m.Of).ChangeBy(m.Ended.Revision)) {
		out = append(out, m.Ended)
	}
	after := fact.Where(m.definition(m.Of).In(m.Ended.Revision, fact.Forever), fits)
	return m.Moments(append(out, fact.Each(after, stampOf)...)...)
}

// isTrimmed is whether a definition names no version in storedVersions but the storage version.
func isTrimmed(d Definition) bool {
	return d.There && len(d.Is.Stored) == 1 && d.Is.Stored[0] == d.Is.Storage
}

// namesAgain is the first revision of the definition after its success that names another
// version again; nil if there is none, or if the definition was changed before.
func (m *Migration) namesAgain() *Definition {
	trimmed := isTrimmed(*m.definition(m.Of).ChangeBy(m.Ended.Revision))
	for _, d := range m.definition(m.Of).In(m.Ended.Revision, fact.Forever) {
		switch {
		case !m.beganWith(d):
			return nil
		case trimmed && !isTrimmed(d):
			return &d
		}
		trimmed = isTrimmed(d)
	}
	return nil
}
