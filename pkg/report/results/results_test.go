package results

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func reportOf(verdict check.Verdict, results ...check.Result) *report.ConformanceReport {
	return &report.ConformanceReport{Harness: report.Harness{Version: "v0"}, Verdict: verdict, Results: results}
}

func result(id requirement.ID, v check.Verdict, seen int64, reasons ...string) check.Result {
	return check.Result{ID: id, Verdict: v, Reasons: reasons, Observations: []check.Observation{{What: "looks", Seen: seen, Need: 1}}, Obligations: &law.Counts{Met: seen}}
}

// told is the verdict of a requirement, by how many of the runs, and the observations.
func told(t *Target, id requirement.ID) string {
	verdict, said, runs, observations := t.Verdict(id)
	return fmt.Sprintf("%s %d/%d (%d)", verdict, said, runs, observations)
}

func TestTheWorstRunDecides(t *testing.T) {
	p := Scenario{Name: "quick"}
	p.Add(reportOf(check.Pass, result("SV-06", check.Pass, 5), result("SV-01", check.Pass, 2)), 9)
	p.Add(reportOf(check.Fail, result("SV-06", check.Fail, 7, "broken", "twice"), result("SV-01", check.Deviation, 2)), 11)
	var tg Target
	tg.Replace(p)
	tg.Replace(Scenario{Name: "other", Runs: 1, Results: []Outcome{{ID: "SV-06", Verdicts: map[check.Verdict]int{check.Inconclusive: 1}, Observations: 1}}})

	worst, said, runs, observations := tg.Verdict("SV-06")
	if worst != check.Fail || said != 1 || runs != 3 || observations != 13 {
		t.Errorf("SV-06: %s of %d of %d runs with %d observations, want fail of 1 of 3 with 13", worst, said, runs, observations)
	}
	if worst, _, _, _ := tg.Verdict("SV-01"); worst != check.Deviation {
		t.Errorf("SV-01: %s, want the deviation, which a pass does not outweigh", worst)
	}
	if _, _, runs, _ := tg.Verdict("SV-02"); runs != 0 {
		t.Errorf("SV-02 was judged %d times, want never", runs)
	}
	if got := tg.Scenarios[1]; got.Clean != 1 || got.Runs != 2 {
		t.Errorf("%d of %d runs were clean, want 1 of 2", got.Clean, got.Runs)
	}
	if got := tg.Scenarios[1].Outcome("SV-06").Reason; got != "broken" {
		t.Errorf("reason %q, want the first one", got)
	}
}

// A scenario that does not list a requirement says nothing of it unless it shows a breach.
func TestAnUnlistedFailureIsInTheResults(t *testing.T) {
	quick, other := Scenario{Name: "quick"}, Scenario{Name: "other"}
	quick.Add(reportOf(check.Pass, result("SV-01", check.Pass, 2)), 1)
	other.Add(reportOf(check.Pass, result("SV-06", check.Pass, 4)), 1)
	broken := result("SV-01", check.Fail, 3)
	broken.Unlisted, broken.Violations = true, []check.Violation{{Message: "it was not so"}}
	other.Add(reportOf(check.Fail, result("SV-06", check.Pass, 4), broken), 1)
	tg := Target{Scenarios: []Scenario{other, quick}}
	if cell := told(&tg, "SV-01"); cell != "fail 1/2 (5)" {
		t.Errorf("the cell is %s", cell)
	}
	if o := other.Outcome("SV-01"); !o.Unlisted || o.Reason != "it was not so" {
		t.Errorf("%+v", o)
	}
	if other.Clean != 1 {
		t.Errorf("%d clean runs", other.Clean)
	}
}

func TestWhatOneRunLeavesOpenAnotherMayShow(t *testing.T) {
	p := Scenario{Name: "quick"}
	p.Add(reportOf(check.Inconclusive, result("SV-01", check.Inconclusive, 1), result("SV-02", check.Inconclusive, 1)), 1)
	p.Add(reportOf(check.Pass, result("SV-01", check.Pass, 2), result("SV-02", check.Inconclusive, 1)), 1)
	tg := Target{Scenarios: []Scenario{p}}
	for id, want := range map[requirement.ID]string{"SV-01": "pass 1/2 (3)", "SV-02": "inconclusive 2/2 (2)"} {
		if cell := told(&tg, id); cell != want {
			t.Errorf("%s: %s, want %s", id, cell, want)
		}
	}
}

func TestWhatWasNotJudgedIsOpen(t *testing.T) {
	p := Scenario{Name: "quick"}
	rep := reportOf(check.Inconclusive, result("SV-01", check.Pass, 2))
	rep.NotJudged = []requirement.ID{"SV-02"}
	p.Add(rep, 1)
	tg := Target{Scenarios: []Scenario{p}}
	if worst, _, _, _ := tg.Verdict("SV-02"); worst != check.Inconclusive {
		t.Errorf("SV-02: %q, want inconclusive", worst)
	}
	if p.Clean != 0 {
		t.Error("the run counts as clean")
	}
}

func TestRunsAreAddedToThoseOfTheSameChecks(t *testing.T) {
	rep := func(version string, v check.Verdict) *report.ConformanceReport {
		r := reportOf(v, result("SV-01", v, 1))
		r.Harness = report.Harness{Version: version}
		return r
	}
	var tg Target
	first := tg.Begin("quick", "checks", true)
	first.Add(rep("v1", check.Pass), 5)
	tg.Replace(*first)
	for _, tc := range []struct {
		checks string
		keep   bool
		want   int
	}{{"checks", true, 1}, {"checks", false, 0}, {"stricter checks", true, 0}, {"", true, 0}} {
		if p := tg.Begin("quick", tc.checks, tc.keep); p.Runs != tc.want || p.Earlier != tc.want {
			t.Errorf("%+v: begins with %d runs, %d of them earlier", tc, p.Runs, p.Earlier)
		}
	}
	next := tg.Begin("quick", "checks", true)
	next.Add(rep("v2", check.Pass), 6)
	next.Add(rep("v2", check.Pass), 7)
	tg.Replace(*next)
	if got := tg.Scenarios[0]; got.Runs != 3 || got.Clean != 3 || got.Harness != "v1, v2" || len(tg.Scenarios) != 1 || got.Outcome("SV-01").Observations != 3 {
		t.Errorf("%+v", tg.Scenarios)
	}
}

func TestResultsSurviveBeingWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results", "ours.yaml")
	empty, err := Load(file)
	if err != nil || len(empty.Scenarios) != 0 {
		t.Fatalf("a file that is not there: %v, %v", empty, err)
	}
	p := Scenario{Name: "quick"}
	p.Add(reportOf(check.Pass, result("SV-01", check.Pass, 3)), 5)
	empty.Replace(p)
	if err := empty.Save(file); err != nil {
		t.Fatal(err)
	}
	again, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if worst, _, runs, seen := again.Verdict("SV-01"); worst != check.Pass || runs != 1 || seen != 3 {
		t.Errorf("read %s of %d runs with %d observations", worst, runs, seen)
	}
	if err := os.WriteFile(file, []byte("verdicts: none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil {
		t.Error("a file of something else was read")
	}
}
