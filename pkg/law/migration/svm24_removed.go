package migration

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm24: a migration that is deleted while it runs stops, and the next one of its resource
// begins; where definitions of custom resources say that these are being migrated, they do
// not say so any longer (KEP-4192, "Controller"). What the next one does cannot be told
// from what the deleted one would go on to do, so one deletion of each kind is needed.
var svm24 = together{
	Row: law.Row{ID: "SVM-24", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "deleted", Tag: "deleted"}, {Name: "stopped", Tag: "stopped"}, {Name: "freed", Tag: "freed"}, {Name: "unmarked", Tag: "unmarked"},
	}},
	Parts: parts{writesNoMore, each[*Migration]{Over: deletedRunning, End: (*Migration).stopsWhenDeleted}, freesTheQueue, unmarks},
}

var deletedRunning = those(func(m *Migration) bool { return was(m.Started) && was(m.Gone) && !was(m.Ended) })

// writesNoMore judges what is rewritten after the deletion and before the next one begins.
var writesNoMore = written{Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
	for _, m := range deletedRunning(f) {
		l.Add(m.Entry().Met("deleted"))
		for t := range f.touches(m.Of) {
			if t.During != nil || !t.untagged() || !t.converts() || t.Revision < m.Gone.Revision || t.Revision > m.nextBegan() {
				continue
			}
			e := law.Of(t.Object.Name, f.when(t.Change))
			switch least, most := f.When(m.Gone).Until(e.Began); {
			case least > bounds.Of("stopsWithin"):
				l.Add(e.Broken("%s %s was rewritten at revision %d, %v after migration %s was deleted", m.Of.Name, t.Object.Name, t.Revision, rounded(least), m.Name).Shown(m.Gone.Seq, t.Seq))
			case most > bounds.Of("stopsWithin"):
				l.Add(e.Unclear("%s %s may have been rewritten too late after migration %s was deleted", m.Of.Name, t.Object.Name, m.Name))
			}
		}
	}
}}

// stopsWhenDeleted: that it stopped shows where objects were left in an old version, under a
// controller that could have gone on.
func (m *Migration) stopsWhenDeleted(bounds law.Bounds) law.Entry {
	e, watched := law.Of(m.Name, m.When(m.Gone)), m.Over()
	if next := m.next(); next != nil && was(next.Started) {
		watched = m.When(next.Started)
	}
	target, stored := m.target().Version, m.storedAt(m.Of, min(m.nextBegan(), fact.Forever-1))
	switch least, _ := e.Began.Until(watched); {
	case target == "" || stored.total == stored.in[target]:
		return e.Excused("nothing was left that it could have gone on with")
	case least <= bounds.Of("stopsWithin")+bounds.Of("watchedFor"):
		return e.Excused("another migration began, or the history ended, before it was watched for long enough")
	case m.ManagerAble().During(e.Began) != fact.Yes:
		return e.Excused("no controller could have gone on")
	}
	return e.Met("stopped")
}

// freesTheQueue has the next one of the resource begin. Only one that waited for the deleted
// one shows that it was given the turn; but none may be kept from it.
var freesTheQueue = deadline{
	Bound:    "beginsWithin",
	Over:     func(f *Facts) []*Migration { return fact.Where(deletedRunning(f), func(m *Migration) bool { return m.next() != nil }) },
	Describe: func(m *Migration) law.Entry { return m.next().Entry() },
	Begin:    law.Once(func(m *Migration) fact.Moment { return m.When(m.Gone) }),
	Running:  func(m *Migration) fact.Signal { return fact.And(m.clock(), m.next().turn()) },
	Done:     func(m *Migration) []fact.Moment { return m.Moments(m.next().Started) },
	Breach: func(m *Migration, began fact.Moment, done *fact.Moment, took time.Duration) string {
		if done == nil {
			return fmt.Sprintf("migration %s has not begun for %v after %s was deleted", m.next().Name, rounded(took), m.Name)
		}
		elapsed, _ := began.Until(*done)
		return fmt.Sprintf("migration %s began only %v after %s was deleted", m.next().Name, rounded(elapsed), m.Name)
	},
	Tag: inTime("freed", "SVM-24", "beginsWithin", func(m *Migration) bool { return m.next().Created.Revision < m.Gone.Revision }),
}

// next is the migration of the resource that began first after its deletion; the oldest
// that waits if none did, and nil if none waits.
func (m *Migration) next() *Migration {
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

// nextBegan is the revision at which that one began.
func (m *Migration) nextBegan() int64 {
	if next := m.next(); next != nil && was(next.Started) {
		return next.Started.Revision
	}
	return fact.Forever
}

// unmarks has a definition say no longer that its resource is being migrated, until another
// one begins. A control plane whose definitions never say so has nothing to take back.
var unmarks = together{Parts: parts{
	each[*Migration]{Over: deletedRunning, End: func(m *Migration, _ law.Bounds) law.Entry {
		for _, d := range m.definitions {
			if slices.ContainsFunc(d.All(), marks) {
				return law.Entry{}
			}
		}
		return m.Entry().Met("unmarked")
	}},
	deadline{
		Bound:    "unmarksWithin",
		Over:     deletedRunning,
		Describe: func(m *Migration) law.Entry { return law.Entry{About: m.Of.String()} },
		Begin:    func(m *Migration) []fact.Moment { return m.marked(true) },
		Running:  (*Migration).clock,
		Done:     func(m *Migration) []fact.Moment { return m.marked(false) },
		Void: func(m *Migration) []law.Void {
			out := law.Voids("the definition was deleted", m.undefined(m.Of, m.Gone.Revision)...)
			if next := m.next(); next != nil {
				out = append(out, law.Voids("another migration of it began", m.Moments(next.Started)...)...)
			}
			return out
		},
		Breach: func(m *Migration, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
			return fmt.Sprintf("the definition of %s has said for %v that it is being migrated, and migration %s was deleted", m.Of, rounded(took), m.Name)
		},
		Tag: func(*Migration, fact.Moment, fact.Moment) []string { return []string{"unmarked"} },
	},
}}

// marks is whether a definition says that its resource is being migrated.
func marks(d Definition) bool { return d.There && d.Is.Migrating == "True" }

// marked is when its definition came to say, or to say no longer, that the resource is being
// migrated, since it was deleted and until another one began.
func (m *Migration) marked(says bool) []fact.Moment {
	var out []fact.Stamp
	said := false
	if d := m.definition(m.Of).At(m.Gone.Revision); d != nil && marks(*d) {
		if said = true; says {
			out = append(out, m.Gone)
		}
	}
	for _, d := range m.definition(m.Of).In(m.Gone.Revision, m.nextBegan()) {
		if marks(d) != said {
			if said = marks(d); said == says && d.There {
				out = append(out, d.Stamp)
			}
		}
	}
	return m.Moments(out...)
}
