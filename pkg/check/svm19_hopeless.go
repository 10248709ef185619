package check

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm19: the migration of what is hosted and not stored, so that there is nothing
// to migrate, ends as failed; and no migration stays open for ever.
type svm19 struct {
	findings
	failed int64
}

func (c *svm19) Observe(w *World, _ *history.Event) {
	move := w.migrations.moved
	if move != nil && move.gone && !move.m.ended.was() {
		c.hopeless(w, move.m)
		if move.m.started.was() {
			c.open(w, move.m)
		}
	}
	if move == nil || !move.ended || !w.unstored(move.m.gr) {
		return
	}
	m := move.m
	switch took := time.Duration(m.ended.at - m.created.at); {
	case m.outcome == history.MigrationSucceeded:
		c.infer(w, at(m.created.seq, m.ended.seq), "migration %s succeeded, and %s.%s is never stored", m.name, m.gr.resource, m.gr.group)
	case w.managers.hadTime(w.aways, w.Now, m.created.at, int64(hopelessEnds)):
		c.infer(w, at(m.created.seq, m.ended.seq), "migration %s of %s.%s, which is never stored, took %v to fail", m.name, m.gr.resource, m.gr.group, took.Round(time.Second))
	case took-w.aways.between(m.created.at, m.ended.at) > hopelessEnds: // nobody could do it sooner, which proves nothing
	case !m.seen: // nobody knows how long it took
	default:
		c.failed++
	}
}

// unstored is whether a resource is hosted by the servers themselves, and none
// says that it is stored.
func (w *World) unstored(gr groupResource) bool {
	hosted := false
	for _, member := range w.order {
		if r, ok := w.servers[member].listed[gr]; ok {
			hosted = true
			if r.Persisted || r.Custom || r.Aggregated {
				return false
			}
		}
	}
	return hosted
}

func (c *svm19) Finish(w *World) {
	for _, m := range w.migrations.live {
		c.hopeless(w, m)
		c.open(w, m)
	}
}

func (c *svm19) hopeless(w *World, m *migrationSeen) {
	if w.unstored(m.gr) && w.managers.hadTime(w.aways, w.Now, m.created.at, int64(hopelessEnds)) {
		c.infer(w, at(m.created.seq), "migration %s of %s.%s, which is never stored, has not failed for %v", m.name, m.gr.resource, m.gr.group, hopelessEnds)
	}
}

// open judges a migration that has not ended. Without an agreement it may have to wait
// or to stop, which is SVM-20's and SVM-21's; so its time begins when that was formed
// last. One that has not begun may have to wait for others, and for a controller.
func (c *svm19) open(w *World, m *migrationSeen) {
	switch {
	case m.disputed || w.unstored(m.gr):
	case !m.started.was():
		since := max(m.since.at, m.free.at)
		if w.migrations.next(m) && w.managers.hadTime(w.aways, w.Now, since, int64(foreverOpen)) {
			c.infer(w, at(m.created.seq), "migration %s has not begun for %v, with %s", m.name, foreverOpen, m.standing())
		}
	case m.target == "" || m.target == m.agreed:
		if w.managers.hadTime(w.aways, w.Now, max(m.started.at, m.since.at, m.rewrote.at), int64(foreverOpen)+m.again(w)) {
			c.infer(w, at(m.started.seq), "migration %s has run for %v and not ended, with %s", m.name, foreverOpen, m.standing())
		}
	}
}

// standing says that the servers do not keep a migration from going on.
func (m *migrationSeen) standing() string {
	if m.agreed == "" {
		return "no server having announced anything"
	}
	return "the servers in agreement on " + m.agreed
}

// next is whether nothing runs, and a migration is the oldest of its resource.
func (ms *migrations) next(m *migrationSeen) bool {
	if ms.others(m) {
		return false
	}
	// They are in the order of their age.
	i := slices.IndexFunc(ms.live, func(other *migrationSeen) bool { return other.gr == m.gr })
	return ms.live[i] == m
}

// others is whether any migration but this one runs.
func (ms *migrations) others(m *migrationSeen) bool {
	return slices.ContainsFunc(ms.live, func(other *migrationSeen) bool { return other != m && other.running() })
}

func (c *svm19) Observations() []Observation {
	return []Observation{{What: "migrations of what is never stored that failed", Seen: c.failed, Need: needMigrations}}
}
