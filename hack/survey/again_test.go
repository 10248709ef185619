package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/report/results"
)

func TestKeptBundlesAreJudgedAgain(t *testing.T) {
	o := options{evenkeel: filepath.Join(t.TempDir(), "evenkeel"), target: "mine", results: t.TempDir(), out: t.TempDir()}
	judge := `#!/bin/sh
[ "$1 $2" = "judge --update" ] || exit 9
case $3 in *-2) verdict=fail ;; *) verdict=pass ;; esac
printf 'verdict: %s\nharness: {version: v1}\nresults: [{id: SV-01, verdict: %s}]\n' "$verdict" "$verdict" >"$3/report.yaml"
[ "$verdict" = pass ]
`
	if err := os.WriteFile(o.evenkeel, []byte(judge), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"quick-1", "quick-2", "quick-10", "quick-slow-1"} {
		dir := filepath.Join(o.out, o.target, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{filepath.Join(dir, "report.yaml"), dir + ".log"} {
			if err := os.WriteFile(file, []byte("verdict: pass\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	// A run that was cut short has no report.
	if err := os.MkdirAll(filepath.Join(o.out, o.target, "quick-3"), 0o755); err != nil {
		t.Fatal(err)
	}
	had := &results.Target{Target: "mine", Scenarios: []results.Scenario{
		{Name: "departed", Runs: 1, Clean: 1, Checks: "old"},
		{Name: "quick", Runs: 3, Clean: 3, Checks: "old", Seconds: []int{5, 6, 7}},
	}}
	status, err := again(t.Context(), o, had, []string{"departed", "quick"}, "new")
	if err != nil || status != exit.Fail {
		t.Fatalf("status %d, %v", status, err)
	}
	now, err := results.Load(filepath.Join(o.results, "results", "mine.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if p := now.Scenarios[0]; p.Checks != "old" || p.Runs != 1 {
		t.Errorf("a row of which no bundle was kept is now %+v", p)
	}
	p := now.Scenarios[1]
	if p.Checks != "new" || p.Runs != 3 || p.Clean != 2 || p.Outcome("SV-01").Verdicts[check.Fail] != 1 || len(p.Seconds) != 3 || p.Seconds[0] != 5 {
		t.Errorf("%+v", p)
	}
}
