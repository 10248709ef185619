package check

import (
	"cmp"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// LargeMigration is how many objects a migration must have come to the end with for
// SVM-16. It is a variable only because people read the fixtures of checks, which
// have a dozen; what a run was measured by stands in its report.
var LargeMigration int64 = largeMigration

// svm16: a migration of very many objects comes to its end, and then none of them is
// lost, altered or stored in an old version. One that stops because the agreement is
// lost may leave the rest to the next.
type svm16 struct {
	findings
	// compared are the objects of the success that had the most, and rewritten those
	// that migrations of the resource had rewritten by then.
	compared, rewritten int64
	byMigrations        map[groupResource]int64
	// gone are the objects that went, until somebody is known to have asked for that;
	// and asked those that somebody asked to delete, until they go. Either may be told
	// first.
	gone  map[deletion]goneObject
	asked map[deletion]bool
}

// deletion is of an object by its name.
type deletion struct {
	gr   groupResource
	name string
}

// goneObject is when an object went, the event that had stored it, and the migration
// that ran, if one did.
type goneObject struct {
	seq, at, stored int64
	during          *migrationSeen
}

func newSVM16() *svm16 {
	return &svm16{byMigrations: map[groupResource]int64{}, gone: map[deletion]goneObject{}, asked: map[deletion]bool{}}
}

func (c *svm16) Observe(w *World, ev *history.Event) {
	if t := w.migrations.touched; t != nil {
		c.take(w, ev, t)
	}
	if r := ev.Request; r != nil && r.Verb == "delete" && (accepted(r) || r.Code == 0) {
		c.explain(deletion{groupResource{r.Group, r.Resource}, r.Name})
	}
	move := w.migrations.moved
	if move == nil || !move.ended && !move.gone {
		return
	}
	m := move.m
	switch {
	case !move.ended:
	case m.outcome == history.MigrationSucceeded:
		c.compare(w, m)
	case m.started.was() && m.held():
		c.infer(w, at(m.started.seq, m.ended.seq), "migration %s failed (%s) with the servers in agreement, after migrations of %s had rewritten %d objects", m.name, reasonOf(m), m.gr.resource, c.byMigrations[m.gr])
	}
}

func (c *svm16) take(w *World, ev *history.Event, t *objectTouch) {
	switch {
	case t.now == nil:
		d := deletion{t.gr, t.before.name}
		if c.asked[d] {
			delete(c.asked, d)
			return
		}
		c.gone[d] = goneObject{seq: ev.Seq, at: ev.At, stored: t.before.seq, during: t.during}
	case t.byMigration() && t.before.version != t.now.version:
		c.byMigrations[t.gr]++
		if t.before.metadata != t.now.metadata {
			c.infer(w, at(t.before.seq, ev.Seq), "%s %s was rewritten at revision %d while migration %s ran, and its metadata is not what it was at revision %d",
				t.gr.resource, t.now.name, t.now.revision, t.during.name, t.before.revision)
		}
	}
}

// explain notes that somebody asked to delete an object.
func (c *svm16) explain(d deletion) {
	if _, gone := c.gone[d]; gone {
		delete(c.gone, d)
		return
	}
	if len(c.asked) < keptBuried {
		c.asked[d] = true
	}
}

func (c *svm16) compare(w *World, m *migrationSeen) {
	target, _ := w.agreedOn(m.gr)
	if target == "" {
		return
	}
	since := checkpointOf(m.now)
	if since == 0 {
		since = m.created.revision
	}
	compared, left, evidence := int64(0), 0, at(m.ended.seq)
	for _, o := range w.migrations.of(m.gr) {
		switch {
		case o.created > since:
		case o.version == target:
			compared++
		default:
			if left++; left <= maxExamples {
				evidence = append(evidence, o.seq)
			}
		}
	}
	if left > 0 {
		c.infer(w, evidence, "migration %s succeeded at revision %d with %d objects stored as %s, and %d that are not", m.name, m.ended.revision, compared, target, left)
		return
	}
	if compared > c.compared {
		c.compared, c.rewritten = compared, c.byMigrations[m.gr]
	}
}

func (c *svm16) Finish(w *World) {
	for _, m := range w.migrations.live {
		if m.stuck(w) {
			c.infer(w, at(m.started.seq, m.sign.seq), "migration %s has not ended, and nothing came of it for %v", m.name, healthyEnds)
		}
	}
	oldestFirst := func(a, b deletion) int { return cmp.Compare(c.gone[a].seq, c.gone[b].seq) }
	for _, d := range slices.SortedFunc(maps.Keys(c.gone), oldestFirst) {
		// Who asked for what went a moment ago may not have been answered yet.
		if g := c.gone[d]; g.during != nil && w.Now-g.at > int64(underWay) {
			c.infer(w, at(g.stored, g.seq), "%s %s went while migration %s ran, and nobody had asked for that", d.gr.resource, d.name, g.during.name)
		}
	}
}

func (c *svm16) Observations() []Observation {
	return []Observation{
		{"objects of one resource that lay in the agreed version when a migration succeeded", c.compared, LargeMigration},
		{"objects of it that migrations had rewritten", c.rewritten, LargeMigration},
	}
}
