package migration

import (
	"cmp"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// svm19: the migration of what is hosted and not stored, so that there is nothing to
// migrate, ends as failed; and no migration stays open for ever (KEP-4192, the resource
// version controller).
var svm19 = law.Together[*Facts]{
	Row:   law.Row{ID: "SVM-19", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{{Name: "failed", Tag: "failed"}}},
	Parts: append(fails((*Migration).unstored, "which is never stored"), staysOpen),
}

// unstored is whether its resource is hosted and never stored.
func (m *Migration) unstored() bool { return m.facts.unstored(m.Of, m.asked()) }

// staysOpen has migrations begin, and go on to their end. They may have to wait for an
// agreement, for others, and for a controller.
var staysOpen = deadline{
	BoundOf: func(m *Migration, _ fact.Moment) time.Duration {
		return requirement.MustBound("SVM-19", "open") + m.again(m.lastBegan())
	},
	// SVM-18 judges those of unknown resources, with a bound of its own.
	Over: func(f *Facts) []*Migration {
		return f.migrations(func(m *Migration) bool { return !m.unstored() && !m.unknown() })
	},
	Describe: (*Migration).name,
	Begin:    func(m *Migration) []fact.Moment { return m.facts.moments(m.lastBegan()) },
	Running:  func(m *Migration) fact.Signal { return fact.And(m.clock(), m.free()) },
	Done:     func(m *Migration) []fact.Moment { return m.facts.moments(m.end()) },
	Breach: func(m *Migration, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		if was(m.Started) {
			return fmt.Sprintf("migration %s has run for %v and not ended, with %s", m.Name, rounded(took), m.standing())
		}
		return fmt.Sprintf("migration %s has not begun for %v, with %s", m.Name, rounded(took), m.standing())
	},
}

// lastBegan is when it came to where it is: it was created, it began, it rewrote an object
// last, or it ended.
func (m *Migration) lastBegan() fact.Stamp {
	switch all := m.rewritten(); {
	case was(m.Ended):
		return m.Ended
	case !was(m.Started):
		return m.Created
	case len(all) > 0:
		return all[len(all)-1].Stamp
	}
	return m.Started
}

// free is while nothing but a controller keeps it from going on. Without the agreement that
// it began with it has to stop, which SVM-21 judges.
func (m *Migration) free() fact.Signal {
	if !was(m.Started) {
		return m.turn()
	}
	target := m.target().Version
	return m.facts.agreedWhere(m.Of, func(a Agreement) bool { return !a.disputed() && (target == "" || cmp.Or(a.Version, target) == target) })
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
	agreeing := f.agreedWhere(m.Of, func(a Agreement) bool { return !a.disputed() })
	return fact.And(m.Pending(), agreeing, fact.Not(fact.Or(keep...)))
}
