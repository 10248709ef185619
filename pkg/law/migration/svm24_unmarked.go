package migration

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// unmarks has a definition say no longer that its resource is being migrated when a migration has
// ended or was deleted, until another one begins.
var unmarks = deadline{
	Bound: "unmarksWithin",
	Over: those(func(m *Migration) bool {
		return was(m.Started) && !m.goesOn() && !slices.ContainsFunc(m.siblings(), func(o *Migration) bool { return o.ran(m.end().Revision) })
	}),
	Describe: func(m *Migration) law.Entry { return law.Entry{About: m.Of.String()} },
	Begin:    func(m *Migration) []fact.Moment { return m.saysMigrating(true) },
	Running:  (*Migration).clock,
	Done:     func(m *Migration) []fact.Moment { return m.saysMigrating(false) },
	Void: func(m *Migration) []law.Void {
		over := fact.Where(m.definition(m.Of).In(m.end().Revision, fact.Forever), func(d Definition) bool { return !d.There })
		stamps := fact.Each(over, stampOf)
		if next := m.next(); next != nil {
			stamps = append(stamps, next.Started)
		}
		return law.Voids("the definition was deleted, or another migration of it began", m.Moments(stamps...)...)
	},
	Breach: func(m *Migration, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		what := "was deleted"
		if was(m.Ended) {
			what = "had ended"
		}
		return fmt.Sprintf("the definition of %s has said for %v that it is being migrated, and migration %s %s", m.Of, rounded(took), m.Name, what)
	},
	Tag: func(m *Migration, _, _ fact.Moment) []string {
		if was(m.Ended) {
			return nil // it shows nothing of deletions
		}
		return []string{"unmarked"}
	},
}

// marks is whether a definition says that its resource is being migrated.
func marks(d Definition) bool { return d.There && d.Is.Migrating == "True" }

// saysMigrating is when its definition says, or does not say, that the resource is being
// migrated: when it ends or is deleted, and with each change until another one begins.
func (m *Migration) saysMigrating(says bool) []fact.Moment {
	end := m.end()
	after := m.definition(m.Of).In(end.Revision, m.nextBegan())
	if d := m.definition(m.Of).At(end.Revision); d != nil {
		now := *d
		now.Stamp = end
		after = append([]Definition{now}, after...)
	}
	fits := fact.Where(after, func(d Definition) bool { return d.There && marks(d) == says })
	return m.Moments(fact.Each(fits, stampOf)...)
}

// ceasesToRun has a migration that says that it runs when it ends say so no longer.
var ceasesToRun = deadline{
	Bound:   "unmarksWithin",
	Over:    those(func(m *Migration) bool { return was(m.Ended) && isTrue(m.atEnd(), history.MigrationRunning) }),
	Begin:   law.Once(func(m *Migration) fact.Moment { return m.When(m.Ended) }),
	Running: (*Migration).clock,
	Done: func(m *Migration) []fact.Moment {
		ceased := fact.Where(m.Reports, func(r Report) bool {
			return r.Revision > m.Ended.Revision && !isTrue(r.Migration, history.MigrationRunning)
		})
		return m.Moments(fact.Each(ceased, func(r Report) fact.Stamp { return r.Stamp })...)
	},
	Void: func(m *Migration) []law.Void {
		return law.Voids("it was deleted before the bound was over", m.Moments(m.Gone)...)
	},
	Breach: func(m *Migration, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("migration %s has said for %v that it runs, and had ended", m.Name, rounded(took))
	},
}
