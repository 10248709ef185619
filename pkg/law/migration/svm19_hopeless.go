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
var svm19 = together{
	Row:   law.Row{ID: "SVM-19", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{{Name: "failed", Tag: "failed"}}},
	Parts: append(fails((*Migration).unstored, "SVM-19", "which is never stored"), staysOpen),
}

// unstored is whether its resource is hosted by the API servers themselves, and none says
// that it is stored.
func (m *Migration) unstored() bool {
	said, _ := m.hosting(m.Of, m.end().Seq)
	for _, h := range said {
		if h.Persisted || h.Custom || h.Aggregated {
			return false
		}
	}
	return len(said) > 0
}

// staysOpen has migrations begin, and go on to their end. They may have to wait for an
// agreement, for others, and for a controller. SVM-18 judges those of unknown resources,
// with a bound of its own.
var staysOpen = deadline{
	BoundOf: func(m *Migration, _ fact.Moment) time.Duration {
		return requirement.MustBound("SVM-19", "open") + m.passesDone(m.lastBegan())
	},
	Over:    those(func(m *Migration) bool { return !m.unstored() && !m.unknown() }),
	Begin:   law.Once(func(m *Migration) fact.Moment { return m.When(m.lastBegan()) }),
	Running: func(m *Migration) fact.Signal { return fact.And(m.clock(), m.free()) },
	Done: func(m *Migration) []fact.Moment {
		return m.Moments(cmp.Or(m.Ended, m.Gone))
	},
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
	switch rewritten := m.rewritten(); {
	case was(m.Ended):
		return m.Ended
	case !was(m.Started):
		return m.Created
	case len(rewritten) > 0:
		return rewritten[len(rewritten)-1].Stamp
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
	return m.agreeing(m.Of, func(version string) bool { return target == "" || cmp.Or(version, target) == target })
}

// turn is while nothing but a controller keeps a migration from beginning: the servers are
// in agreement, no other migration runs, and no older one of its resource waits.
func (m *Migration) turn() fact.Signal {
	var others []fact.Signal
	older := true
	for _, o := range m.Migrations {
		switch {
		case o == m:
			older = false
		case o.Of == m.Of && older:
			others = append(others, o.Running(), o.Pending())
		default:
			others = append(others, o.Running())
		}
	}
	return fact.And(m.Pending(), m.agreeing(m.Of, func(string) bool { return true }), fact.Not(fact.Or(others...)))
}
