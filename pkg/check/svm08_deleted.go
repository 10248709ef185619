package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm08: an object that was deleted stays deleted, unless a user makes it anew.
// The tag tells: a new object of the harness has one that was never there. It is put
// to the test by objects that the migration had still to rewrite, if it came to the end:
// who has done with an object does not write it again, nor does who never comes to it.
type svm08 struct {
	findings
	deletes int64
	// under are those of migrations that run.
	under map[*migrationSeen]int64
}

func newSVM08() *svm08 { return &svm08{under: map[*migrationSeen]int64{}} }

func (c *svm08) Observe(w *World, ev *history.Event) {
	if move := w.migrations.moved; move != nil && (move.ended || move.gone) {
		if move.ended && move.m.outcome == history.MigrationSucceeded {
			c.deletes += c.under[move.m]
		}
		delete(c.under, move.m)
	}
	t := w.migrations.touched
	switch {
	case t == nil:
	case t.now == nil && t.during != nil && t.before.metadata != "" && t.during.ahead(t.before):
		c.under[t.during]++
	case t.before == nil && t.buried != nil && t.buried.metadata != "" && (t.by == (writeID{}) || slices.Contains(t.buried.tags, t.by)):
		c.infer(w, at(t.buried.seq, ev.Seq), "%s %s was deleted after revision %d, and at revision %d it was back without a user having made it", t.gr.resource, t.now.name, t.buried.revision, t.now.revision)
	}
}

func (c *svm08) Finish(*World) {}

func (c *svm08) Observations() []Observation {
	return []Observation{{What: "objects deleted by users while a migration ran", Seen: c.deletes, Need: needUserDeletes}}
}
