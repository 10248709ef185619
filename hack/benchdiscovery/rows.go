package main

import (
	"fmt"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// row is a figure of both planes.
type row struct {
	name string
	unit bench.Unit
	of   func(result) float64
	// goal is nil where nothing is aimed at.
	goal *bench.Goal
}

// table is a part of the report.
type table struct {
	title string
	rows  []row
}

// megabyte is the most that a client that accepts gzip is to get.
const megabyte = 1_000_000

// tables are all figures, in the order of the report.
func tables() []table {
	return []table{
		{"A client's cold discovery", coldRows()},
		{"Answers with the aggregated document of `/apis`", loadRows()},
		{fmt.Sprintf("Until a change of a CRD is visible to a client (∞: not within %s)", changeBound), changeRows()},
		{"Resident memory of the API server's process", []row{
			{"before the measurements", bench.Mebibytes, func(r result) float64 { return float64(r.resting) }, nil},
			{"at its highest until after them", bench.Mebibytes, func(r result) float64 { return float64(r.highest) }, nil},
		}},
	}
}

func coldRows() []row {
	var rows []row
	for _, w := range ways {
		name, encoding := "unaggregated", "plain"
		if w.aggregated {
			name = "aggregated"
		}
		var wire *bench.Goal
		if w.gzip {
			encoding = "gzip"
			if w.aggregated {
				wire = bench.Below(megabyte, "1 MB")
			}
		}
		name += ", " + encoding
		rows = append(rows,
			row{name + ": requests", bench.Count, func(r result) float64 { return float64(r.colds[w].requests) }, nil},
			row{name + ": received on the wire", bench.Kilobytes, func(r result) float64 { return float64(r.colds[w].received) }, wire},
			row{name + ": time", bench.Milliseconds, func(r result) float64 { return bench.Median(r.colds[w].times) }, nil},
		)
	}
	return rows
}

func loadRows() []row {
	var rows []row
	for _, a := range answers {
		var p50, p99, rate *bench.Goal
		switch a {
		case plainAnswer:
			p99 = bench.AtMost(0.5)
		case gzipAnswer:
			p99, rate = bench.AtMost(0.1), bench.AtLeast(10)
		case unchanged:
			p50, p99 = bench.AtMost(1), bench.AtMost(1)
		}
		name := string(a)
		if a != unchanged {
			rows = append(rows, row{name + ": bytes of the body", bench.Kilobytes, func(r result) float64 { return float64(r.loads[a].bytes) }, nil})
		}
		rows = append(rows,
			row{fmt.Sprintf("%s, %d a second: p50", name, pacedRate), bench.Milliseconds, func(r result) float64 { return r.loads[a].paced.p50 }, p50},
			row{fmt.Sprintf("%s, %d a second: p99", name, pacedRate), bench.Milliseconds, func(r result) float64 { return r.loads[a].paced.p99 }, p99},
			row{fmt.Sprintf("%s, %d a second: answered in time", name, pacedRate), bench.PerSecond, func(r result) float64 { return r.loads[a].paced.rate }, nil},
			row{name + ", one at a time: p50", bench.Milliseconds, func(r result) float64 { return r.loads[a].alone.p50 }, nil},
			row{name + ", one at a time: p99", bench.Milliseconds, func(r result) float64 { return r.loads[a].alone.p99 }, nil},
			row{name + ": highest rate", bench.PerSecond, func(r result) float64 { return r.loads[a].fastest.rate }, rate},
		)
	}
	return rows
}

func changeRows() []row {
	var rows []row
	for _, c := range changes {
		rows = append(rows,
			row{string(c) + ": p50", bench.Milliseconds, func(r result) float64 { return bench.Median(r.changes[c]) }, bench.AtMost(1)},
			row{string(c) + ": longest", bench.Milliseconds, func(r result) float64 { return bench.Quantile(r.changes[c], 1) }, nil},
		)
	}
	return rows
}
