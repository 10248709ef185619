package bench

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	table := Table{
		Title: "What", Columns: []string{"a", "b", "c"}, Compared: &Pair{0, 2}, Judged: true,
		Rows: []Row{{"time", Seconds, []float64{1, 9, 4}, AtMost(0.5)}, {"other", Count, []float64{8, 9, 4}, nil}},
	}
	const want = "\n| What | a | b | c | ratio | goal |\n|---|---:|---:|---:|---:|---:|\n" +
		"| time | 1.00 s | 9.00 s | 4.00 s | 0.25 | ≤ 0.5: met |\n| other | 8 | 9 | 4 | 2.00 |  |\n"
	if got := table.Markdown(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	table.Judged = false
	if strings.Contains(table.Markdown(), "goal") {
		t.Error("the table shows goals although it judges nothing")
	}
	table.Compared = nil
	if strings.Contains(table.Markdown(), "ratio") {
		t.Error("the table shows a ratio although it compares nothing")
	}
}
