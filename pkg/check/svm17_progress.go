package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm17: the status of a migration that takes long says more on the way than that
// it runs. Between the end of one controller and the begin of the next there is nothing
// to tell.
type svm17 struct {
	findings
	reports int64
	// holder is who has the controllers' Lease, as the Lease names it.
	holder string
	// under is for how long controllers have been at migrations that run.
	under map[*migrationSeen]*work
}

// work is how long controllers have been at a migration, and since when that of now has;
// 0 if there is none.
type work struct {
	took  time.Duration
	since int64
}

func newSVM17() *svm17 { return &svm17{under: map[*migrationSeen]*work{}} }

func (c *svm17) Observe(w *World, ev *history.Event) {
	c.follow(w, ev)
	move := w.migrations.moved
	if move == nil || !move.ended && !move.gone {
		return
	}
	m := move.m
	s := c.under[m]
	delete(c.under, m)
	switch {
	case s == nil:
	case !move.ended:
		c.unended(w, m, s)
	default:
		s.end(w)
		if s.took >= longMigration && c.told(w, m, s, m.ended.seq) {
			c.reports += m.reports
		}
	}
}

// follow notes when migrations begin, and when their controllers do and end.
func (c *svm17) follow(w *World, ev *history.Event) {
	if move := w.migrations.moved; move != nil && c.under[move.m] == nil && move.m.started.seq == ev.Seq {
		c.under[move.m] = &work{since: ev.At}
	}
	if s := ev.Stored; s != nil && s.Key == leaderLease && s.Lease != nil && s.Lease.Holder != "" && s.Lease.Holder != c.holder {
		if c.holder != "" {
			for _, of := range c.under {
				of.end(w)
				of.since = ev.At
			}
		}
		c.holder = s.Lease.Holder
	}
	if ev.Process != nil {
		for m, of := range c.under {
			if m.crashed.seq == ev.Seq {
				of.end(w)
			}
		}
	}
}

// end ends the work of a controller.
func (s *work) end(w *World) {
	if s.since > 0 {
		s.took += time.Duration(w.Now-s.since) - w.aways.between(s.since, w.Now)
	}
	s.since = 0
}

// told is whether a migration that took long has told of its progress.
func (c *svm17) told(w *World, m *migrationSeen, s *work, seq int64) bool {
	if m.reports == 0 {
		c.infer(w, at(m.started.seq, seq), "migration %s ran for %v, and its status told nothing on the way", m.name, s.took.Round(time.Second))
	}
	return m.reports > 0
}

// unended judges a migration that has not ended; the controller of now counts if nothing is
// in its way.
func (c *svm17) unended(w *World, m *migrationSeen, s *work) {
	if s.since > 0 && w.managers.hadTime(w.aways, w.Now, s.since, int64(longMigration)) {
		s.end(w)
	}
	if s.took >= longMigration {
		c.told(w, m, s, m.sign.seq)
	}
}

func (c *svm17) Finish(w *World) {
	for _, m := range w.migrations.live {
		if s := c.under[m]; s != nil {
			c.unended(w, m, s)
		}
	}
}

func (c *svm17) Observations() []Observation {
	return []Observation{{What: "reports of progress of migrations that took long", Seen: c.reports, Need: needStatusReports}}
}
