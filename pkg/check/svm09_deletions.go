package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm09: that objects go while it runs, one by one or with their namespace, does not make
// a migration fail.
type svm09 struct {
	findings
	survived, razed int64
}

func (c *svm09) Observe(w *World, _ *history.Event) {
	move := w.migrations.moved
	if move == nil || !move.ended || !move.m.started.was() || move.m.deletes == 0 {
		return
	}
	m := move.m
	switch {
	case m.outcome == history.MigrationSucceeded:
		c.survived += m.deletes - m.razed
		c.razed += m.razed
	case m.held():
		c.infer(w, at(m.started.seq, m.ended.seq), "migration %s failed (%s) after %d of its objects had been deleted by users, with the servers in agreement", m.name, reasonOf(m), m.deletes)
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

func (c *svm09) Finish(*World) {}

func (c *svm09) Observations() []Observation {
	return []Observation{
		{"objects that users deleted before a migration that succeeded came to them", c.survived, needUserDeletes},
		{"objects that went with their namespace before a migration that succeeded came to them", c.razed, needRazed},
	}
}
