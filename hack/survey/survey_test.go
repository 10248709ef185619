package main

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/report/results"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func reportOf(verdict check.Verdict, results ...check.Result) *report.ConformanceReport {
	return &report.ConformanceReport{Harness: report.Harness{Version: "v0"}, Verdict: verdict, Results: results}
}

func result(id requirement.ID, v check.Verdict, seen int64, reasons ...string) check.Result {
	return check.Result{ID: id, Verdict: v, Reasons: reasons, Observations: []check.Observation{{What: "looks", Seen: seen, Need: 1}}, Obligations: &law.Counts{Met: seen}}
}

func TestATargetIsOfOneControlPlane(t *testing.T) {
	there := results.Target{Topology: "kind.yaml", Release: "v1"}
	for _, tc := range []struct {
		name              string
		before            results.Target
		topology, release string
		want              results.Target
		expectError       string
	}{
		{"a new one of the default", results.Target{}, "", "", results.Target{Topology: "clusters/local-3.yaml"}, ""},
		{"a new one that is named", results.Target{}, "kind.yaml", "v1", there, ""},
		{"as it is", there, "", "", there, ""},
		{"the same is named", there, "kind.yaml", "v1", there, ""},
		{"another topology", there, "local.yaml", "", there, "its rows are of kind.yaml and not of local.yaml"},
		{"another release", there, "", "v2", there, `its rows begin at release "v1" and not at "v2"`},
		{"a release where the topology's was meant", results.Target{Topology: "kind.yaml"}, "", "v1", results.Target{Topology: "kind.yaml"}, `release ""`},
	} {
		got, o := tc.before, options{topology: tc.topology, release: tc.release}
		err := settle(&got, &o)
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
	p := results.Scenario{Name: "quick"}
	for _, tc := range []struct {
		verdict check.Verdict
		want    int
	}{{check.Pass, exit.Pass}, {check.Inconclusive, exit.Inconclusive}, {check.Pass, exit.Inconclusive}, {check.Fail, exit.Fail}, {check.Inconclusive, exit.Fail}} {
		p.Add(reportOf(tc.verdict, result("SV-01", tc.verdict, 1)), 1)
		if got := status(&p); got != tc.want {
			t.Errorf("after a run that came to %s: %d, want %d", tc.verdict, got, tc.want)
		}
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
