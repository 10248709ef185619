package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm21: a migration whose servers do not agree any more stops, and does not
// succeed. An agreement that is back before the end, on the same version, is for
// the migration to deal with: it may begin anew.
type svm21 struct {
	findings
	// ended counts those that did without an agreement: whoever succeeds was put to the
	// test too, which tells a difference that is documented from want of data.
	ended int64
	// open are migrations that were blamed for not having ended.
	open map[*migrationSeen]bool
	// done are those that had nothing left to migrate when they lost their agreement, or
	// when they started if that came after.
	done map[*migrationSeen]bool
	// failed are the resources whose last migration said so when its agreement was lost,
	// as long as it is and no other has begun: that is to be true.
	failed map[groupResource]*migrationSeen
}

func newSVM21() *svm21 {
	return &svm21{open: map[*migrationSeen]bool{}, done: map[*migrationSeen]bool{}, failed: map[groupResource]*migrationSeen{}}
}

func (c *svm21) Observe(w *World, ev *history.Event) {
	if t := w.migrations.touched; t != nil && t.byMigration() && t.before.version != t.now.version {
		if m := t.during; m.lost.was() && !m.back && ev.At-m.lost.at > int64(agreementLossStops+w.aways.between(m.lost.at, ev.At)) {
			c.inferOf(w, kindDisagreed, w.leadingRelease(), at(m.lost.seq, ev.Seq), "%s %s was rewritten at revision %d, %v after migration %s had lost its agreement",
				t.gr.resource, t.now.name, t.now.revision, time.Duration(ev.At-m.lost.at).Round(time.Second), m.name)
		}
	}
	c.goesOn(w, ev)
	c.overdue(w)
	for _, m := range w.migrations.live {
		if m.running() && m.lost.seq == ev.Seq {
			c.done[m] = !w.migrations.lyingOf(m.gr).left(m.target)
		}
	}
	move := w.migrations.moved
	if move != nil && move.started && move.m.lost.was() {
		// It was lost while the start was being written.
		c.done[move.m] = !w.migrations.lyingOf(move.m.gr).left(move.m.target)
	}
	if move != nil && (move.ended || move.gone) {
		defer delete(c.open, move.m)
		defer delete(c.done, move.m)
	}
	if move == nil || !move.ended || !move.m.lost.was() || move.m.back {
		return
	}
	m := move.m
	succeeded := m.outcome == history.MigrationSucceeded
	if succeeded && c.done[m] && ev.At-m.lost.at <= int64(underWay+w.aways.between(m.lost.at, ev.At)) {
		return // it had looked before, and its success was being written
	}
	c.ended++
	if !succeeded {
		c.failed[m.gr] = m
	}
	if succeeded {
		c.inferOf(w, kindDisagreed, w.leadingRelease(), at(m.started.seq, m.lost.seq, m.ended.seq), "migration %s succeeded at revision %d, and since revision %d the servers do not agree on %s any more",
			m.name, m.ended.revision, m.lost.revision, m.target)
	}
}

// goesOn blames rewrites by a migration that says that it has failed. Who writes for reasons
// of his own changes more than the version.
func (c *svm21) goesOn(w *World, ev *history.Event) {
	if move := w.migrations.moved; move != nil && move.started {
		delete(c.failed, move.m.gr)
	}
	t := w.migrations.touched
	if t == nil || c.failed[t.gr] == nil || t.during != nil || t.by != (writeID{}) || t.before == nil || t.now == nil {
		return
	}
	m := c.failed[t.gr]
	if agreed, _ := w.agreedOn(t.gr); agreed != "" {
		delete(c.failed, t.gr)
		return
	}
	if t.before.metadata != "" && t.before.version != t.now.version && t.now.version == m.target && w.altered(t) == "" &&
		ev.At-m.lost.at > int64(agreementLossStops+w.aways.between(m.lost.at, ev.At)) {
		c.inferOf(w, kindDisagreed, w.leadingRelease(), at(m.lost.seq, m.ended.seq, ev.Seq), "%s %s was rewritten at revision %d, %v after migration %s had lost its agreement, of which it says that it has failed",
			t.gr.resource, t.now.name, t.now.revision, time.Duration(ev.At-m.lost.at).Round(time.Second), m.name)
	}
}

// overdue blames what goes on without an agreement for longer than a controller takes to
// end it that nothing hinders, whatever comes of it later.
func (c *svm21) overdue(w *World) {
	for _, m := range w.migrations.live {
		if m.running() && m.lost.was() && !m.back && !c.open[m] && w.managers.hadTime(w.aways, w.Now, m.lost.at, int64(agreementLossEnds)) {
			c.open[m] = true
			c.inferOf(w, kindDisagreed, w.leadingRelease(), at(m.started.seq, m.lost.seq), "migration %s has not ended %v after it lost its agreement", m.name, agreementLossEnds)
		}
	}
}

func (c *svm21) Finish(w *World) { c.overdue(w) }

func (c *svm21) Observations() []Observation {
	return []Observation{{What: "migrations that ended after their agreement was lost", Seen: c.ended, Need: needMigrations}}
}
