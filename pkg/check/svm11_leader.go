package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm11: the end of the controller that migrates, and a change of leader, delay a
// migration and do not fail it.
type svm11 struct {
	findings
	survived int64
}

func (c *svm11) Observe(w *World, _ *history.Event) {
	move := w.migrations.moved
	if move == nil || !move.ended || !move.m.crashed.was() {
		return
	}
	m := move.m
	switch {
	case m.outcome == history.MigrationSucceeded:
		c.survived++
	case m.held():
		c.infer(w, at(m.crashed.seq, m.ended.seq), "migration %s failed (%s) after its controller had ended, with the servers in agreement", m.name, reasonOf(m))
	}
}

func (c *svm11) Finish(w *World) {
	for _, m := range w.migrations.live {
		if m.crashed.was() && m.stuck(w) {
			c.infer(w, at(m.crashed.seq, m.sign.seq), "migration %s has not ended since its controller had, and nothing came of it for %v", m.name, healthyEnds)
		}
	}
}

func (c *svm11) Observations() []Observation {
	return []Observation{{"migrations that succeeded after the controller that led had ended", c.survived, needMigrations}}
}
