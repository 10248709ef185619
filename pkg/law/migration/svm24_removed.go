package migration

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm24: a migration that is deleted while it runs stops, and the next one of its resource
// begins; where definitions of custom resources say that these are being migrated, they do
// not say so any longer (KEP-4192, "Controller"), nor when it has ended, nor does the migration
// itself then say that it runs (KEP-25, "Alpha workflow"). What the next one does cannot be told
// from what the deleted one would go on to do, so one deletion of each kind is needed.
var svm24 = together{
	Row: law.Row{ID: "SVM-24", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "deleted", Tag: "deleted"}, {Name: "stopped", Tag: "stopped"}, {Name: "freed", Tag: "freed"}, {Name: "unmarked", Tag: "unmarked"},
	}},
	Parts: parts{writesNoMore, each[*Migration]{Over: deletedRunning, End: (*Migration).leavesTheRest}, freesTheQueue, unmarks, ceasesToRun},
}

// deletedOpen are those that were deleted before they ended, whether or not they had said that they
// run: a controller may have been about to.
var deletedOpen = those(func(m *Migration) bool { return was(m.Gone) && !was(m.Ended) })

var deletedRunning = those(func(m *Migration) bool { return was(m.Started) && was(m.Gone) && !was(m.Ended) })

// writesNoMore judges what is rewritten after the deletion and before the next one begins.
var writesNoMore = written{Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
	for _, m := range deletedOpen(f) {
		for t := range f.touches(m.Of) {
			// It may as well be of one that was deleted later.
			later := slices.ContainsFunc(deletedOpen(f), func(o *Migration) bool {
				return o.Of == m.Of && o.Gone.Revision > m.Gone.Revision && o.Gone.Revision < t.Revision
			})
			if t.During == nil && t.rewrites() && t.Revision > m.Gone.Revision && t.Revision < m.nextBegan() && !later {
				l.Add(t.tooLate(f.When(m.Gone), bounds.Of("stopsWithin"), "migration "+m.Name+" was deleted"))
			}
		}
	}
}}

// leavesTheRest: that it stopped shows where objects were left in an old version, under a
// controller that could have gone on.
func (m *Migration) leavesTheRest(bounds law.Bounds) law.Entry {
	e, watched := law.Of(m.Name, m.When(m.Gone)).Met("deleted"), m.Over()
	if next := m.next(); next != nil && was(next.Started) {
		watched = m.When(next.Started)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(m.definitions)), func(d *definitions) bool { return slices.ContainsFunc(d.All(), marks) }) {
		e = e.Met("unmarked") // a control plane whose definitions never say so has nothing to take back
	}
	target, stored := m.target().Version, m.storedAt(m.Of, m.nextBegan()-1)
	least, _ := e.Began.Until(watched)
	if target != "" && stored.total > stored.in[target] && least > bounds.Of("stopsWithin")+bounds.Of("watchedFor") && m.ManagerAble().During(e.Began) == fact.Yes {
		return e.Met("stopped")
	}
	return e
}

// freesTheQueue has the next one of the resource begin. Only one that waited for the deleted
// one shows that it was given the turn; but none may be kept from it.
var freesTheQueue = law.Deadline[*Facts, turn]{
	Bound:    "beginsWithin",
	Over:     turns,
	Describe: func(n turn) law.Entry { return n.Migration.Entry() },
	Begin:    law.Once(func(n turn) fact.Moment { return n.When(n.after.Gone) }),
	Running:  func(n turn) fact.Signal { return fact.And(n.clock(), n.turn()) },
	Done:     func(n turn) []fact.Moment { return n.Moments(cmp.Or(n.Started, n.Ended)) },
	Void: func(n turn) []law.Void {
		return law.Voids("it was deleted before the bound was over", n.Moments(n.Gone)...)
	},
	Breach: func(n turn, began fact.Moment, done *fact.Moment, took time.Duration) string {
		if done == nil {
			return fmt.Sprintf("migration %s has not begun for %v after %s was deleted", n.Name, rounded(took), n.after.Name)
		}
		elapsed, _ := began.Until(*done)
		return fmt.Sprintf("migration %s began only %v after %s was deleted", n.Name, rounded(elapsed), n.after.Name)
	},
	Tag: func(n turn, began, done fact.Moment) []string {
		return inTime("freed", "SVM-24", "beginsWithin", func(m *Migration) bool {
			return was(m.Started) && m.Created.Revision < n.after.Gone.Revision
		})(n.Migration, began, done)
	},
}

// turn is that of a migration after another one of its resource was deleted.
type turn struct {
	*Migration
	after *Migration
}

// turns are those of the oldest migrations that had not begun when one was deleted that ran: of
// several if users deleted them before they began.
func turns(f *Facts) (out []turn) {
	for _, m := range deletedRunning(f) {
		for _, o := range m.siblings() {
			if was(o.Started) && o.Started.Revision < m.Gone.Revision || o.end().Revision < m.Gone.Revision {
				continue
			}
			out = append(out, turn{o, m})
			if was(o.Started) || !was(o.Gone) {
				break
			}
		}
	}
	return out
}

// next is the oldest migration of the resource that had not begun when it ended or was deleted,
// and began since or waits; nil if there is none.
func (m *Migration) next() *Migration {
	i := slices.IndexFunc(m.Migrations, func(o *Migration) bool {
		return o != m && o.Of == m.Of && (was(o.Started) && o.Started.Revision > m.end().Revision || !was(o.Started) && o.goesOn())
	})
	if i < 0 {
		return nil
	}
	return m.Migrations[i]
}

// nextBegan is the revision at which that one began.
func (m *Migration) nextBegan() int64 {
	if next := m.next(); next != nil && was(next.Started) {
		return next.Started.Revision
	}
	return fact.Forever
}
