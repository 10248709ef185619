package migration

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm17: the status of a migration that takes long says more on the way than that it runs
// (KEP-25, "Goals": progress), says so for the first time while the objects that it rewrites have
// taken no longer than the bound, and goes on to. Between the end of one controller and the start
// of the next, and while the controller gets nowhere, there is nothing to tell.
var svm17 = each[*Migration]{
	Row:  law.Row{ID: "SVM-17", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("reports")},
	Over: those(func(m *Migration) bool { return was(m.Started) }),
	End: func(m *Migration, bounds law.Bounds) law.Entry {
		e, long := law.Of(m.Name, m.When(m.Started)), bounds.Of("long")
		least, most := lasted(m.led(), e.Began, m.over())
		reports := m.progress()
		switch {
		case most < long:
			return law.Entry{}
		case len(reports) > 0:
			return m.toldAgain(m.toldFirst(e, reports, long), reports, long)
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

// toldFirst judges when it told of progress first: no longer than the bound after its start
// objects were rewritten without that.
func (m *Migration) toldFirst(e law.Entry, reports []fact.Stamp, long time.Duration) law.Entry {
	before := fact.Where(m.rewritten(), func(c *Change) bool { return c.Revision < reports[0].Revision })
	if len(before) == 0 {
		return tally(e, int64(len(reports)), "reports")
	}
	told, last, able := reports[0].Revision, m.When(before[len(before)-1].Stamp), m.clock()
	// The controller that began with it has started. One that takes over starts first.
	if !slices.ContainsFunc(m.takeovers(), func(s fact.Stamp) bool { return s.Revision < told }) {
		able = m.ManagerAble()
	}
	e.Least = time.Duration(able.Lasts(e.Began.Latest, last.Earliest, fact.Yes))
	e.Most = time.Duration(able.Lasts(e.Began.Earliest, last.Latest, fact.Yes))
	switch {
	case e.Least > long:
		e = e.Late("migration %s rewrote objects for %v, and its status told of progress only then", m.Name, rounded(e.Least)).Shown(m.Started.Seq, reports[0].Seq)
		return law.UnlessStarved(m.History, e, e.Least-long, able, e.Began.Latest, last.Earliest)
	case e.Most > long:
		return e.Unclear("its status told of progress after it had rewritten objects for between %v and %v", rounded(e.Least), rounded(e.Most))
	}
	return tally(e, int64(len(reports)), "reports")
}

// toldAgain judges a migration that told of progress in time by what it rewrote later: after a
// report that is as old as the bound, the next object shows that there is something to tell, and
// it has to be told by the time that its status takes to be written.
func (m *Migration) toldAgain(e law.Entry, reports []fact.Stamp, long time.Duration) law.Entry {
	if e.Ending != law.Met {
		return e
	}
	for i, r := range reports {
		next, told := m.end(), m.When(r)
		if i+1 < len(reports) {
			next = reports[i+1]
		}
		due := m.clock().Reaches(told.Latest, int64(long), fact.Yes)
		late := fact.Where(m.rewrittenBetween(r, next), func(c *Change) bool { return c.when().Earliest >= due })
		if len(late) == 0 {
			continue
		}
		silent, first, last := law.Of(m.Name, told), late[0].when(), late[len(late)-1].when()
		if least, most := lasted(m.clock(), first, last); least > statusWrites() {
			silent = silent.Late("migration %s rewrote objects for %v, and its status told nothing since event %d", m.Name, rounded(least), r.Seq).Shown(r.Seq, first.Seq, last.Seq)
			return law.UnlessStarved(m.History, silent, least-statusWrites(), m.clock(), first.Latest, last.Earliest)
		} else if most > statusWrites() {
			return silent.Unclear("its status told nothing since event %d, and it rewrote objects for between %v and %v", r.Seq, rounded(least), rounded(most))
		}
	}
	return e
}

// rewrittenBetween are the changes with which it stored objects in another version after one
// revision and before another one.
func (m *Migration) rewrittenBetween(from, to fact.Stamp) []*Change {
	all := m.rewritten()
	by := func(revision int64) int {
		return fact.Last(all, revision, func(c *Change) int64 { return c.Revision }) + 1
	}
	return all[by(from.Revision):by(to.Revision-1)]
}

// progress are the reports while it ran that say something else than the one before, and
// more than that it runs or has ended.
func (m *Migration) progress() []fact.Stamp {
	var out []fact.Stamp
	for i, r := range m.Reports[1:] {
		before := m.Reports[i].Migration
		begins := isTrue(r.Migration, history.MigrationRunning) && !isTrue(before, history.MigrationRunning)
		if m.ran(r.Revision) && !begins && !slices.EqualFunc(before.Conditions, r.Conditions, saysSame) {
			out = append(out, r.Stamp)
		}
	}
	return out
}

// saysSame is whether two conditions say the same, whenever that was.
func saysSame(a, b history.Condition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message
}
