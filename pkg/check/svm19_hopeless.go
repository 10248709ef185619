package check

import (
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
	if move == nil || !move.ended || !w.unstored(move.m.gr) {
		return
	}
	m := move.m
	switch took := time.Duration(m.ended.at - m.created.at); {
	case m.outcome == history.MigrationSucceeded:
		c.infer(w, at(m.created.seq, m.ended.seq), "migration %s succeeded, and %s.%s is never stored", m.name, m.gr.resource, m.gr.group)
	case took > hopelessEnds:
		c.infer(w, at(m.created.seq, m.ended.seq), "migration %s of %s.%s, which is never stored, took %v to fail", m.name, m.gr.resource, m.gr.group, took.Round(time.Second))
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
		if w.unstored(m.gr) && w.Now-m.created.at > int64(hopelessEnds) {
			c.infer(w, at(m.created.seq), "migration %s of %s.%s, which is never stored, has not failed for %v", m.name, m.gr.resource, m.gr.group, hopelessEnds)
		}
		if m.running() && m.held() && w.Now-m.started.at > int64(foreverOpen) {
			c.infer(w, at(m.started.seq), "migration %s has run for %v and not ended", m.name, foreverOpen)
		}
	}
}

func (c *svm19) Observations() []Observation {
	return []Observation{{"migrations of what is never stored that failed", c.failed, needMigrations}}
}
