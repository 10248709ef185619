package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/exit"
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

func TestTheWorstRunDecides(t *testing.T) {
	p := played{Name: "quick"}
	p.add(reportOf(check.Pass, result("SV-06", check.Pass, 5), result("SV-01", check.Pass, 2)), 9)
	p.add(reportOf(check.Fail, result("SV-06", check.Fail, 7, "broken", "twice"), result("SV-01", check.Deviation, 2)), 11)
	var tg target
	tg.replace(p)
	tg.replace(played{Name: "other", Runs: 1, Results: []outcome{{ID: "SV-06", Verdicts: map[check.Verdict]int{check.Inconclusive: 1}, Observations: 1}}})

	worst, said, runs, observations := tg.verdict("SV-06")
	if worst != check.Fail || said != 1 || runs != 3 || observations != 13 {
		t.Errorf("SV-06: %s of %d of %d runs with %d observations, want fail of 1 of 3 with 13", worst, said, runs, observations)
	}
	if worst, _, _, _ := tg.verdict("SV-01"); worst != check.Deviation {
		t.Errorf("SV-01: %s, want the deviation, which a pass does not outweigh", worst)
	}
	if _, _, runs, _ := tg.verdict("SV-02"); runs != 0 {
		t.Errorf("SV-02 was judged %d times, want never", runs)
	}
	if got := tg.Scenarios[1]; got.Clean != 1 || got.Runs != 2 {
		t.Errorf("%d of %d runs were clean, want 1 of 2", got.Clean, got.Runs)
	}
	if got := tg.Scenarios[1].outcome("SV-06").Reason; got != "broken" {
		t.Errorf("reason %q, want the first one", got)
	}
}

// A scenario that does not list a requirement says nothing of it unless it shows a breach.
func TestAnUnlistedFailureIsInTheResults(t *testing.T) {
	quick, other := played{Name: "quick"}, played{Name: "other"}
	quick.add(reportOf(check.Pass, result("SV-01", check.Pass, 2)), 1)
	other.add(reportOf(check.Pass, result("SV-06", check.Pass, 4)), 1)
	broken := result("SV-01", check.Fail, 3)
	broken.Unlisted, broken.Violations = true, []check.Violation{{Message: "it was not so"}}
	other.add(reportOf(check.Fail, result("SV-06", check.Pass, 4), broken), 1)
	tg := target{Scenarios: []played{other, quick}}
	if cell := tg.cell("SV-01"); cell != "**FAIL** 1/2 (5)" {
		t.Errorf("the cell is %s", cell)
	}
	if o := other.outcome("SV-01"); !o.Unlisted || o.Reason != "it was not so" {
		t.Errorf("%+v", o)
	}
	if other.status() != exit.Fail || other.Clean != 1 {
		t.Errorf("status %d, %d clean runs", other.status(), other.Clean)
	}
}

func TestWhatOneRunLeavesOpenAnotherMayShow(t *testing.T) {
	p := played{Name: "quick"}
	p.add(reportOf(check.Inconclusive, result("SV-01", check.Inconclusive, 1), result("SV-02", check.Inconclusive, 1)), 1)
	p.add(reportOf(check.Pass, result("SV-01", check.Pass, 2), result("SV-02", check.Inconclusive, 1)), 1)
	tg := target{Scenarios: []played{p}}
	for id, want := range map[requirement.ID]string{"SV-01": "pass 1/2 (3)", "SV-02": "inconclusive (2)"} {
		if cell := tg.cell(id); cell != want {
			t.Errorf("%s: %s, want %s", id, cell, want)
		}
	}
}

func TestWhatWasNotJudgedIsOpen(t *testing.T) {
	p := played{Name: "quick"}
	rep := reportOf(check.Inconclusive, result("SV-01", check.Pass, 2))
	rep.NotJudged = []requirement.ID{"SV-02"}
	p.add(rep, 1)
	tg := target{Scenarios: []played{p}}
	if worst, _, _, _ := tg.verdict("SV-02"); worst != check.Inconclusive {
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
	var tg target
	first := tg.begin("quick", "checks", true)
	first.add(rep("v1", check.Pass), 5)
	tg.replace(*first)
	for _, tc := range []struct {
		checks string
		keep   bool
		want   int
	}{{"checks", true, 1}, {"checks", false, 0}, {"stricter checks", true, 0}, {"", true, 0}} {
		if p := tg.begin("quick", tc.checks, tc.keep); p.Runs != tc.want || p.earlier != tc.want {
			t.Errorf("%+v: begins with %d runs, %d of them earlier", tc, p.Runs, p.earlier)
		}
	}
	next := tg.begin("quick", "checks", true)
	next.add(rep("v2", check.Pass), 6)
	next.add(rep("v2", check.Pass), 7)
	tg.replace(*next)
	if got := tg.Scenarios[0]; got.Runs != 3 || got.Clean != 3 || got.Harness != "v1, v2" || len(tg.Scenarios) != 1 || got.outcome("SV-01").Observations != 3 {
		t.Errorf("%+v", tg.Scenarios)
	}
}

func TestATargetIsOfOneControlPlane(t *testing.T) {
	there := target{Topology: "kind.yaml", Release: "v1"}
	for _, tc := range []struct {
		name              string
		before            target
		topology, release string
		want              target
		expectError       string
	}{
		{"a new one of the default", target{}, "", "", target{Topology: "clusters/local-3.yaml"}, ""},
		{"a new one that is named", target{}, "kind.yaml", "v1", there, ""},
		{"as it is", there, "", "", there, ""},
		{"the same is named", there, "kind.yaml", "v1", there, ""},
		{"another topology", there, "local.yaml", "", there, "its rows are of kind.yaml and not of local.yaml"},
		{"another release", there, "", "v2", there, `its rows begin at release "v1" and not at "v2"`},
		{"a release where the topology's was meant", target{Topology: "kind.yaml"}, "", "v1", target{Topology: "kind.yaml"}, `release ""`},
	} {
		got, o := tc.before, options{topology: tc.topology, release: tc.release}
		err := got.settle(&o)
		if got.Topology != tc.want.Topology || got.Release != tc.want.Release {
			t.Errorf("%s: the target says %s %q", tc.name, got.Topology, got.Release)
		}
		if tc.expectError != "" {
			if err == nil || !strings.Contains(err.Error(), tc.expectError) {
				t.Errorf("%s: error = %v, want one with %q", tc.name, err, tc.expectError)
			}
		} else if err != nil || o.topology != got.Topology || o.release != got.Release {
			t.Errorf("%s: would be played on %s %q, %v", tc.name, o.topology, o.release, err)
		}
	}
}

func TestStatusIsOfTheWorstRun(t *testing.T) {
	p := played{Name: "quick"}
	for _, tc := range []struct {
		verdict check.Verdict
		want    int
	}{{check.Pass, exit.Pass}, {check.Inconclusive, exit.Inconclusive}, {check.Pass, exit.Inconclusive}, {check.Fail, exit.Fail}, {check.Inconclusive, exit.Fail}} {
		p.add(reportOf(tc.verdict, result("SV-01", tc.verdict, 1)), 1)
		if got := p.status(); got != tc.want {
			t.Errorf("after a run that came to %s: %d, want %d", tc.verdict, got, tc.want)
		}
	}
}

func TestTableOfTargets(t *testing.T) {
	a := &target{Target: "ours"}
	p := played{Name: "quick"}
	p.add(reportOf(check.Pass, result("SV-01", check.Pass, 135)), 5)
	a.replace(p)
	b := &target{Target: "theirs"}
	q := played{Name: "quick"}
	q.add(reportOf(check.Fail, result("SV-01", check.Fail, 20, "broken")), 50)
	q.add(reportOf(check.Pass, result("SV-01", check.Pass, 20)), 60)
	b.replace(q)
	b.replace(played{Name: "storm", Refused: "not here"})
	text := markdown([]*target{a, b})
	for _, line := range []string{
		"| requirement | level | ours | theirs |",
		"| SV-01 | MUST | pass (135) | **FAIL** 1/2 (40) |",
		"| SV-02 | MUST | – | – |",
		"| scenario | ours | theirs |",
		"| quick | 1/1, 5–5 s | 1/2, 50–60 s |",
		"| storm | – | refused |",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

func TestResultsSurviveBeingWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results", "ours.yaml")
	empty, err := load(file)
	if err != nil || len(empty.Scenarios) != 0 {
		t.Fatalf("a file that is not there: %v, %v", empty, err)
	}
	p := played{Name: "quick"}
	p.add(reportOf(check.Pass, result("SV-01", check.Pass, 3)), 5)
	empty.replace(p)
	if err := empty.save(file); err != nil {
		t.Fatal(err)
	}
	again, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	if worst, _, runs, seen := again.verdict("SV-01"); worst != check.Pass || runs != 1 || seen != 3 {
		t.Errorf("read %s of %d runs with %d observations", worst, runs, seen)
	}
	if err := os.WriteFile(file, []byte("verdicts: none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(file); err == nil {
		t.Error("a file of something else was read")
	}
}

func TestWhatIsBrokenOutweighsWhatIsOpen(t *testing.T) {
	for _, tc := range []struct{ a, b, want int }{
		{exit.Pass, exit.Pass, exit.Pass},
		{exit.Inconclusive, exit.Fail, exit.Fail},
		{exit.Fail, exit.Inconclusive, exit.Fail},
		{exit.Pass, exit.Inconclusive, exit.Inconclusive},
	} {
		if got := worse(tc.a, tc.b); got != tc.want {
			t.Errorf("of %d and %d: %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
