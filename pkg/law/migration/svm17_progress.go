package migration

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm17: the status of a migration that takes long says more on the way than that it runs
// (KEP-25, "Goals": progress). Between the end of one controller and the start of the next
// there is nothing to tell.
var svm17 = each[*Migration]{
	Row:  law.Row{ID: "SVM-17", Sources: []fact.Source{fact.Etcd}, Needs: needs("reports")},
	Over: those(func(m *Migration) bool { return was(m.Started) }),
	End: func(m *Migration, bounds law.Bounds) law.Entry {
		e, long := law.Of(m.Name, m.When(m.Started)), bounds.Of("long")
		least, most := lasted(m.led(), e.Began, m.over())
		switch reports := m.progress(); {
		case most < long:
			return law.Entry{}
		case reports > 0:
			return tally(e, reports, "reports")
		case least >= long:
			return e.Broken("migration %s ran for %v, and its status told nothing on the way", m.Name, rounded(least)).Shown(m.Started.Seq, m.over().Seq)
		}
		return e.Unclear("its status told nothing on the way, and it ran for between %v and %v", rounded(least), rounded(most))
	},
}

// led is while a controller manager that leads runs, whatever is in its way.
func (f *Facts) led() fact.Signal {
	return f.AnyMember(func(member string) fact.Signal {
		return fact.And(f.ManagerLeads(member), f.Running(member, history.ComponentControllerManager))
	})
}

// progress counts the reports while it ran that say something else than the one before, and
// more than that it runs or has ended.
func (m *Migration) progress() int64 {
	n := int64(0)
	for i, r := range m.Reports[1:] {
		before := m.Reports[i].Migration
		begins := isTrue(r.Migration, history.MigrationRunning) && !isTrue(before, history.MigrationRunning)
		if m.ran(r.Revision) && !begins && !slices.EqualFunc(before.Conditions, r.Conditions, saysSame) {
			n++
		}
	}
	return n
}

// saysSame is whether two conditions say the same, whenever that was.
func saysSame(a, b history.Condition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message
}
