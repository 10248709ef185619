package main

import "fmt"

// row is a figure of both planes.
type row struct {
	name string
	unit unit
	of   func(result) float64
	// goal is nil where nothing is aimed at.
	goal *goal
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
		{"Until a change of a CRD is visible to a client", changeRows()},
		{"Resident memory of the API server's process", []row{
			{"before the measurements", mebibytes, func(r result) float64 { return float64(r.resting) }, nil},
			{"at its highest until after them", mebibytes, func(r result) float64 { return float64(r.highest) }, nil},
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
		var wire *goal
		if w.gzip {
			encoding = "gzip"
			if w.aggregated {
				wire = below(megabyte, "1 MB")
			}
		}
		name += ", " + encoding
		rows = append(rows,
			row{name + ": requests", count, func(r result) float64 { return float64(r.colds[w].requests) }, nil},
			row{name + ": received on the wire", kilobytesUnit, func(r result) float64 { return float64(r.colds[w].received) }, wire},
			row{name + ": time", milliseconds, func(r result) float64 { return median(r.colds[w].times) }, nil},
		)
	}
	return rows
}

func loadRows() []row {
	var rows []row
	for _, a := range answers {
		var p50, p99, rate *goal
		switch a {
		case plainAnswer:
			p99 = atMost(0.5)
		case gzipAnswer:
			p99, rate = atMost(0.1), atLeast(10)
		case unchanged:
			p50, p99 = atMost(1), atMost(1)
		}
		name := string(a)
		if a != unchanged {
			rows = append(rows, row{name + ": bytes of the body", kilobytesUnit, func(r result) float64 { return float64(r.loads[a].bytes) }, nil})
		}
		rows = append(rows,
			row{fmt.Sprintf("%s, %d a second: p50", name, pacedRate), milliseconds, func(r result) float64 { return r.loads[a].paced.p50 }, p50},
			row{fmt.Sprintf("%s, %d a second: p99", name, pacedRate), milliseconds, func(r result) float64 { return r.loads[a].paced.p99 }, p99},
			row{fmt.Sprintf("%s, %d a second: answered in time", name, pacedRate), perSecond, func(r result) float64 { return r.loads[a].paced.rate }, nil},
			row{name + ", one at a time: p50", milliseconds, func(r result) float64 { return r.loads[a].alone.p50 }, nil},
			row{name + ", one at a time: p99", milliseconds, func(r result) float64 { return r.loads[a].alone.p99 }, nil},
			row{name + ": highest rate", perSecond, func(r result) float64 { return r.loads[a].fastest.rate }, rate},
		)
	}
	return rows
}

func changeRows() []row {
	var rows []row
	for _, c := range changes {
		rows = append(rows,
			row{string(c) + ": p50", milliseconds, func(r result) float64 { return median(r.changes[c]) }, atMost(1)},
			row{string(c) + ": longest", milliseconds, func(r result) float64 { return quantile(r.changes[c], 1) }, nil},
		)
	}
	return rows
}
