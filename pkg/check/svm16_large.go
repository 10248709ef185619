package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// LargeMigration is how many objects a migration must have come to the end with for
// SVM-16. It is a variable only because people read the fixtures of checks, which
// have a dozen; what a run was measured by stands in its report.
var LargeMigration int64 = largeMigration

// svm16: very many objects are migrated to the end, while members are upgraded, the
// controller that migrates is killed again and again and one member is rolled back
// half way; and then none of them is lost, altered or stored in an old version. A
// migration that stops because the agreement is lost may leave the rest to the next. One
// that goes on is SVM-21's, and what it left has to be migrated by the next all the same.
type svm16 struct {
	findings
	passages map[groupResource]*passage
	missing  *missing
}

func newSVM16() *svm16 {
	return &svm16{passages: map[groupResource]*passage{}, missing: newMissing()}
}

func (c *svm16) of(w *World, gr groupResource) *passage {
	if c.passages[gr] == nil {
		c.passages[gr] = newPassage(w.migrations.lyingOf(gr))
	}
	return c.passages[gr]
}

func (c *svm16) Observe(w *World, ev *history.Event) {
	if t := w.migrations.touched; t != nil {
		c.take(w, ev, t)
	}
	if ev.Request != nil {
		c.missing.ask(ev.Request)
	}
	if s := ev.Stored; s != nil && s.Type == history.StoredDelete {
		if d, ok := keeperOf(s.Key); ok {
			c.missing.leave(d, goneObject{seq: ev.Seq, at: ev.At})
		}
	}
	for _, m := range w.migrations.live {
		// Where nobody can say what objects are migrated to, nor can anybody say how
		// far that is.
		if m.running() && m.target != "" {
			c.of(w, m.gr).follow(w, ev, m)
		}
	}
	move := w.migrations.moved
	if move == nil {
		return
	}
	m := move.m
	if move.started && m.target != "" {
		c.of(w, m.gr).begin(m)
	}
	switch {
	case move.stuck:
		c.stuck(w, m)
	case !move.ended:
	case m.outcome == history.MigrationSucceeded:
		c.compare(w, m)
	case m.started.was() && m.held(), m.spurned(w):
		c.infer(w, at(m.started.seq, m.ended.seq), "migration %s failed (%s) with the servers in agreement, after migrations of %s had rewritten %d objects",
			m.name, reasonOf(m), m.gr.resource, c.of(w, m.gr).rewritten)
	case m.started.was():
		c.of(w, m.gr).part(w, m)
	}
}

// take notes what became of an object.
func (c *svm16) take(w *World, ev *history.Event, t *objectTouch) {
	of := c.of(w, t.gr)
	of.touch(t)
	switch {
	case t.now == nil:
		c.missing.lose(deletion{t.gr, t.before.name}, goneObject{seq: ev.Seq, at: ev.At, stored: t.before.seq, after: of.begun})
	case t.byMigration() && (t.before.version != t.now.version || t.content != ""), t.again():
		if t.before.version != t.now.version {
			of.rewritten++
		}
		if what := w.altered(t); what != "" {
			c.infer(w, at(t.before.seq, ev.Seq), "%s %s was rewritten at revision %d while migration %s ran, and its %s not what it was at revision %d",
				t.gr.resource, t.now.name, t.now.revision, t.during.name, what, t.before.revision)
		}
	}
}

// compare holds all objects against a success.
func (c *svm16) compare(w *World, m *migrationSeen) {
	target, _ := w.agreedOn(m.gr)
	if target != "" {
		target = w.migratedTo(m)
	}
	if target == "" {
		// This is no end, since it is not known what objects are to be stored in.
		c.of(w, m.gr).part(w, m)
		return
	}
	left, excused, evidence := 0, 0, at(m.ended.seq)
	for _, o := range w.migrations.of(m.gr) {
		if o.version == target {
			continue
		}
		if w.excused(m, o) {
			excused++
			continue
		}
		if left++; left <= maxExamples {
			evidence = append(evidence, o.seq)
		}
	}
	of := c.of(w, m.gr)
	if left > 0 {
		c.infer(w, evidence, "migration %s succeeded at revision %d with %d objects stored as %s, and %d that are not", m.name, m.ended.revision, of.lying[target], target, left)
		return
	}
	if excused == 0 {
		of.succeed(w, m.gr, target)
	}
}

func (c *svm16) Finish(w *World) {
	for _, m := range w.migrations.live {
		if m.stuck(w) {
			c.stuck(w, m)
		}
	}
	for _, lost := range c.missing.lost(w.Now - int64(underWay)) {
		c.infer(w, at(lost.stored, lost.seq), "%s %s went after migration %s had begun, and nobody had asked for that", lost.gr.resource, lost.name, lost.after.name)
	}
}

func (c *svm16) stuck(w *World, m *migrationSeen) {
	c.infer(w, at(m.started.seq, m.sign.seq), "migration %s has not ended, and nothing came of it for %v or longer", m.name, healthyEnds)
}

// doubts: whoever cannot remember what was asked for cannot say what was not.
func (c *svm16) doubts() []string {
	if c.missing.unheard == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d requests to delete something were too many to be remembered", c.missing.unheard)}
}

// largest is the passage of the resource of which most came to the end.
func (c *svm16) largest() *passage {
	largest := newPassage(nil)
	byName := func(a, b groupResource) int {
		return cmp.Compare(objectName(a.group, a.resource), objectName(b.group, b.resource))
	}
	for _, gr := range slices.SortedFunc(maps.Keys(c.passages), byName) {
		if of := c.passages[gr]; of.after > largest.after || of.after == largest.after && of.before > largest.before {
			largest = of
		}
	}
	return largest
}

func (c *svm16) Observations() []Observation {
	of := c.largest()
	observed := []Observation{
		{What: "objects of one resource that lay in an old version when a migration of them began", Seen: of.before, Need: LargeMigration},
		{What: "objects of it that migrations rewrote", Seen: of.rewritten, Need: LargeMigration},
		{What: "objects of it that lay in the new version, and none in another, when a migration succeeded", Seen: of.after, Need: LargeMigration},
		{What: "members that came to store the new version while they lay there", Seen: of.upgraded, Need: needUpgradedMembers},
	}
	for i, mark := range killedAt {
		observed = append(observed, Observation{What: fmt.Sprintf("kills of the controller that migrated, with about %d %% of them migrated", mark), Seen: of.killed[i], Need: needKillsAtEach})
	}
	return append(observed,
		Observation{What: "ends of API servers while they were migrated", Seen: of.servers, Need: needServerEnds},
		Observation{What: "migrations of them that ended without an agreement, after a member was rolled back about half way", Seen: of.halfway, Need: needMigrations})
}
