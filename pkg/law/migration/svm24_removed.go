package migration

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm24: a migration that is deleted while it runs stops, and the next one of its resource
// begins; where definitions of custom resources say that these are being migrated, they do
// not say so any longer (KEP-4192, "Controller"). What the next one does cannot be told
// from what the deleted one would go on to do, so one deletion of each kind is needed.
var svm24 = written{
	Row: law.Row{ID: "SVM-24", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "deleted", Tag: "deleted"}, {Name: "stopped", Tag: "stopped"}, {Name: "freed", Tag: "freed"}, {Name: "unmarked", Tag: "unmarked"},
	}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		for _, m := range f.Migrations {
			if !was(m.Started) || !was(m.Gone) || was(m.Ended) {
				continue
			}
			l.Met(m.Name, f.When(m.Gone), "deleted")
			next := m.nextOf()
			m.stopsWhenDeleted(l, bounds, next)
			m.freesTheQueue(l, bounds, next)
			m.unmarks(l, bounds, next)
		}
	},
}

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

// freesTheQueue judges when the next one of the resource began. Only one that waited for
// the deleted one shows that it was given the turn; but none may be kept from it.
func (m *Migration) freesTheQueue(l *law.Ledger, bounds law.Bounds, next *Migration) {
	if next == nil {
		return
	}
	f, gone, began := m.facts, m.facts.When(m.Gone), next.over()
	if was(next.Started) {
		began = f.When(next.Started)
	}
	least, most := f.worked(gone, began, next.turn())
	within := bounds.Of("beginsWithin")
	elapsed, _ := gone.Until(began)
	e := law.Entry{About: next.Name, Began: gone, Least: least, Most: most, Evidence: law.Evidence(m.Gone.Seq, next.Created.Seq, next.Started.Seq)}
	switch {
	case least > within && was(next.Started):
		e.Ending, e.Why = law.Late, "migration "+next.Name+" began only "+rounded(elapsed).String()+" after "+m.Name+" was deleted"
	case least > within:
		e.Ending, e.Why = law.Late, "migration "+next.Name+" has not begun for "+within.String()+" after "+m.Name+" was deleted"
	case !was(next.Started) && fact.And(next.turn(), f.able()).At(f.Now) == fact.No:
		e.Ending, e.Why = law.Excused, "the next one had to wait for something else at the end of the history"
	case !was(next.Started):
		e.Ending, e.Why = law.Open, "the history ended before the next one began"
	case most > within:
		e.Ending, e.Why = law.Unclear, "it is not certain whether the next one began in time"
	default:
		e.Ending = law.Met
		if next.Created.Revision < m.Gone.Revision && elapsed <= within {
			e.Tags = []string{"freed"}
		}
	}
	l.Add(e)
}

// unmarks judges for how long a definition goes on to say that its resource is being
// migrated, until another one begins.
func (m *Migration) unmarks(l *law.Ledger, bounds law.Bounds, next *Migration) {
	f, within, gone := m.facts, bounds.Of("unmarksWithin"), m.facts.When(m.Gone)
	until := f.Over()
	if next != nil && was(next.Started) {
		until = f.When(next.Started)
	}
	says := func(d *Definition) bool { return d != nil && d.CustomResource != nil && d.Migrating == "True" }
	at := f.definitionAt(m.Of, m.Gone.Revision)
	said, since := says(at), gone
	for i := range f.definitions[m.Of] {
		d := &f.definitions[m.Of][i]
		if d.Revision <= m.Gone.Revision || says(d) == said || f.When(d.Stamp).Earliest > until.Latest {
			continue
		}
		if said {
			m.unmarked(l, within, since, f.When(d.Stamp), at, d)
		}
		said, since, at = says(d), f.When(d.Stamp), d
	}
	switch {
	case said:
		m.unmarked(l, within, since, until, at, nil)
	case !f.marks():
		l.Met(m.Name, gone, "unmarked") // no definition of this control plane ever says so
	}
}

// marks is whether any definition ever said that its resource is being migrated.
func (f *Facts) marks() bool {
	for _, all := range f.definitions {
		for _, d := range all {
			if d.CustomResource != nil && d.Migrating == "True" {
				return true
			}
		}
	}
	return false
}

// unmarked ends an obligation to say so no longer; now is the definition that ended it,
// nil if none did.
func (m *Migration) unmarked(l *law.Ledger, within time.Duration, since, until fact.Moment, at, now *Definition) {
	f := m.facts
	least, most := f.worked(since, until)
	e := law.Entry{About: m.Of.String(), Began: since, Least: least, Most: most, Evidence: law.Evidence(m.Gone.Seq, at.Seq)}
	switch {
	case least > within:
		e.Ending, e.Why = law.Late, "the definition of "+m.Of.String()+" has said for "+within.String()+" that it is being migrated, and migration "+m.Name+" was deleted"
	case now != nil && now.CustomResource == nil:
		e.Ending, e.Why = law.Excused, "the definition was deleted"
	case now != nil && most > within:
		e.Ending, e.Why = law.Unclear, "it is not certain whether the definition ceased to say so in time"
	case now != nil:
		e.Ending, e.Tags = law.Met, []string{"unmarked"}
	case until.Seq != f.Seq:
		e.Ending, e.Why = law.Excused, "another migration of it began"
	case f.able().At(f.Now) == fact.No:
		e.Ending, e.Why = law.Excused, "no controller could change the definition at the end of the history"
	default:
		e.Ending, e.Why = law.Open, "the history ended before the bound was over"
	}
	l.Add(e)
}
