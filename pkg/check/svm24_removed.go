package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm24: a migration that is deleted while it runs stops, and the next one of its
// resource begins. What the next one does cannot be told from what the deleted one would
// go on to do, so one deletion of each kind is needed.
type svm24 struct {
	findings
	deleted, freed, stopped int64
	// after is the last migration of each resource that was deleted while it ran, until
	// another begins.
	after map[groupResource]*deletedMigration
}

type deletedMigration struct {
	*migrationSeen
	// watched is whether it has been seen that it stopped.
	watched bool
}

func newSVM24() *svm24 { return &svm24{after: map[groupResource]*deletedMigration{}} }

func (c *svm24) Observe(w *World, ev *history.Event) {
	move := w.migrations.moved
	if move != nil && move.gone && move.m.started.was() && !move.m.ended.was() {
		c.deleted++
		c.after[move.m.gr] = &deletedMigration{migrationSeen: move.m}
	}
	if move != nil && move.started {
		if gone := c.after[move.m.gr]; gone != nil && move.m.created.at < gone.gone.at {
			switch waited := time.Duration(ev.At - gone.gone.at); {
			case waited <= deletionStops:
				c.freed++
			case w.managers.hadTime(ev.At, gone.since(move.m), int64(deletionStops)):
				c.infer(w, at(gone.gone.seq, ev.Seq), "migration %s began only %v after %s was deleted", move.m.name, waited.Round(time.Second), gone.name)
			}
		}
		delete(c.after, move.m.gr)
	}
	if t := w.migrations.touched; t != nil && t.during == nil && t.by == (writeID{}) && t.before != nil && t.now != nil && t.before.version != t.now.version {
		if gone := c.after[t.gr]; gone != nil && ev.At-gone.gone.at > int64(deletionStops) {
			c.infer(w, at(gone.gone.seq, ev.Seq), "%s %s was rewritten at revision %d, %v after migration %s was deleted", t.gr.resource, t.now.name, t.now.revision, time.Duration(ev.At-gone.gone.at).Round(time.Second), gone.name)
		}
	}
	for gr, gone := range c.after {
		if !gone.watched && ev.At-gone.gone.at > int64(deletionStops+deletionWatched) {
			gone.watched = true
			// Without a target there was nothing to leave.
			if gone.target != "" && w.migrations.left(gr, gone.target) {
				c.stopped++
			}
		}
	}
}

// since is since when nothing has been in the way of the next migration.
func (gone *deletedMigration) since(next *migrationSeen) int64 {
	return max(gone.gone.at, next.since.at, next.free.at)
}

func (c *svm24) Finish(w *World) {
	for _, m := range w.migrations.live {
		gone := c.after[m.gr]
		if gone == nil || m.started.was() || m.created.at > gone.gone.at {
			continue
		}
		if !m.disputed && w.managers.hadTime(w.Now, gone.since(m), int64(deletionStops)) {
			c.infer(w, at(gone.gone.seq, m.created.seq), "migration %s has not begun for %v after %s was deleted", m.name, deletionStops, gone.name)
		}
	}
}

func (c *svm24) Observations() []Observation {
	return []Observation{
		{"migrations deleted while they ran", c.deleted, needMigrations},
		{"of those, ones that left objects in an old version, which nothing else began to migrate meanwhile", c.stopped, needMigrations},
		{"migrations that began after the one before them was deleted", c.freed, needMigrations},
	}
}
