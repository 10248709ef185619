package migration

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// svm21: a migration whose servers do not agree any more stops, and does not succeed
// (KEP-2339, "Storage version migrator"). An agreement on the same version that is back
// before the end is for the migration to deal with: it may begin anew.
var svm21 = law.Together[*Facts]{
	Row:   law.Row{ID: "SVM-21", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "ended", Tag: "ended", Breaches: true}}, Kinds: []string{kindDisagreed}},
	Parts: parts{stopsWhenLost, endsWhenLost},
}

var stopsWhenLost = written{Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
	for _, m := range f.Migrations {
		for _, one := range m.losses() {
			m.stopsWriting(l, bounds, one)
		}
		if lost, ok := m.lost(); ok && was(m.Ended) {
			m.endsWithoutSuccess(l, lost)
		}
	}
}}

// endsWhenLost has a migration end soon enough after a loss, whatever comes of it later.
var endsWhenLost = deadline{
	Bound:    "endsWithin",
	Over:     func(f *Facts) []*Migration { return f.Migrations },
	Describe: (*Migration).name,
	Begin: func(m *Migration) []fact.Moment {
		var out []fact.Moment
		for _, one := range m.losses() {
			out = append(out, m.facts.When(one.from))
		}
		return out
	},
	Running: (*Migration).clock,
	Done:    func(m *Migration) []fact.Moment { return m.facts.moments(m.Ended) },
	Void: func(m *Migration) []law.Void {
		var out []law.Void
		for _, one := range m.losses() {
			out = append(out, m.facts.voids("the servers agreed again before the bound was over", one.back)...)
		}
		return append(out, m.facts.voids("it was deleted before the bound was over", m.Gone)...)
	},
	Breach: func(m *Migration, _ fact.Moment, _ *fact.Moment, _ time.Duration) string {
		return fmt.Sprintf("migration %s has not ended %v after it lost its agreement", m.Name, requirement.MustBound("SVM-21", "endsWithin"))
	},
	Kind:    kindDisagreed,
	Release: func(m *Migration, began fact.Moment) string { return m.facts.releaseAt(began.Revision, began.Latest) },
}

// disagreed is a breach of it.
func (m *Migration) disagreed(at fact.Moment, evidence []int64, format string, args ...any) law.Entry {
	return law.Entry{Ending: law.Broken, About: m.Name, Began: at, Kind: kindDisagreed, Release: m.facts.releaseAt(at.Revision, at.Latest), Evidence: evidence, Why: fmt.Sprintf(format, args...)}
}

// stopsWriting judges what is rewritten after a loss, by the migration that runs or by one
// that says that it has failed. A client that writes for reasons of its own changes more
// than the version.
func (m *Migration) stopsWriting(l *law.Ledger, bounds law.Bounds, lost loss) {
	f, since := m.facts, m.facts.When(lost.from)
	back := fact.Stamp{Revision: fact.Forever}
	for _, a := range f.agreementsIn(m.Of, lost.from.Revision, fact.Forever) {
		if a.Version != "" && (!was(m.Ended) || a.Revision > m.Ended.Revision || a.Version == m.target().Version) {
			back = a.Stamp
			break
		}
	}
	f.touches(m.Of, func(t *Touch) {
		if !t.untagged() || !t.converts() || t.Revision < lost.from.Revision || t.Revision > back.Revision {
			return
		}
		goesOn := m.Failed() && t.During == nil && t.Revision > m.Ended.Revision && !f.begunBetween(m.Of, m.Ended.Revision, t.Revision) &&
			t.Before.Metadata != 0 && t.Version() == m.target().Version && f.altered(t) == ""
		if t.During != m && !goesOn {
			return
		}
		switch least, most := since.Until(f.when(t.Change)); {
		case least > bounds.Of("stopsWithin"):
			l.Add(m.disagreed(f.when(t.Change), law.Evidence(lost.from.Seq, m.Ended.Seq, t.Seq), "%s %s was rewritten at revision %d, %v after migration %s had lost its agreement",
				m.Of.Name, t.Object.Name, t.Revision, rounded(least), m.Name))
		case most > bounds.Of("stopsWithin"):
			l.Unclear(t.Object.Name, f.when(t.Change), "%s %s may have been rewritten too late after migration %s had lost its agreement", m.Of.Name, t.Object.Name, m.Name)
		}
	})
}

// begunBetween is whether a migration of a resource began between two revisions.
func (f *Facts) begunBetween(r Resource, after, before int64) bool {
	for _, m := range f.Migrations {
		if m.Of == r && was(m.Started) && m.Started.Revision > after && m.Started.Revision < before {
			return true
		}
	}
	return false
}

// endsWithoutSuccess judges how it ended. One that had nothing left to migrate when it lost
// its agreement, or when it started if that came after, had looked before, and its success
// was being written.
func (m *Migration) endsWithoutSuccess(l *law.Ledger, lost loss) {
	f, at := m.facts, m.facts.When(m.Ended)
	target := m.target().Version
	if m.Failed() {
		l.Met(m.Name, at, "ended")
		return
	}
	stored := f.storedAt(m.Of, max(lost.from.Revision, m.Started.Revision))
	if stored.total == stored.in[target] && m.writing(lost.from, m.Ended) {
		l.Excused(m.Name, at, "its success was being written when the agreement was lost")
		return
	}
	e := m.disagreed(at, law.Evidence(m.Started.Seq, lost.from.Seq, m.Ended.Seq), "migration %s succeeded at revision %d, and since revision %d the servers do not agree on %s any more",
		m.Name, m.Ended.Revision, lost.from.Revision, target)
	e.Tags = []string{"ended"}
	l.Add(e)
}
