package migration

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm20: a migration begins when all servers have announced one version, and for a custom
// resource the one that its definition names (KEP-2339, "Storage version migrator"). A
// controller that does not wait was put to the test as well, so breaches count for the
// needs.
var svm20 = written{
	Row: law.Row{ID: "SVM-20", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "begun", Tag: "begun", Breaches: true}, {Name: "waited", Tag: "waited", Breaches: true}}, Kinds: []string{kindDisagreed}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		slowest := bounds.Of("beginsWithin")
		for _, m := range f.Migrations {
			if m.begins() && m.target().Version != "" {
				_, took := f.worked(f.When(m.Created), f.When(m.Started), m.turn())
				slowest = max(slowest, took)
			}
		}
		for _, m := range f.Migrations {
			if m.begins() {
				m.beginsAgreed(l, slowest)
			}
			m.writesNothingYet(l)
		}
	},
}

// begins is whether its start was recorded, where anything tells what servers store.
func (m *Migration) begins() bool { return was(m.Started) && !m.Found && m.target().Told }

// beginsAgreed judges its start. One that was kept from it by want of an agreement for
// longer than any other one took shows that the controller waits.
func (m *Migration) beginsAgreed(l *law.Ledger, slowest time.Duration) {
	f, at := m.facts, m.facts.When(m.Started)
	if m.target().Version == "" {
		l.Add(law.Entry{Ending: law.Broken, About: m.Name, Began: at, Tags: []string{"begun", "waited"}, Kind: kindDisagreed, Release: f.releaseAt(m.Started.Revision, m.Started.At),
			Evidence: law.Evidence(f.agreement(m.Of, m.Started.Revision).Announced, m.Started.Seq),
			Why:      "migration " + m.Name + " of " + m.Of.Name + " began to run when the servers agreed on no version"})
		return
	}
	tags := []string{"begun"}
	disputed := f.agreedWhere(m.Of, Agreement.disputed)
	if f.agreement(m.Of, m.Created.Revision).disputed() {
		if waited, _ := f.worked(f.When(m.Created), at, disputed); waited > slowest {
			tags = append(tags, "waited")
		}
	}
	l.Add(law.Entry{Ending: law.Met, About: m.Name, Began: at, Tags: tags})
}

// writesNothingYet judges the objects that no client with a tag rewrote while it waited.
// With the servers in agreement it may be the rest of an earlier one.
func (m *Migration) writesNothingYet(l *law.Ledger) {
	f := m.facts
	f.touches(m.Of, func(t *Touch) {
		waits := m.lived(t.Revision) && (!was(m.Started) || t.Revision < m.Started.Revision)
		if t.During == nil && waits && t.untagged() && t.converts() && f.agreement(m.Of, t.Revision).disputed() {
			l.Add(law.Entry{Ending: law.Broken, About: t.Object.Name, Began: f.when(t.Change), Kind: kindDisagreed, Release: f.releaseAt(t.Revision, t.At), Evidence: law.Evidence(m.Created.Seq, t.Seq),
				Why: m.Of.Name + " " + t.Object.Name + " was rewritten as " + t.Version() + " when the servers agreed on no version and migration " + m.Name + " had not begun"})
		}
	})
}
