package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm11: the end of the controller that migrates, and a change of leader, delay a
// migration and do not fail it.
type svm11 struct {
	findings
	survived int64
}

func (c *svm11) stuck(w *World, m *migrationSeen) {
	if what, seq := m.lostController(); what != "" {
		c.infer(w, at(seq, m.sign.seq), "migration %s has not ended after %s, and nothing came of it for %v or longer", m.name, what, healthyEnds)
	}
}

func (c *svm11) Observe(w *World, _ *history.Event) {
	move := w.migrations.moved
	if move != nil && move.stuck {
		c.stuck(w, move.m)
	}
	if move == nil || !move.ended {
		return
	}
	m := move.m
	switch what, seq := m.lostController(); {
	case m.upset.was() && m.spurned(w):
		c.infer(w, at(m.upset.seq, m.ended.seq), "migration %s failed (%s) before it began, after its controller had ended, with the servers in agreement", m.name, reasonOf(m))
	case what == "":
	case m.outcome == history.MigrationFailed && m.held():
		c.infer(w, at(seq, m.ended.seq), "migration %s failed (%s) after %s, with the servers in agreement", m.name, reasonOf(m), what)
	case m.outcome == history.MigrationSucceeded && m.crashed.was() && (m.handed.seq > m.felled.seq || m.outlived(w, m.felled)):
		c.survived++
	}
}

func (c *svm11) Finish(w *World) {
	for _, m := range w.migrations.live {
		if m.stuck(w) {
			c.stuck(w, m)
		}
	}
}

// lostController says how a migration came to need another controller than the one that
// had begun with it, with the event; empty if it did not.
func (m *migrationSeen) lostController() (what string, seq int64) {
	switch {
	case m.crashed.was():
		return "its controller had ended", m.crashed.seq
	case m.handed.was():
		return "another controller had come to lead", m.handed.seq
	}
	return "", 0
}

func (c *svm11) Observations() []Observation {
	return []Observation{{What: "migrations that succeeded after the controller that led had ended", Seen: c.survived, Need: needMigrations}}
}
