package migration

import (
	"cmp"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm19: the migration of what is hosted and not stored, so that there is nothing to
// migrate, ends as failed; and no migration stays open for ever (KEP-4192, the resource
// version controller).
var svm19 = written{
	Row: law.Row{ID: "SVM-19", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{{Name: "failed", Tag: "failed"}}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		for _, m := range f.Migrations {
			switch {
			case f.unstored(m.Of, m.asked()):
				m.fails(l, bounds, m.Created, m.Of.String()+", which is never stored,")
			case f.unknown(m.Of, m.asked()): // SVM-18 judges it, with a bound of its own
			case was(m.Ended):
				l.Met(m.Name, f.When(m.Ended))
			case !was(m.Started):
				m.beginsInTime(l, bounds)
			default:
				m.ends(l, bounds)
			}
		}
	},
}

// beginsInTime judges a migration that has not begun. It may have to wait for an agreement, for
// others, and for a controller.
func (m *Migration) beginsInTime(l *law.Ledger, bounds law.Bounds) {
	f, began := m.facts, m.facts.When(m.Created)
	least, _ := f.worked(began, m.over(), m.turn())
	if within := bounds.Of("open"); least > within {
		l.Add(law.Entry{Ending: law.Late, About: m.Name, Began: began, Least: least, Evidence: []int64{m.Created.Seq},
			Why: "migration " + m.Name + " has not begun for " + within.String() + ", with " + m.standing()})
		return
	}
	m.stays(l, began, m.turn())
}

// stays ends the obligation of a migration that has not ended, for less than the bound.
func (m *Migration) stays(l *law.Ledger, began fact.Moment, free fact.Signal) {
	switch f := m.facts; {
	case was(m.Gone):
		l.Met(m.Name, began) // it was not open for too long, and is not open any more
	case fact.And(free, f.able()).At(f.Now) == fact.No:
		l.Excused(m.Name, began, "it had to wait at the end of the history")
	default:
		l.Open(m.Name, began, "the history ended before migration %s did", m.Name)
	}
}

// turn is while nothing but a controller keeps a migration from beginning: the servers are
// in agreement, no other migration runs, and no older one of its resource waits.
func (m *Migration) turn() fact.Signal {
	f := m.facts
	keep := []fact.Signal{}
	older := true
	for _, o := range f.Migrations {
		if o == m {
			older = false
			continue
		}
		keep = append(keep, o.Running())
		if o.Of == m.Of && older {
			keep = append(keep, o.Pending())
		}
	}
	return fact.And(m.Pending(), m.agreeing(), fact.Not(fact.Or(keep...)))
}

// agreeing is while nothing tells that the servers do not agree.
func (m *Migration) agreeing() fact.Signal {
	return m.facts.agreedWhere(m.Of, func(a Agreement) bool { return !a.disputed() })
}

// ends judges a migration that runs and has not ended, by the last object that it rewrote.
// Without the agreement that it began with it has to stop, which SVM-21 judges.
func (m *Migration) ends(l *law.Ledger, bounds law.Bounds) {
	f, target := m.facts, m.target().Version
	since := m.Started
	if all := m.rewritten(); len(all) > 0 {
		since = all[len(all)-1].Stamp
	}
	began := f.When(since)
	agreed := f.agreedWhere(m.Of, func(a Agreement) bool { return !a.disputed() && (target == "" || cmp.Or(a.Version, target) == target) })
	within := bounds.Of("open")
	allowed := within + m.again(since)
	if least, _ := f.worked(began, m.over(), agreed); least > allowed {
		l.Add(law.Entry{Ending: law.Late, About: m.Name, Began: began, Least: least, Evidence: law.Evidence(m.Started.Seq, since.Seq),
			Why: "migration " + m.Name + " has run for " + rounded(allowed).String() + " and not ended, with " + m.standing()})
		return
	}
	m.stays(l, began, agreed)
}
