package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm03: the checkpoint is recorded once, and names a revision of the time since
// the migration was created.
type svm03 struct {
	findings
	recorded, refusals int64
}

func (c *svm03) Observe(w *World, ev *history.Event) {
	if move := w.migrations.moved; move != nil && !move.gone {
		c.judge(w, ev, move)
	}
	if r := ev.Request; r != nil && r.Class == history.ClassMigration && r.Invalid == history.InvalidCheckpoint {
		if accepted(r) {
			c.violate(at(ev.Seq), "%s let the checkpoint of %s be changed", ev.Member, r.Name)
		}
		if refusedFor(r) {
			c.refusals++
		}
	}
}

func (c *svm03) judge(w *World, ev *history.Event, move *migrationMove) {
	m, before := move.m, ""
	// That of what is nowhere, or never stored, should not have succeeded: SVM-18, SVM-19.
	if move.ended && m.outcome == history.MigrationSucceeded && m.now.Checkpoint == "" && !w.unknown(m.gr) && !w.unstored(m.gr) {
		c.infer(w, at(m.created.seq, ev.Seq), "migration %s succeeded at revision %d, and no checkpoint of it was recorded", m.name, ev.Stored.Revision)
	}
	if move.before != nil {
		before = move.before.Checkpoint
	}
	switch now := m.now.Checkpoint; {
	case before != "" && now != before:
		c.infer(w, at(m.created.seq, ev.Seq), "the checkpoint of migration %s was %s and is %q at revision %d", m.name, before, now, ev.Stored.Revision)
	case before == "" && now != "" && !move.created:
		c.recorded++
		if at := checkpointOf(m.now); at < m.created.revision || at > ev.Stored.Revision {
			c.infer(w, []int64{m.created.seq, ev.Seq}, "migration %s was created at revision %d, and at revision %d its checkpoint was recorded as %s", m.name, m.created.revision, ev.Stored.Revision, now)
		}
	}
}

func (c *svm03) Finish(*World) {}

func (c *svm03) Observations() []Observation {
	return []Observation{
		{What: "checkpoints recorded", Seen: c.recorded, Need: needMigrations},
		{What: "changes of a checkpoint refused", Seen: c.refusals, Need: needRefusals},
	}
}
