package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm06: what is stored in the target version when a migration begins, and is
// changed by nobody else, is not written to etcd again.
type svm06 struct {
	findings
	left int64
}

func (c *svm06) Observe(w *World, ev *history.Event) {
	if t := w.migrations.touched; t != nil && t.byMigration() && w.managedAlike(t) && t.now.metadata != "" &&
		t.before.metadata == t.now.metadata && t.before.version == t.now.version && t.now.version == t.during.target {
		c.infer(w, at(t.before.seq, ev.Seq), "%s %s was stored as %s at revision %d, and migration %s had it written again at revision %d",
			t.gr.resource, t.now.name, t.before.version, t.before.revision, t.during.name, t.now.revision)
	}
	move := w.migrations.moved
	if move == nil || !move.ended || move.m.outcome != history.MigrationSucceeded || !move.m.started.was() {
		return
	}
	for _, o := range w.migrations.of(move.m.gr) {
		if o.metadata != "" && o.version == move.m.target && o.revision < move.m.started.revision {
			c.left++
		}
	}
}

func (c *svm06) Finish(*World) {}

func (c *svm06) Observations() []Observation {
	return []Observation{{What: "objects in the target version that migrations left alone", Seen: c.left, Need: needMigrated}}
}
