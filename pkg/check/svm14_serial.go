package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm14: of one resource one migration runs at a time, and the older one first.
type svm14 struct {
	findings
	queued, ordered int64
	// waited are migrations that were created when another one of the resource had
	// not ended.
	waited map[*migrationSeen]bool
}

func newSVM14() *svm14 { return &svm14{waited: map[*migrationSeen]bool{}} }

func (c *svm14) Observe(w *World, ev *history.Event) {
	move := w.migrations.moved
	if move == nil {
		return
	}
	m := move.m
	for _, other := range w.migrations.live {
		if other == m || other.gr != m.gr {
			continue
		}
		if move.created {
			c.waited[m] = true
		}
		if !move.started {
			continue
		}
		switch {
		case other.running():
			c.infer(w, at(other.started.seq, ev.Seq), "migration %s of %s began to run at revision %d, while %s ran", m.name, m.gr.resource, ev.Stored.Revision, other.name)
		case other.created.at < m.created.at-int64(sameAge+w.aways.between(other.created.at, m.created.at)):
			c.infer(w, at(other.created.seq, m.created.seq, ev.Seq), "migration %s of %s began to run at revision %d, and the older %s had not", m.name, m.gr.resource, ev.Stored.Revision, other.name)
		case m.created.at < other.created.at-int64(sameAge+w.aways.between(m.created.at, other.created.at)):
			c.ordered++
		}
	}
	if move.ended || move.gone {
		if c.waited[m] && move.ended && m.started.was() {
			c.queued++
		}
		delete(c.waited, m)
	}
}

func (c *svm14) Finish(*World) {}

func (c *svm14) Observations() []Observation {
	return []Observation{
		{What: "migrations that ended and had another one of their resource before them", Seen: c.queued, Need: needMigrations},
		{What: "migrations that began while a younger one of their resource waited too", Seen: c.ordered, Need: needMigrations},
	}
}
