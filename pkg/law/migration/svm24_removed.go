package migration

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// svm24: a migration that is deleted while it runs stops, and the next one of its resource
// begins; where definitions of custom resources say that these are being migrated, they do
// not say so any longer (KEP-4192, "Controller"). What the next one does cannot be told
// from what the deleted one would go on to do, so one deletion of each kind is needed.
var svm24 = law.Together[*Facts]{
	Row: law.Row{ID: "SVM-24", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "deleted", Tag: "deleted"}, {Name: "stopped", Tag: "stopped"}, {Name: "freed", Tag: "freed"}, {Name: "unmarked", Tag: "unmarked"},
	}},
	Parts: parts{stopsWhenDeleted, freesTheQueue, unmarks},
}

var stopsWhenDeleted = written{Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
	for _, m := range f.migrations((*Migration).deletedRunning) {
		l.Met(m.Name, f.When(m.Gone), "deleted")
		m.stopsWhenDeleted(l, bounds, m.nextOf())
		if !f.marks() {
			l.Met(m.Name, f.When(m.Gone), "unmarked") // no definition of this control plane ever says so
		}
	}
}}

// freesTheQueue has the next one of the resource begin. Only one that waited for the deleted
// one shows that it was given the turn; but none may be kept from it.
var freesTheQueue = deadline{
	Bound: "beginsWithin",
	Over: func(f *Facts) []*Migration {
		return f.migrations(func(m *Migration) bool { return m.deletedRunning() && m.nextOf() != nil })
	},
	Describe: func(m *Migration) law.Entry { return m.nextOf().name() },
	Begin:    func(m *Migration) []fact.Moment { return m.facts.moments(m.Gone) },
	Running:  func(m *Migration) fact.Signal { return fact.And(m.clock(), m.nextOf().turn()) },
	Done:     func(m *Migration) []fact.Moment { return m.facts.moments(m.nextOf().Started) },
	Breach: func(m *Migration, began fact.Moment, done *fact.Moment, took time.Duration) string {
		if done == nil {
			return fmt.Sprintf("migration %s has not begun for %v after %s was deleted", m.nextOf().Name, rounded(took), m.Name)
		}
		elapsed, _ := began.Until(*done)
		return fmt.Sprintf("migration %s began only %v after %s was deleted", m.nextOf().Name, rounded(elapsed), m.Name)
	},
	Tag: func(m *Migration, began, done fact.Moment) []string {
		if elapsed, _ := began.Until(done); m.nextOf().Created.Revision < m.Gone.Revision && elapsed <= requirement.MustBound("SVM-24", "beginsWithin") {
			return []string{"freed"}
		}
		return nil
	},
}

// unmarks has a definition say no longer that its resource is being migrated, until another
// one begins.
var unmarks = deadline{
	Bound:    "unmarksWithin",
	Over:     func(f *Facts) []*Migration { return f.migrations((*Migration).deletedRunning) },
	Describe: func(m *Migration) law.Entry { return law.Entry{About: m.Of.String()} },
	Begin:    func(m *Migration) []fact.Moment { return m.facts.moments(m.marked(true)...) },
	Running:  (*Migration).clock,
	Done:     func(m *Migration) []fact.Moment { return m.facts.moments(m.marked(false)...) },
	Void: func(m *Migration) []law.Void {
		out := m.facts.voids("the definition was deleted", m.facts.undefinedAfter(m.Of, m.Gone.Revision))
		if next := m.nextOf(); next != nil {
			out = append(out, m.facts.voids("another migration of it began", next.Started)...)
		}
		return out
	},
	Breach: func(m *Migration, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("the definition of %s has said for %v that it is being migrated, and migration %s was deleted", m.Of, rounded(took), m.Name)
	},
	Tag: func(*Migration, fact.Moment, fact.Moment) []string { return []string{"unmarked"} },
}

// deletedRunning is whether it was deleted while it ran.
func (m *Migration) deletedRunning() bool { return was(m.Started) && was(m.Gone) && !was(m.Ended) }

// nextOf is the migration of the resource that began first after its deletion; the oldest
// that waits if none did, and nil if none waits.
func (m *Migration) nextOf() *Migration {
	var began, waits *Migration
	for _, o := range m.siblings() {
		switch {
		case was(o.Started) && o.Started.Revision > m.Gone.Revision:
			if began == nil || o.Started.Revision < began.Started.Revision {
				began = o
			}
		case !was(o.Started) && !was(o.end()) && waits == nil:
			waits = o
		}
	}
	if began != nil {
		return began
	}
	return waits
}

// stopsWhenDeleted judges what is rewritten after the deletion and before the next one
// begins. That it stopped shows where objects were left in an old version, under a
// controller that could have gone on.
func (m *Migration) stopsWhenDeleted(l *law.Ledger, bounds law.Bounds, next *Migration) {
	f, gone, until := m.facts, m.facts.When(m.Gone), int64(fact.Forever)
	watched := f.Over()
	if next != nil && was(next.Started) {
		until, watched = next.Started.Revision, f.When(next.Started)
	}
	f.touches(m.Of, func(t *Touch) {
		if t.During != nil || !t.untagged() || !t.converts() || t.Revision < m.Gone.Revision || t.Revision > until {
			return
		}
		switch least, most := gone.Until(f.when(t.Change)); {
		case least > bounds.Of("stopsWithin"):
			l.Broken(t.Object.Name, f.when(t.Change), law.Evidence(m.Gone.Seq, t.Seq), "%s %s was rewritten at revision %d, %v after migration %s was deleted", m.Of.Name, t.Object.Name, t.Revision, rounded(least), m.Name)
		case most > bounds.Of("stopsWithin"):
			l.Unclear(t.Object.Name, f.when(t.Change), "%s %s may have been rewritten too late after migration %s was deleted", m.Of.Name, t.Object.Name, m.Name)
		}
	})
	target := m.target().Version
	stored := f.storedAt(m.Of, min(until, fact.Forever-1))
	switch least, _ := gone.Until(watched); {
	case target == "" || stored.total == stored.in[target]:
		l.Excused(m.Name, gone, "nothing was left that it could have gone on with")
	case least <= bounds.Of("stopsWithin")+bounds.Of("watchedFor"):
		l.Excused(m.Name, gone, "another migration began, or the history ended, before it was watched for long enough")
	case f.able().During(gone) != fact.Yes:
		l.Excused(m.Name, gone, "no controller could have gone on")
	default:
		l.Met(m.Name, gone, "stopped")
	}
}

// marked is when its definition came to say, or to say no longer, that the resource is being
// migrated, since it was deleted and until another one began.
func (m *Migration) marked(says bool) []fact.Stamp {
	var out []fact.Stamp
	said, until := false, int64(fact.Forever)
	if next := m.nextOf(); next != nil && was(next.Started) {
		until = next.Started.Revision
	}
	if m.facts.definitionAt(m.Of, m.Gone.Revision).says() {
		if said = true; says {
			out = append(out, m.Gone)
		}
	}
	for i := range m.facts.definitions[m.Of] {
		d := &m.facts.definitions[m.Of][i]
		if d.Revision <= m.Gone.Revision || d.Revision > until || d.says() == said {
			continue
		}
		if said = d.says(); said == says && d.CustomResource != nil {
			out = append(out, d.Stamp)
		}
	}
	return out
}

// says is whether a definition says that its resource is being migrated.
func (d *Definition) says() bool { return d != nil && d.CustomResource != nil && d.Migrating == "True" }

// marks is whether any definition ever said that its resource is being migrated.
func (f *Facts) marks() bool {
	for _, all := range f.definitions {
		if slices.ContainsFunc(all, func(d Definition) bool { return d.says() }) {
			return true
		}
	}
	return false
}
