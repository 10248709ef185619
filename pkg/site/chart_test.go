package site

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 0.01 }

func TestChartOf_RatiosAreOnBothSidesOfOne(t *testing.T) {
	c := chartOf(Table{Header: []string{"time", "ours", "theirs", "ratio", "goal"}, Rows: [][]string{
		{"half", "1 s", "2 s", "0.5", ""}, {"ten times", "10 s", "1 s", "10.0", ""}, {"nothing", "– s", "1 s", "–", ""}, {"next to none", "0 s", "1 s", "0.000", ""},
	}})
	if c == nil || len(c.Groups) != 3 {
		t.Fatalf("%+v", c)
	}
	// Three decades on each side, since the least ratio that is drawn is 0.001.
	for i, want := range []Bar{
		{From: 500 - 500*0.30103/3, Width: 500 * 0.30103 / 3, Base: 500}, {From: 500, Width: 500. / 3, Base: 500, Series: 1}, {From: 0, Width: 500, Base: 500},
	} {
		got := c.Groups[i].Bars[0]
		if !near(got.From, want.From) || !near(got.Width, want.Width) || got.Base != want.Base || got.Series != want.Series {
			t.Errorf("bar %d: %+v, want %+v", i, got, want)
		}
	}
	if got := c.Groups[0].Bars[0].Value; got != "0.5 (1 s / 2 s)" {
		t.Errorf("the value is %q", got)
	}
}

func TestChartOf_Percentages(t *testing.T) {
	c := chartOf(Table{Header: []string{"way", "runs", "ever", "lasting", "longest"}, Rows: [][]string{
		{"upgrade", "30", "17, 57 % (39–73 %)", "25.0 % (1/4)", "2 s"}, {"rollback", "30", "100 %", "0 %", "3 s"},
	}})
	if c == nil || len(c.Groups) != 2 || c.Groups[0].Label != "way upgrade, runs 30" || len(c.Groups[0].Bars) != 2 {
		t.Fatalf("%+v", c)
	}
	if b := c.Groups[0].Bars[0]; b.Label != "ever" || !near(b.Width, 570) || !near(b.Low, 390) || !near(b.Span, 340) {
		t.Errorf("%+v", b)
	}
	if b := c.Groups[1].Bars[1]; b.Width != 0 || b.Span != 0 {
		t.Errorf("%+v", b)
	}
}

func TestChartOf_NothingForOtherTables(t *testing.T) {
	for _, table := range []Table{
		{Header: []string{"how", "found"}, Rows: [][]string{{"guided", "2 of 2 (34 % to 100 %)"}}},
		{Header: []string{"a", "b"}, Rows: [][]string{{"x", "10 %"}, {"y", "none"}}},
		{Header: []string{"a", "ratio"}, Rows: [][]string{{"x", "–"}}},
		{Header: []string{"a", "b"}},
	} {
		if c := chartOf(table); c != nil {
			t.Errorf("%v: %+v", table, c)
		}
	}
}

func TestSkewChart_MarksEachRun(t *testing.T) {
	s := Skew{Cells: []SkewCell{{Back: true, Coordinated: true, Runs: 4, Ever: 3, Milliseconds: []int64{10000, 50, 1000}}}}
	g := s.chart().Groups[0]
	if g.Label != "rollback, coordinated election" || g.Bars[0].Value != "3 of 4 runs, median 1s, longest 10s" {
		t.Errorf("%+v", g)
	}
	for i, want := range []float64{0, 500, 1000} {
		if got := g.Bars[0].Marks[i]; !near(got, want) {
			t.Errorf("mark %d is at %g, want %g", i, got, want)
		}
	}
}
