package main

import (
	"slices"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// row is a figure of all columns.
type row struct {
	name string
	unit bench.Unit
	of   func(result) float64
	// goal is nil where nothing is aimed at.
	goal *bench.Goal
}

// half of what Kubernetes takes is aimed at, and a second behind a Lease's end.
func half() *bench.Goal   { return bench.AtMost(0.5) }
func second() *bench.Goal { return bench.Below(1, "1 s") }

// quantiles are p50 and p99 of a sort of figures, and the goal of both.
func quantiles(name string, of func(result) []float64, goal func() *bench.Goal) []row {
	var rows []row
	for _, q := range []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		r := row{name: name + ": " + q.name, unit: bench.Seconds, of: func(m result) float64 { return bench.Quantile(of(m), q.share) }}
		if goal != nil {
			r.goal = goal()
		}
		rows = append(rows, r)
	}
	return rows
}

// electionRows are the figures of those that elect.
func electionRows(of func(result) figures) []row {
	return slices.Concat(
		quantiles("first leader, from its beginning", func(r result) []float64 { return of(r).started }, nil),
		quantiles("first leader, from the first candidate", func(r result) []float64 { return of(r).first }, half),
		quantiles("preferred candidate leads, from when it is seen", func(r result) []float64 { return of(r).preempted }, half),
		quantiles("crash to new leader", func(r result) []float64 { return of(r).crashed }, nil),
		quantiles("the same, from the end of the Lease", func(r result) []float64 { return of(r).expired }, second),
	)
}

// table is a part of the report.
type table struct {
	title string
	rows  []row
}

// tables are all figures, in the order of the report.
func tables() []table {
	managers := electionRows(func(r result) figures { return r.managers })
	managers = append(managers, quantiles("crash until a new leader acts", func(r result) []float64 { return r.managers.acted }, nil)...)
	return []table{
		{"Controller managers", managers},
		{"Instances of the library", electionRows(func(r result) figures { return r.instances })},
		{"API servers", slices.Concat(
			quantiles("crash of the coordinator to the next one", func(r result) []float64 { return r.losses.replaced }, nil),
			quantiles("the same, until a new Lease has a leader", func(r result) []float64 { return r.losses.elected }, nil))},
		{"Writes a minute at rest", []row{
			{"all", bench.PerMinute, func(r result) float64 { return r.writes.all() }, bench.AtMost(1)},
			{"Leases of leaders", bench.PerMinute, func(r result) float64 { return r.writes.leaders }, nil},
			{"the coordinators' Lease", bench.PerMinute, func(r result) float64 { return r.writes.coordinator }, nil},
			{"candidates", bench.PerMinute, func(r result) float64 { return r.writes.candidates }, nil},
		}},
	}
}
