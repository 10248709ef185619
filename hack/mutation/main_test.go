package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func defects(n int) []cluster.Defect {
	var out []cluster.Defect
	for i := range n {
		out = append(out, cluster.Defect{ID: fmt.Sprintf("SV-06-%c", 'a'+i), Requirement: "SV-06"})
	}
	return out
}

func ids(defects []cluster.Defect) string {
	var out []string
	for _, d := range defects {
		out = append(out, strings.TrimPrefix(d.ID, "SV-06-"))
	}
	return strings.Join(out, " ")
}

func TestChoose(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    options
		want string
	}{
		{"all", options{}, "a b c d"},
		{"as many as there are", options{sample: 4}, "a b c d"},
		{"more than there are", options{sample: 9}, "a b c d"},
		{"fewer than none", options{sample: -1}, "a b c d"},
		{"one", options{only: "SV-06-c", sample: 2}, "c"},
		{"an unknown one", options{only: "SV-06-z"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := defects(4)
			if got := ids(choose(all, tc.o)); got != tc.want {
				t.Errorf("chose %q, want %q", got, tc.want)
			}
			if got := ids(all); got != "a b c d" {
				t.Errorf("what was chosen from became %q", got)
			}
		})
	}
}

func TestSampleFollowsFromTheCommit(t *testing.T) {
	played := map[string]bool{}
	samples := map[string]bool{}
	for i := range 50 {
		o := options{sample: 2, commit: fmt.Sprintf("%040x", i)}
		first := ids(choose(defects(8), o))
		if again := ids(choose(defects(8), o)); again != first {
			t.Fatalf("commit %s played %s, then %s", o.commit, first, again)
		}
		samples[first] = true
		for id := range strings.FieldsSeq(first) {
			played[id] = true
		}
	}
	if len(played) != 8 || len(samples) < 10 {
		t.Errorf("fifty commits played only %v in %d samples", played, len(samples))
	}
}

func TestJudged(t *testing.T) {
	judged, left := judged([]cluster.Defect{{ID: "SV-06-x", Requirement: "SV-06"}, {ID: "SV-99-y", Requirement: "SV-99"}})
	if len(judged) != 1 || judged[0].ID != "SV-06-x" || strings.Join(left, " ") != "SV-99-y" {
		t.Errorf("judged %v, left out %v", judged, left)
	}
}

func TestWeigh(t *testing.T) {
	result := func(id requirement.ID, v check.Verdict) check.Result { return check.Result{ID: id, Verdict: v} }
	for _, tc := range []struct {
		name   string
		defect string
		result check.Result
		code   int
		fault  string
	}{
		{"found", "SV-06-a", result("SV-06", check.Fail), 1, ""},
		{"passes", "SV-06-a", result("SV-06", check.Pass), 0, "SV-06 is not red (exit status 0)"},
		{"open", "SV-06-a", result("SV-06", check.Inconclusive), 2, "SV-06 is not red (exit status 2)"},
		{"another is red", "SV-06-a", result("SV-07", check.Fail), 1, "SV-06 is not red (exit status 1)"},
		{"red and a green status", "SV-06-a", result("SV-06", check.Fail), 0, "exit status 0 instead of 1"},
		{"red without the defect", "", result("SV-06", check.Fail), 1, `a run with the defect ""`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := row{defect: defects(1)[0]}
			r.weigh(&report.ConformanceReport{Defect: tc.defect, Results: []check.Result{tc.result}}, tc.code)
			if (r.fault == "") != (tc.fault == "") || !strings.Contains(r.fault, tc.fault) {
				t.Errorf("fault %q, want %q", r.fault, tc.fault)
			}
		})
	}
}

func TestMarkdown(t *testing.T) {
	rows := []row{
		{defect: cluster.Defect{ID: "SV-06-x", Requirement: "SV-06"}, red: []requirement.ID{"SV-06", "SV-11"}, took: 12400 * time.Millisecond},
		{defect: cluster.Defect{ID: "SV-01-y", Requirement: "SV-01"}, open: []requirement.ID{"SV-01"}, fault: "SV-01 is not red", took: 3 * time.Second},
		{defect: cluster.Defect{ID: "SV-02-z", Requirement: "SV-02"}, fault: "no report"},
	}
	want := `| defect | seconds | SV-01 | SV-02 | SV-06 | SV-11 |
|---|---|---|---|---|---|
| SV-06-x | 12 |  |  | F | F |
| SV-01-y | 3 | ? |  |  |  |
| SV-02-z | 0 |  | missed |  |  |
`
	if got := markdown(rows); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestPlay plays programs that only say what a refplane and an evenkeel would.
func TestPlay(t *testing.T) {
	const list = `echo '[{"id":"SV-06-x","requirement":"SV-06"},{"id":"SV-99-y","requirement":"SV-99"}]'`
	red := `mkdir -p "$5" && printf 'defect: SV-06-x\nresults: [{id: SV-06, verdict: fail}]\n' >"$5/report.yaml"; exit 1`
	for _, tc := range []struct{ name, refplane, evenkeel, only, expectError string }{
		{name: "found", refplane: list, evenkeel: red},
		{name: "not found", refplane: list, evenkeel: strings.Replace(red, "fail", "pass", 1), expectError: "1 of 1 defects were not found"},
		{name: "without a report", refplane: list, evenkeel: "exit 3", expectError: "1 of 1 defects were not found"},
		{name: "an unreadable report", refplane: list, evenkeel: `mkdir -p "$5" && echo '- x' >"$5/report.yaml"; exit 1`, expectError: "1 of 1 defects were not found"},
		{name: "no such defect", refplane: list, evenkeel: red, only: "SV-06-z", expectError: "there is no defect to play"},
		{name: "no defects that anything judges", refplane: "echo '[]'", evenkeel: red, expectError: "there is no defect to play"},
		{name: "a refplane that fails", refplane: "exit 1", evenkeel: red, expectError: "list the defects with"},
		{name: "a refplane that babbles", refplane: "echo hello", evenkeel: red, expectError: "read the list of defects"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			o := options{refplane: script(t, dir, "refplane", tc.refplane), evenkeel: script(t, dir, "evenkeel", tc.evenkeel), out: filepath.Join(dir, "out"), only: tc.only}
			err := play(o)
			if tc.expectError == "" {
				if err != nil {
					t.Fatal(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tc.expectError) {
				t.Fatalf("error %v, want %q", err, tc.expectError)
			}
			if tc.name == "found" {
				if table, err := os.ReadFile(filepath.Join(o.out, "table.md")); err != nil || !strings.Contains(string(table), " F |") {
					t.Errorf("the table is %s, %v", table, err)
				}
			}
		})
	}
}

func script(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}
