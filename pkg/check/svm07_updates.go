package check

import (
	"cmp"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm07: an update by a user is not undone by a migration that had read the object
// before. Each write of the harness leaves its tag in the object, so an earlier tag
// that comes back is a later write that was lost.
type svm07 struct {
	findings
	updates, ahead int64
}

func (c *svm07) Observe(w *World, ev *history.Event) {
	t := w.migrations.touched
	if t == nil || t.before == nil || t.now == nil || t.by == (writeID{}) {
		return
	}
	// A write that is under way when the migration ends may land afterwards.
	if m := w.migrations.begun[t.gr]; m != nil && slices.Contains(t.before.tags, t.by) {
		c.infer(w, at(t.before.seq, ev.Seq), "%s %s had write %d of %s at revision %d, and at revision %d write %d of %s is back; migration %s had begun",
			t.gr.resource, t.now.name, last(t.before.tags).number, last(t.before.tags).member, t.before.revision, t.now.revision, t.by.number, t.by.member, m.name)
		return
	}
	if t.during == nil {
		return
	}
	c.updates++
	// What a server writes back in the old version it had come to.
	if target := cmp.Or(t.during.target, t.during.agreed); t.before.version != t.now.version && t.before.version != target {
		c.ahead++
	}
}

// last is the write that was applied last; the zero value if none is known.
func last(tags []writeID) writeID {
	if len(tags) == 0 {
		return writeID{}
	}
	return tags[len(tags)-1]
}

func (c *svm07) Finish(*World) {}

func (c *svm07) Observations() []Observation {
	return []Observation{
		{What: "updates by users while a migration ran", Seen: c.updates, Need: needUserWrites},
		{What: "of those, updates of objects that the migration had not come to", Seen: c.ahead, Need: needUserWritesAhead},
	}
}
