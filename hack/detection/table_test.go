package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTable_ShowsGuidedBesideRandom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	for _, r := range []result{
		{Defect: "SV-06-a", Requirement: "SV-06", Found: true, Schedules: 3, Took: 4 * time.Minute, Others: []string{"SV-04"}},
		{Defect: "SV-06-a", Requirement: "SV-06", Random: true, Schedules: 20, Took: 26 * time.Minute},
		{Defect: "AD-01-b", Requirement: "AD-01", Found: true, Schedules: 1, Took: time.Minute},
	} {
		if err := add(path, []result{r}); err != nil {
			t.Fatal(err)
		}
	}
	results, err := read(path)
	if err != nil || len(results) != 3 {
		t.Fatalf("read %d results (%v)", len(results), err)
	}
	table := markdown(results, 20)
	for _, want := range []string{
		"| guided | 2 of 2 (34 % to 100 %) | 2.0 | 2.5 |", "| random | 0 of 1 (0 % to 79 %) | 20.0 | 26.0 |",
		"| `SV-06-a` | 3 | 4.0 | not in 20 | 26.0 | SV-04 |", "| `AD-01-b` | 1 | 1.0 | – | – | – |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	report := filepath.Join(t.TempDir(), "explore.md")
	if err := os.WriteFile(report, []byte("above\n"+begin+"old\n"+end+"\nbelow\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := publish(report, "new"); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(report); string(raw) != "above\n"+begin+"\nnew\n"+end+"\nbelow\n" {
		t.Errorf("wrote %q", raw)
	}
	if err := os.WriteFile(report, []byte("no marks"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := publish(report, "new"); err == nil {
		t.Error("a report without marks was written")
	}
}

func TestChosen(t *testing.T) {
	for _, tc := range []struct {
		only, id string
		want     bool
	}{{"*", "SV-06-a", true}, {"SV-06-a", "SV-06-a", true}, {"SV-06-a", "SV-06-ab", false}, {"CLE-*,SV-06-*", "SV-06-ab", true}, {"CLE-*", "SV-06-a", false}} {
		if got := chosen(tc.only, tc.id); got != tc.want {
			t.Errorf("%s of %s: %t", tc.id, tc.only, got)
		}
	}
}
