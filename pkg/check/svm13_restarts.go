package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm13: API servers that go and come back one after the other delay a migration
// and do not fail it.
type svm13 struct {
	findings
	survived int64
}

func (c *svm13) Observe(w *World, _ *history.Event) {
	move := w.migrations.moved
	if move != nil && move.stuck && len(move.m.served) > 0 {
		c.stuck(w, move.m)
	}
	if move == nil || !move.ended || len(move.m.served) == 0 {
		return
	}
	m := move.m
	switch {
	case m.outcome == history.MigrationFailed && m.started.was() && m.held():
		c.infer(w, at(m.started.seq, m.ended.seq), "migration %s failed (%s) after API servers had been restarted, with the servers in agreement", m.name, reasonOf(m))
	case m.outcome == history.MigrationSucceeded && len(m.served) == len(w.order) && m.outlived(w, m.restarted):
		c.survived++
	}
}

func (c *svm13) Finish(w *World) {
	for _, m := range w.migrations.live {
		if len(m.served) > 0 && m.stuck(w) {
			c.stuck(w, m)
		}
	}
}

func (c *svm13) stuck(w *World, m *migrationSeen) {
	c.infer(w, at(m.started.seq, m.sign.seq), "migration %s has not ended after API servers had been restarted, and nothing came of it for %v or longer", m.name, healthyEnds)
}

func (c *svm13) Observations() []Observation {
	return []Observation{{What: "migrations that succeeded after the API server of every member had been restarted", Seen: c.survived, Need: needMigrations}}
}
