package migration

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm20: a migration begins when all servers have announced one version, and for a custom
// resource the one that its definition names (KEP-2339, "Storage version migrator"). A
// controller that does not wait was put to the test as well, so breaches count for the
// needs.
var svm20 = together{
	Row: law.Row{ID: "SVM-20", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Kinds: []string{kindDisagreed}, Needs: []law.Need{
		{Name: "begun", Tag: "begun", Breaches: true}, {Name: "waited", Tag: "waited", Breaches: true},
	}},
	Parts: parts{each[*Migration]{Over: those((*Migration).begins), End: (*Migration).beginsAgreed}, writesNothingYet},
}

// begins is whether its start was recorded, where anything tells what servers store.
func (m *Migration) begins() bool { return was(m.Started) && !m.Found && m.target().Told }

// beginsAgreed judges its start. One that was kept from it by want of an agreement for
// longer than any other one took shows that the controller waits.
func (m *Migration) beginsAgreed(bounds law.Bounds) law.Entry {
	e := law.Of(m.Name, m.When(m.Started))
	if m.target().Version == "" {
		return e.Met("begun", "waited").Broken("migration %s of %s began to run when the servers agreed on no version", m.Name, m.Of.Name).
			Shown(m.agreement(m.Of, m.Started.Revision).Seq, m.Started.Seq).As(kindDisagreed, m.releaseAt(m.Started.Revision, m.Started.At))
	}
	disputed := m.agreements(m.Of).While(m.History, Agreement.disputed)
	waited, _ := lasted(fact.And(m.clock(), disputed), m.When(m.Created), e.Began)
	if m.agreement(m.Of, m.Created.Revision).Is.disputed() && waited > m.slowestBegin(bounds) {
		return e.Met("begun", "waited")
	}
	return e.Met("begun")
}

// slowestBegin is how long a migration took at most to begin when it was its turn.
func (f *Facts) slowestBegin(bounds law.Bounds) time.Duration {
	slowest := bounds.Of("beginsWithin")
	for _, m := range those((*Migration).begins)(f) {
		if m.target().Version != "" {
			_, took := lasted(fact.And(m.clock(), m.turn()), m.When(m.Created), m.When(m.Started))
			slowest = max(slowest, took)
		}
	}
	return slowest
}

// writesNothingYet judges the objects that no client with a tag rewrote while a migration
// waited. With the servers in agreement it may be the rest of an earlier one.
var writesNothingYet = neverTouches(func(t *Touch, _ law.Bounds) law.Entry {
	if t.During != nil || !t.rewrites() {
		return law.Entry{}
	}
	m := t.waits()
	if m == nil || !m.agreement(m.Of, t.Revision).Is.disputed() {
		return law.Entry{}
	}
	return t.Entry().Broken("%s was rewritten as %s when the servers agreed on no version and migration %s had not begun", t, t.Version(), m.Name).
		Shown(m.Created.Seq, t.Seq).As(kindDisagreed, m.releaseAt(t.Revision, t.At))
})
