package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm05: a migration leaves labels, annotations, owners, finalizers, generation,
// uid and managed fields of what it rewrites as they are. Others write too, and
// not all of them leave a tag: what is judged is a write that changed the version,
// or one to an object that had been left alone since before the migration began.
type svm05 struct {
	findings
	same int64
}

func (c *svm05) Observe(w *World, ev *history.Event) {
	t := w.migrations.touched
	if t == nil || !t.byMigration() || t.before.metadata == "" {
		return
	}
	if t.before.version == t.now.version && t.before.revision > t.during.started.revision {
		return
	}
	if t.before.metadata == t.now.metadata {
		c.same++
		return
	}
	c.infer(w, at(t.before.seq, ev.Seq), "%s %s was written at revision %d while migration %s ran, and its metadata is not what it was at revision %d",
		t.gr.resource, t.now.name, t.now.revision, t.during.name, t.before.revision)
}

func (c *svm05) Finish(*World) {}

func (c *svm05) Observations() []Observation {
	return []Observation{{"objects rewritten with the same metadata", c.same, needMigrated}}
}
