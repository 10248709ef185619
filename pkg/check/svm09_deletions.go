package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm09: that objects go while it runs, one by one or with their namespace, does not make
// a migration fail.
type svm09 struct {
	findings
	survived, razed int64
	// standing are the objects that survived count, by their namespace: it goes after
	// what was in it, and maybe after the migration's end.
	standing map[string]int64
}

func newSVM09() *svm09 { return &svm09{standing: map[string]int64{}} }

func (c *svm09) Observe(w *World, _ *history.Event) {
	if gone := w.migrations.razed; gone != "" {
		c.survived -= c.standing[gone]
		c.razed += c.standing[gone]
		delete(c.standing, gone)
	}
	move := w.migrations.moved
	if move != nil && move.stuck {
		c.stuck(w, move.m)
	}
	if move == nil || !move.ended || !move.m.started.was() || move.m.deletes+move.m.vague == 0 {
		return
	}
	m := move.m
	switch {
	case m.outcome == history.MigrationSucceeded:
		c.survived += m.deletes - m.razed
		c.razed += m.razed
		for namespace, deletes := range m.deletesIn {
			c.standing[namespace] += deletes
		}
	case m.held():
		c.infer(w, at(m.started.seq, m.ended.seq), "migration %s failed (%s) after %d of its objects had been deleted by users, with %s", m.name, reasonOf(m), m.deletes+m.vague, m.standing())
	}
}

// reasonOf is what a migration that has ended says of that.
func reasonOf(m *migrationSeen) string {
	condition := conditionOf(m.now, m.outcome)
	if condition == nil {
		return "no reason"
	}
	return condition.Reason + ": " + condition.Message
}

func (c *svm09) Finish(w *World) {
	for _, m := range w.migrations.live {
		if m.stuck(w) {
			c.stuck(w, m)
		}
	}
}

func (c *svm09) stuck(w *World, m *migrationSeen) {
	if deletes := m.deletes + m.vague; deletes > 0 {
		c.infer(w, at(m.started.seq, m.sign.seq), "migration %s has not ended after %d of its objects had been deleted by users, and nothing came of it for %v or longer", m.name, deletes, healthyEnds)
	}
}

func (c *svm09) Observations() []Observation {
	return []Observation{
		{What: "objects that users deleted before a migration that succeeded came to them", Seen: c.survived, Need: needUserDeletes},
		{What: "objects that went with their namespace before a migration that succeeded came to them", Seen: c.razed, Need: needRazed},
	}
}
