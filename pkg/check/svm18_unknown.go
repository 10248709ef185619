package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm18: the migration of a resource that nobody hosts fails within a bound, and
// says why.
type svm18 struct {
	findings
	failed int64
}

func (c *svm18) Observe(w *World, _ *history.Event) {
	move := w.migrations.moved
	if move != nil && move.gone && !move.m.ended.was() {
		c.open(w, move.m)
	}
	if move == nil || !move.ended || !w.unknown(move.m.gr) {
		return
	}
	m := move.m
	since := w.unknownSince(m)
	took := time.Duration(m.ended.at - since)
	reason := conditionOf(m.now, m.outcome)
	switch {
	case m.outcome == history.MigrationSucceeded && since > m.created.at: // it had something to migrate
	case m.outcome == history.MigrationSucceeded:
		c.infer(w, at(m.created.seq, m.ended.seq), "migration %s succeeded, and no server hosts %s.%s", m.name, m.gr.resource, m.gr.group)
	case w.managers.hadTime(w.aways, w.Now, since, int64(hopelessEnds)):
		c.infer(w, at(m.created.seq, m.ended.seq), "migration %s of %s.%s, which no server hosts, took %v to fail", m.name, m.gr.resource, m.gr.group, took.Round(time.Second))
	case reason.Reason == "" || reason.Message == "":
		c.infer(w, at(m.ended.seq), "migration %s failed without a reason or a message", m.name)
	case took-w.aways.between(since, m.ended.at) > hopelessEnds: // nobody could do it sooner, which proves nothing
	case !m.seen, since > m.created.at: // nobody knows how long it took, or it may have failed for something else
	default:
		c.failed++
	}
}

// unknownSince is since when a migration has been there whose resource is unknown, and
// that not because its definition has yet to come.
func (w *World) unknownSince(m *migrationSeen) int64 {
	return max(m.created.at, w.migrations.undefined[m.gr].at)
}

// unknown is whether it is known of each member that it does not host a resource,
// and nothing defines it.
func (w *World) unknown(gr groupResource) bool {
	for _, member := range w.order {
		srv := w.servers[member]
		if srv.hostedBy == nil {
			return false
		}
		if _, listed := srv.listed[gr]; listed {
			return false
		}
	}
	return w.migrations.custom[gr] == nil && !w.resources.written[gr]
}

func (c *svm18) Finish(w *World) {
	for _, m := range w.migrations.live {
		c.open(w, m)
	}
}

func (c *svm18) open(w *World, m *migrationSeen) {
	if w.unknown(m.gr) && w.managers.hadTime(w.aways, w.Now, w.unknownSince(m), int64(hopelessEnds)) {
		c.infer(w, at(m.created.seq), "migration %s of %s.%s, which no server hosts, has not failed for %v", m.name, m.gr.resource, m.gr.group, hopelessEnds)
	}
}

func (c *svm18) Observations() []Observation {
	return []Observation{{What: "migrations of unknown resources that failed with a reason", Seen: c.failed, Need: needMigrations}}
}
