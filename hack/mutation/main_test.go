package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	harness "github.com/evenkeel/evenkeel/pkg/run"
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
		{"those that begin so", options{only: "SV-06-*"}, "a b c d"},
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

// A sample plays a defect with the scenario that is cheapest at that commit. If the published
// proof used another scenario, it is unknown whether the cheapest one shows the defect, and CI
// would be the first to find out.
func TestPublishedProofsAreOfTheScenariosThatArePlayed(t *testing.T) {
	known, err := load("../../reports")
	if err != nil {
		t.Fatal(err)
	}
	if len(known.Defects) == 0 {
		t.Fatal("reports has no proofs")
	}
	for _, r := range known.Defects {
		file, found := harness.Cheapest([]string{string(r.Requirement)})
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if own, ok := scenarios[r.Defect]; ok {
			name = own
		}
		if !found || r.Scenario != name {
			t.Errorf("%s was found with %s, and is played with %s now: run make mutation ONLY=%s RESULTS=reports", r.Defect, r.Scenario, name, r.Defect)
		}
	}
}

func TestProven_LeavesOutDefectsWithoutAPublishedProof(t *testing.T) {
	all := defects(3)
	r := &record{Defects: []row{{Defect: all[0].ID}, {Defect: all[1].ID, Fault: "it is not red"}}}
	if got := r.proven(all); len(got) != 1 || got[0].ID != all[0].ID {
		t.Errorf("%v, want %s alone", got, all[0].ID)
	}
	if got := (&record{}).proven(all); len(got) != 3 {
		t.Errorf("without results %v are proven, want all", got)
	}
}

func TestSamplesLeaveOutWhatTakesLong(t *testing.T) {
	// CLE-15 needs five quiet minutes, and SVM-16 a hundred thousand objects.
	all := append(defects(3), cluster.Defect{ID: "CLE-15-x", Requirement: "CLE-15"}, cluster.Defect{ID: "SVM-16-x", Requirement: "SVM-16"})
	for i := range 8 {
		if got := choose(all, options{sample: 2, commit: fmt.Sprint(i)}); slices.ContainsFunc(got, long) {
			t.Fatalf("commit %d plays %v", i, got)
		}
	}
	if got := choose(all, options{}); len(got) != len(all) {
		t.Errorf("without a sample it plays %v", got)
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
		{"open", "SV-06-a", result("SV-06", check.Inconclusive), 2, "SV-06 stayed open (exit status 2)"},
		{"another is red", "SV-06-a", result("SV-07", check.Fail), 1, "SV-06 is not red (exit status 1)"},
		{"red and a green status", "SV-06-a", result("SV-06", check.Fail), 0, "exit status 0 instead of 1"},
		{"red without the defect", "", result("SV-06", check.Fail), 1, `a run with the defect ""`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := row{Defect: "SV-06-a", Requirement: "SV-06"}
			r.weigh(&report.ConformanceReport{Defect: tc.defect, Results: []check.Result{tc.result}}, tc.code)
			if (r.Fault == "") != (tc.fault == "") || !strings.Contains(r.Fault, tc.fault) {
				t.Errorf("fault %q, want %q", r.Fault, tc.fault)
			}
		})
	}
}

func TestARecordKeepsTheLastOfEachDefect(t *testing.T) {
	folder := t.TempDir()
	var r record
	r.replace(row{Defect: "SV-06-x", Requirement: "SV-06", Red: []requirement.ID{"SV-06", "SV-11"}, Scenario: "quick", Runs: 1, Seconds: 12})
	r.replace(row{Defect: "SV-01-y", Requirement: "SV-01", Fault: "SV-01 is not red", Scenario: "quick", Runs: 2, Seconds: 9})
	r.replace(row{Defect: "SV-01-y", Requirement: "SV-01", Red: []requirement.ID{"SV-01"}, Near: "departedGoes 30s, planted 32s", Scenario: "quick", Checks: "0123456789", Runs: 1, Seconds: 3})
	r.replace(row{Defect: "SV-02-z", Requirement: "SV-02", Fault: "no report", Runs: 1})
	r.replace(row{Defect: "SV-03-gone", Requirement: "SV-03", Runs: 1})
	r.keepOnly([]cluster.Defect{{ID: "SV-06-x"}, {ID: "SV-01-y"}, {ID: "SV-02-z"}})
	if err := r.save(folder); err != nil {
		t.Fatal(err)
	}
	again, err := load(folder)
	if err != nil {
		t.Fatal(err)
	}
	if !again.found("SV-01-y", "0123456789") || again.found("SV-01-y", "9876543210") || again.found("SV-06-x", "0123456789") ||
		again.found("SV-02-z", "") || again.found("SV-03-gone", "") {
		t.Errorf("read %+v", again)
	}
	table, err := os.ReadFile(filepath.Join(folder, tableFile))
	if err != nil {
		t.Fatal(err)
	}
	want := `| SV-01-y | SV-01 | found | departedGoes 30s, planted 32s |  | quick | 1 | 3 | 0123456 |
| SV-02-z | SV-02 | **missed**: no report |  |  |  | 1 | 0 |  |
| SV-06-x | SV-06 | found |  | SV-11 | quick | 1 | 12 |  |

## Why others turn red

| defect | also red | because |
|---|---|---|
| SV-06-x | SV-11 | **not explained yet** |

## Bounds that no defect can break by little

| requirement | bound | because |
|---|---|---|
%s
No defect turns these red by themselves: SV-02, SV-06.
`
	var bounds strings.Builder
	for _, u := range unplanted() {
		fmt.Fprintf(&bounds, "| %s | %s | %s |\n", u.requirement, u.bound, u.because)
	}
	want = fmt.Sprintf(want, bounds.String())
	if _, rows, _ := strings.Cut(string(table), "|---|---|---|---|---|---|---|---|\n"); rows != want {
		t.Errorf("got\n%swant\n%s", rows, want)
	}
	if err := os.WriteFile(filepath.Join(folder, recordFile), []byte("verdicts: none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(folder); err == nil {
		t.Error("a file of something else was read")
	}
}

// TestPlay plays programs that only say what a refplane and an evenkeel would.
func TestPlay(t *testing.T) {
	const list = `echo '[{"id":"SV-06-x","requirement":"SV-06"},{"id":"SV-99-y","requirement":"SV-99"}]'`
	red := `mkdir -p "$3" && printf 'defect: SV-06-x\nresults: [{id: SV-06, verdict: fail}]\n' >"$3/report.yaml"; exit 1`
	for _, tc := range []struct{ name, refplane, evenkeel, only, expectError string }{
		{name: "found", refplane: list, evenkeel: red},
		{name: "not found", refplane: list, evenkeel: strings.Replace(red, "fail", "pass", 1), expectError: "1 of 1 defects were not found"},
		{name: "without a report", refplane: list, evenkeel: "exit 3", expectError: "1 of 1 defects were not found"},
		{name: "an unreadable report", refplane: list, evenkeel: `mkdir -p "$3" && echo '- x' >"$3/report.yaml"; exit 1`, expectError: "1 of 1 defects were not found"},
		{name: "no such defect", refplane: list, evenkeel: red, only: "SV-06-z", expectError: "there is no defect to play"},
		{name: "no defects that anything judges", refplane: "echo '[]'", evenkeel: red, expectError: "there is no defect to play"},
		{name: "a refplane that fails", refplane: "exit 1", evenkeel: red, expectError: "list the defects with"},
		{name: "a refplane that babbles", refplane: "echo hello", evenkeel: red, expectError: "read the list of defects"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir("../..")
			o := options{refplane: script(t, dir, "refplane", tc.refplane), evenkeel: script(t, dir, "evenkeel", tc.evenkeel), out: filepath.Join(dir, "out"), only: tc.only}
			err := mutate(t.Context(), o)
			if tc.expectError == "" {
				if err != nil {
					t.Fatal(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tc.expectError) {
				t.Fatalf("error %v, want %q", err, tc.expectError)
			}
			if tc.name == "found" {
				if table, err := os.ReadFile(filepath.Join(o.out, tableFile)); err != nil || !strings.Contains(string(table), "| SV-06-x | SV-06 | found |") {
					t.Errorf("the table is %s, %v", table, err)
				}
			}
		})
	}
}

// What a starved machine left open is played again, but not for ever, nor if it is only judged
// again.
func TestRun_AStarvedRunIsNoTry(t *testing.T) {
	const words = "it took 11s; the machine was starved for 9s of that time, which may be why"
	if !law.BlamesStarvation(words) {
		t.Fatal("these are not the words of the laws")
	}
	for _, tc := range []struct {
		name                   string
		starved, open, planned int
		again, found           bool
		runs                   int
	}{
		{name: "starved once", starved: 1, found: true, runs: 2},
		{name: "starved twice", starved: 2, found: true, runs: 3},
		{name: "starved on and on", starved: 9, runs: 3},
		{name: "open for another reason", open: 1, runs: 1},
		{name: "open for another reason, two tries", open: 1, planned: 2, found: true, runs: 2},
		{name: "starved, then open", starved: 1, open: 1, runs: 2},
		{name: "judged again", starved: 1, again: true, runs: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			out, count := filepath.Join(dir, "out"), filepath.Join(dir, "count")
			bundle := filepath.Join(out, "SV-06-x")
			if err := os.MkdirAll(bundle, 0o700); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(`n=$(cat %[1]s 2>/dev/null || echo 0); echo $((n+1)) >%[1]s; mkdir -p %[2]s; exec >%[2]s/report.yaml
echo 'defect: SV-06-x'
if [ $n -lt %[3]d ]; then echo 'results: [{id: SV-06, verdict: inconclusive, reasons: ["%[5]s"]}]'; exit 2; fi
if [ $n -lt %[4]d ]; then echo 'results: [{id: SV-06, verdict: inconclusive, reasons: [too little]}]'; exit 2; fi
echo 'results: [{id: SV-06, verdict: fail}]'; exit 1`, count, bundle, tc.starved, tc.starved+tc.open, words)
			o := options{evenkeel: script(t, dir, "evenkeel", text), out: out, tries: tc.planned, again: tc.again}
			r := run(t.Context(), o, cluster.Defect{ID: "SV-06-x", Requirement: "SV-06"})
			if (r.Fault == "") != tc.found || r.Runs != tc.runs {
				t.Errorf("%d runs and %q, want %d and found %t", r.Runs, r.Fault, tc.runs, tc.found)
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

func TestExplanationsAreOfOtherRequirements(t *testing.T) {
	for defect, reasons := range explained {
		for id, reason := range reasons {
			if _, known := requirement.Lookup(id); !known || strings.HasPrefix(defect, string(id)+"-") || !strings.HasSuffix(reason, ".") {
				t.Errorf("%s, %s: %q", defect, id, reason)
			}
			if got := (row{Defect: defect}).because(id); got != reason {
				t.Errorf("%s, %s: %q", defect, id, got)
			}
		}
	}
}
