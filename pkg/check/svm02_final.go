package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm02: a migration has one outcome, once, and nobody can take it back.
type svm02 struct {
	findings
	ended, outcomes, seconds int64
}

func (c *svm02) Observe(w *World, ev *history.Event) {
	if move := w.migrations.moved; move != nil && !move.gone {
		c.judge(w, ev, move)
	}
	r := ev.Request
	if r == nil || r.Class != history.ClassMigration {
		return
	}
	switch r.Invalid {
	case history.InvalidOutcome:
		if accepted(r) {
			c.violate(at(ev.Seq), "%s let the outcome of %s be taken back", ev.Member, r.Name)
		}
		if refusedFor(r) {
			c.outcomes++
		}
	case history.InvalidBoth:
		if accepted(r) {
			c.violate(at(ev.Seq), "%s gave %s a second outcome", ev.Member, r.Name)
		}
		if refusedFor(r) {
			c.seconds++
		}
	}
}

func (c *svm02) judge(w *World, ev *history.Event, move *migrationMove) {
	m := move.m
	if isTrue(m.now, history.MigrationSucceeded) && isTrue(m.now, history.MigrationFailed) {
		c.violate(at(ev.Seq), "migration %s has both succeeded and failed at revision %d", m.name, ev.Stored.Revision)
	}
	if move.ended {
		c.ended++
	}
	for _, kind := range []string{history.MigrationSucceeded, history.MigrationFailed} {
		if isTrue(move.before, kind) && !isTrue(m.now, kind) {
			c.infer(w, at(m.ended.seq, ev.Seq), "migration %s had %s, and does not any more at revision %d", m.name, kind, ev.Stored.Revision)
		}
	}
}

func (c *svm02) Finish(*World) {}

func (c *svm02) Observations() []Observation {
	return []Observation{
		{What: "migrations that ended", Seen: c.ended, Need: needMigrations},
		{What: "attempts to take an outcome back refused", Seen: c.outcomes, Need: needRefusals},
		{What: "second outcomes refused", Seen: c.seconds, Need: needRefusals},
	}
}
