package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm17: the status of a migration that takes long says more on the way than that
// it runs.
type svm17 struct {
	findings
	reports int64
}

func (c *svm17) Observe(w *World, _ *history.Event) {
	move := w.migrations.moved
	if move == nil || !move.ended || !move.m.started.was() {
		return
	}
	m := move.m
	took := time.Duration(m.ended.at-m.started.at) - w.aways.between(m.started.at, m.ended.at)
	if took < longMigration {
		return
	}
	if m.reports == 0 {
		c.infer(w, at(m.started.seq, m.ended.seq), "migration %s ran for %v, and its status told nothing on the way", m.name, took.Round(time.Second))
		return
	}
	c.reports += m.reports
}

func (c *svm17) Finish(*World) {}

func (c *svm17) Observations() []Observation {
	return []Observation{{"reports of progress of migrations that took long", c.reports, needStatusReports}}
}
