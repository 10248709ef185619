package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm24: a migration that is deleted while it runs stops, and the next one of its
// resource begins. What the next one does cannot be told from what the deleted one would
// go on to do, so one deletion of each kind is needed. Where definitions of custom
// resources say that these are being migrated, they do not say so any longer.
type svm24 struct {
	findings
	deleted, freed, stopped, unmarked int64
	// marks is whether any definition ever said that its resource is being migrated.
	marks bool
	// after is the last migration of each resource that was deleted while it ran, until
	// another begins.
	after map[groupResource]*deletedMigration
}

type deletedMigration struct {
	*migrationSeen
	// watched is whether it has been seen that it stopped.
	watched bool
	// marked is since when the definition has said that it runs, though it is gone.
	marked moment
}

func newSVM24() *svm24 { return &svm24{after: map[groupResource]*deletedMigration{}} }

func (c *svm24) Observe(w *World, ev *history.Event) {
	move := w.migrations.moved
	if move != nil && move.gone && move.m.started.was() && !move.m.ended.was() {
		c.deleted++
		gone := &deletedMigration{migrationSeen: move.m}
		if d := w.migrations.custom[move.m.gr]; d != nil && d.says() {
			gone.marked = momentOf(ev)
		}
		c.after[move.m.gr] = gone
	}
	c.mark(w, ev)
	if move != nil && move.started {
		if gone := c.after[move.m.gr]; gone != nil {
			c.follows(w, ev, gone, move.m)
		}
		delete(c.after, move.m.gr)
	}
	if t := w.migrations.touched; t != nil && t.during == nil && t.by == (writeID{}) && t.before != nil && t.now != nil && t.before.version != t.now.version {
		if gone := c.after[t.gr]; gone != nil && ev.At-gone.gone.at > int64(deletionStops+w.aways.between(gone.gone.at, ev.At)) {
			c.infer(w, at(gone.gone.seq, ev.Seq), "%s %s was rewritten at revision %d, %v after migration %s was deleted", t.gr.resource, t.now.name, t.now.revision, time.Duration(ev.At-gone.gone.at).Round(time.Second), gone.name)
		}
	}
	for gr, gone := range c.after {
		// Only what etcd tells now shows that nothing was written until now.
		if !gone.watched && ev.Stored != nil && ev.At-gone.gone.at > int64(deletionStops+deletionWatched+w.aways.between(gone.gone.at, ev.At)) {
			gone.watched = true
			// Without a target there was nothing to leave, and without the controller that
			// migrated nobody who could have gone on.
			if gone.target != "" && w.managers.able && w.managers.ableSince <= gone.gone.at && w.migrations.lyingOf(gr).left(gone.target) {
				c.stopped++
			}
		}
	}
}

// follows judges the begin of the next migration of a resource. Only one that waited for
// the deleted one shows that it was given the turn; but none may be kept from it.
func (c *svm24) follows(w *World, ev *history.Event, gone *deletedMigration, next *migrationSeen) {
	waited := time.Duration(ev.At - gone.gone.at)
	switch {
	case waited <= deletionStops:
		if next.created.at < gone.gone.at {
			c.freed++
		}
	case !w.migrations.others(next) && w.managers.hadTime(w.aways, ev.At, gone.since(next), int64(deletionStops)):
		c.infer(w, at(gone.gone.seq, ev.Seq), "migration %s began only %v after %s was deleted", next.name, waited.Round(time.Second), gone.name)
	}
}

// mark follows what definitions say of migrations that were deleted.
func (c *svm24) mark(w *World, ev *history.Event) {
	if move := w.migrations.redefined; move != nil {
		c.marks = c.marks || move.now.says()
		switch gone := c.after[move.gr]; {
		case gone == nil:
		case !move.now.says():
			if gone.marked.was() {
				c.unmarked++
			}
			gone.marked = moment{}
		case !gone.marked.was():
			gone.marked = momentOf(ev)
		}
	}
	c.overdue(w, ev.At)
}

// overdue finds definitions that go on to say that a deleted migration runs.
func (c *svm24) overdue(w *World, now int64) {
	for gr, gone := range c.after {
		d := w.migrations.custom[gr]
		if d == nil {
			gone.marked = moment{} // It says nothing any more, nor was it cleaned.
		}
		if gone.marked.was() && w.managers.hadTime(w.aways, now, gone.marked.at, int64(deletionStops)) {
			c.infer(w, at(gone.gone.seq, d.seq), "the definition of %s.%s has said for %v that it is being migrated, and migration %s was deleted", gr.resource, gr.group, deletionStops, gone.name)
			gone.marked = moment{}
		}
	}
}

// since is since when nothing has been in the way of the next migration.
func (gone *deletedMigration) since(next *migrationSeen) int64 {
	return max(gone.gone.at, next.created.at, next.since.at, next.free.at)
}

func (c *svm24) Finish(w *World) {
	c.overdue(w, w.Now)
	for _, m := range w.migrations.live {
		gone := c.after[m.gr]
		if gone == nil || m.started.was() {
			continue
		}
		if !m.disputed && w.migrations.next(m) && w.managers.hadTime(w.aways, w.Now, gone.since(m), int64(deletionStops)) {
			c.infer(w, at(gone.gone.seq, m.created.seq), "migration %s has not begun for %v after %s was deleted", m.name, deletionStops, gone.name)
		}
	}
}

func (c *svm24) Observations() []Observation {
	unmarked := int64(0)
	if c.marks {
		unmarked = needMigrations
	}
	return []Observation{
		{What: "migrations deleted while they ran", Seen: c.deleted, Need: needMigrations},
		{What: "of those, ones that left objects in an old version, which nothing else began to migrate meanwhile", Seen: c.stopped, Need: needMigrations},
		{What: "migrations that began after the one before them was deleted", Seen: c.freed, Need: needMigrations},
		{What: "definitions that ceased to say that they were being migrated, where any did", Seen: c.unmarked, Need: unmarked},
	}
}
