package report

import (
	"bytes"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// profile has a core of two and an extended part of one.
var profile = requirement.Profile{Name: "p", Requirements: []requirement.ID{"SV-01", "SV-06", extended}}

// extended is a row of the catalog that is not core.
var extended = func() requirement.ID {
	all := requirement.All()
	return all[slices.IndexFunc(all, func(r requirement.Requirement) bool { return r.Level == requirement.Should })].ID
}()

func TestNewWeighsProfiles(t *testing.T) {
	for _, tc := range []struct {
		name string
		// verdicts of SV-01, SV-06 and the extended row; empty ones have no result.
		verdicts       [3]check.Verdict
		asked          []string
		verdict        check.Verdict
		core, extended Outcome
		notJudged      int
	}{
		{"all pass", [3]check.Verdict{"pass", "pass", "pass"}, nil, check.Pass, Success, Success, 0},
		{"core fails", [3]check.Verdict{"pass", "fail", "pass"}, nil, check.Fail, Failure, Success, 0},
		{"fail outweighs inconclusive, in any order", [3]check.Verdict{"fail", "inconclusive", "pass"}, nil, check.Fail, Failure, Success, 0},
		{"extended fails", [3]check.Verdict{"pass", "pass", "fail"}, nil, check.Fail, Success, Failure, 0},
		{"core inconclusive", [3]check.Verdict{"pass", "inconclusive", "pass"}, nil, check.Inconclusive, Partial, Success, 0},
		{"core skipped", [3]check.Verdict{"pass", "skipped", "pass"}, nil, check.Inconclusive, Partial, Success, 0},
		{"extended skipped", [3]check.Verdict{"pass", "pass", "skipped"}, nil, check.Inconclusive, Success, Partial, 0},
		{"part not applicable", [3]check.Verdict{"pass", "not-applicable", "not-applicable"}, nil, check.Pass, Partial, Partial, 0},
		{"core deviates", [3]check.Verdict{"pass", "deviation", "pass"}, nil, check.Pass, Success, Success, 0},
		{"core deviates and another fails", [3]check.Verdict{"fail", "deviation", "deviation"}, nil, check.Fail, Failure, Success, 0},
		{"nothing but deviations", [3]check.Verdict{"deviation", "deviation", "deviation"}, nil, check.Inconclusive, Partial, Success, 0},
		{"nothing applicable", [3]check.Verdict{"not-applicable", "not-applicable", "not-applicable"}, nil, check.Inconclusive, Partial, Partial, 0},
		{"unknown verdict", [3]check.Verdict{"pass", "splendid", "pass"}, nil, check.Inconclusive, Partial, Success, 0},
		{"core missing though asked", [3]check.Verdict{"pass", "", "pass"}, nil, check.Inconclusive, Partial, Success, 1},
		{"core missing and another fails", [3]check.Verdict{"fail", "", "pass"}, nil, check.Fail, Failure, Success, 1},
		{"extended missing though asked", [3]check.Verdict{"pass", "pass", ""}, nil, check.Inconclusive, Success, Partial, 1},
		{"focus", [3]check.Verdict{"", "pass", ""}, []string{"SV-06"}, check.Pass, Partial, Partial, 0},
		{"focus that could not be met", [3]check.Verdict{"", "pass", ""}, []string{"SV-01", "SV-06"}, check.Inconclusive, Partial, Partial, 1},
		{"no results", [3]check.Verdict{}, nil, check.Inconclusive, Partial, Partial, 3},
		{"no results of a focus", [3]check.Verdict{}, []string{"SV-06"}, check.Inconclusive, Partial, Partial, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := &check.Judgement{Header: history.Header{Asked: tc.asked}}
			for i, v := range tc.verdicts {
				if v != "" {
					j.Results = append(j.Results, check.Result{ID: profile.Requirements[i], Verdict: v})
				}
			}
			r := New(listAll(j), []requirement.Profile{profile})
			if r.Verdict != tc.verdict {
				t.Errorf("verdict %s, want %s", r.Verdict, tc.verdict)
			}
			if p := r.Profiles[0]; p.Core.Outcome != tc.core || p.Extended.Outcome != tc.extended {
				t.Errorf("core %s, extended %s, want %s and %s", p.Core.Outcome, p.Extended.Outcome, tc.core, tc.extended)
			}
			if len(r.NotJudged) != tc.notJudged {
				t.Errorf("not judged: %v, want %d", r.NotJudged, tc.notJudged)
			}
			red := redCases(t, r)
			if green := red == 0; green != (r.Verdict == check.Pass) {
				t.Errorf("the verdict is %s, and JUnit has %d red cases", r.Verdict, red)
			}
		})
	}
}

func TestNewWithoutProfiles(t *testing.T) {
	if r := New(&check.Judgement{}, nil); r.Verdict != check.Inconclusive || redCases(t, r) == 0 {
		t.Errorf("nothing at all is %s", r.Verdict)
	}
}

func TestGolden(t *testing.T) {
	for _, tc := range []struct {
		name string
		r    *ConformanceReport
	}{
		{"mixed", New(mixed(), []requirement.Profile{profile})},
		{"doubtful", New(doubtful(), []requirement.Profile{profile})},
		{"empty", New(&check.Judgement{Header: header()}, []requirement.Profile{profile})},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// They change with the catalog and the laws, and the files here do not.
			tc.r.Harness.Suite, tc.r.Harness.Schema = "of the suite", "of the schema"
			var table bytes.Buffer
			if err := tc.r.Table(&table, 0); err != nil {
				t.Fatal(err)
			}
			golden(t, tc.name+".txt", table.Bytes())
			junit, err := tc.r.JUnit()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, tc.name+".xml", junit)
			report, err := tc.r.YAML()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, tc.name+".yaml", report)
		})
	}
}

// On a terminal the table has a line of its own for each requirement; elsewhere the promise is
// whole.
func TestTable_CutsPromisesToTheWidth(t *testing.T) {
	for width, want := range map[int]string{
		0:  "SV-01   core   PASS                      0  one two three",
		80: "SV-01   core   PASS                      0  one two three",
		57: "SV-01   core   PASS                      0  one two three",
		56: "SV-01   core   PASS                      0  one two…",
		53: "SV-01   core   PASS                      0  one two…",
		52: "SV-01   core   PASS                      0  one two…",
		51: "SV-01   core   PASS                      0  one…",
	} {
		var out strings.Builder
		r := &ConformanceReport{Results: []check.Result{{ID: "SV-01", Level: "core", Verdict: check.Pass, Promise: "one two three"}}}
		if err := r.Table(&out, width); err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(out.String(), "\n")[1]; got != want {
			t.Errorf("width %d: got\n%q, want\n%q", width, got, want)
		}
	}
}

func TestReports_SameJudgementGivesSameBytes(t *testing.T) {
	write := func() string {
		r := New(mixed(), []requirement.Profile{profile})
		var out bytes.Buffer
		for _, make := range []func() ([]byte, error){r.YAML, r.JUnit} {
			data, err := make()
			if err != nil {
				t.Fatal(err)
			}
			out.Write(data)
		}
		return out.String()
	}
	first := write()
	for range 20 { // maps are in another order each time
		if write() != first {
			t.Fatal("two reports of one judgement differ")
		}
	}
}

func TestJUnitSurvivesAnything(t *testing.T) {
	nasty := "<b>&]]> \x00\x1b[31m \xff \"'\n"
	j := &check.Judgement{
		Header:  history.Header{Scenario: nasty, Asked: []string{nasty, "SV-06"}},
		Results: []check.Result{{ID: "SV-06", Promise: nasty, Verdict: check.Fail, ViolationCount: 1, Violations: []check.Violation{{Message: nasty}}}},
	}
	if red := redCases(t, New(listAll(j), nil)); red != 2 {
		t.Errorf("%d red cases, want the failure and the one not judged", red)
	}
}

// Whatever a server under test has said, there is a report, and it has it.
func TestYAMLSurvivesAnything(t *testing.T) {
	nasty := "<b>&: # \x00\x1b[31m \x7f \u0085 \u009f \u2028 \ufeff \ufffe \U000e0001 \U0001f600 é \"'\n"
	r := New(&check.Judgement{Header: history.Header{Scenario: nasty}, Doubts: []string{nasty}}, nil)
	raw, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
	read := &ConformanceReport{}
	if err := yaml.UnmarshalStrict(raw, read); err != nil || read.Scenario != nasty || read.Doubts[0] != nasty {
		t.Errorf("%q, %v", read.Scenario, err)
	}
}

// A profile claims all of its requirements: a requirement that could not be tested is not
// shown to hold, even if the verdict of the run is pass.
func TestNew_ProfileWithWhatIsNotApplicableIsPartial(t *testing.T) {
	for verdict, want := range map[check.Verdict]Outcome{check.Pass: Success, check.NotApplicable: Partial, check.Fail: Failure} {
		j := &check.Judgement{Results: []check.Result{
			{ID: profile.Requirements[0], Verdict: check.Pass}, {ID: profile.Requirements[1], Verdict: verdict}, {ID: profile.Requirements[2], Verdict: check.Pass},
		}}
		r := New(listAll(j), []requirement.Profile{profile})
		if got := r.Profiles[0].Core.Outcome; got != want {
			t.Errorf("with %s the core is %s, want %s", verdict, got, want)
		}
		if failed := r.Verdict != check.Pass; failed != (verdict == check.Fail) {
			t.Errorf("with %s the verdict is %s", verdict, r.Verdict)
		}
	}
}

func TestTable_ReturnsWriteErrors(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full")
	}
	defer full.Close()
	if err := New(mixed(), nil).Table(full, 0); err == nil {
		t.Error("Table returned no error on a full disk")
	}
}

// --- Helpers ---

func header() history.Header {
	return history.Header{
		Run: "quick-1", Seed: 1<<53 + 1, Started: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), Harness: "test",
		Scenario: "quick", Provider: "local", Distribution: "reference",
		Members:        []history.MemberHeader{{Name: "cp1", ServerID: "apiserver-cp1", Release: "1.2"}},
		Profiles:       []string{"p"},
		Implementation: &history.Implementation{Organization: "Example, Inc.", Project: "exampleplane", URL: "https://example.org/plane", Version: "1.2", Contact: []string{"https://example.org/help"}},
	}
}

// listAll has the scenario of a judgement list all requirements with a result.
func listAll(j *check.Judgement) *check.Judgement {
	for _, res := range j.Results {
		j.Header.Judges = append(j.Header.Judges, string(res.ID))
	}
	return j
}

// mixed has a verdict of each kind.
func mixed() *check.Judgement {
	four := []check.Violation{
		{Message: "cp1 said A.", Evidence: []int64{9, 3, 9}}, {Message: "cp2 said B."}, {Message: "cp3 said C.", Evidence: []int64{12}},
		{Message: "cp1 said D.", Evidence: []int64{40}},
	}
	return listAll(&check.Judgement{
		Header: header(), Events: 120, Complete: true,
		Results: []check.Result{
			{ID: "SV-01", Level: requirement.Must, Promise: "First.", Verdict: check.Pass, Observations: []check.Observation{
				{What: "servers", Seen: 3, Need: 1}, {What: "entries", Seen: 39, Need: 10}}, Obligations: &law.Counts{Met: 42}},
			{ID: "SV-06", Level: requirement.Must, Promise: "Second.", Verdict: check.Fail, Violations: four, ViolationCount: 25,
				Observations: []check.Observation{{What: "agreements", Seen: 50, Need: 5}}, Obligations: &law.Counts{Met: 25, Broken: 25}},
			{ID: "SV-07", Level: requirement.Must, Promise: "Third.", Verdict: check.Inconclusive, Reasons: []string{"saw 0 joins, and needs at least 3"},
				Observations: []check.Observation{{What: "joins", Need: 3}}},
			{ID: "SV-08", Level: requirement.Must, Promise: "Fourth.", Verdict: check.Skipped, Reasons: []string{"no check for it is built in yet"}},
			{ID: "SV-09", Level: requirement.Must, Promise: "Fifth.", Verdict: check.NotApplicable, Reasons: []string{"there is only one member"}},
		},
		Faults:   []check.FaultSeen{{ID: "apiserver-crash-1", Type: "PodChaos", Action: "pod-kill", Member: "cp1", Witness: "another process", Healed: true}},
		Releases: []string{"1.2", "1.3"},
		Holds:    []check.HoldSeen{{Name: "only", Releases: map[string]string{"cp2": "1.3", "cp1": "1.2", "cp3": "1.2"}}},
	})
}

// doubtful would be green if it could be trusted.
func doubtful() *check.Judgement {
	doubts := []string{"the history has no end: the run was cut off"}
	return listAll(&check.Judgement{
		Header: header(), Events: 3, Damage: []string{"Line 4 is empty."}, Doubts: doubts,
		Results: []check.Result{{ID: "SV-01", Level: requirement.Must, Promise: "First.", Verdict: check.Inconclusive, Reasons: doubts,
			Observations: []check.Observation{{What: "servers", Seen: 3, Need: 1}}}},
	})
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test ./pkg/report -update writes it anew); got:\n%s", file, got)
	}
}

// redCases reads JUnit as a CI system does, and checks its sums on the way.
func redCases(t *testing.T, r *ConformanceReport) int {
	t.Helper()
	data, err := r.JUnit()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(data), xml.Header) {
		t.Errorf("JUnit begins with %.40q", data)
	}
	var read junitSuites
	if err := xml.Unmarshal(data, &read); err != nil {
		t.Fatalf("JUnit is not well-formed: %v\n%s", err, data)
	}
	suite := read.Suites[0]
	failures, errors, skipped := 0, 0, 0
	for _, c := range suite.Cases {
		switch {
		case c.Failure != nil:
			failures++
		case c.Error != nil:
			errors++
		case c.Skipped != nil:
			skipped++
		}
	}
	if suite.Tests != len(suite.Cases) || suite.Failures != failures || suite.Errors != errors || suite.Skipped != skipped {
		t.Errorf("the suite says %d tests, %d failures, %d errors, %d skipped, and its cases %d, %d, %d, %d",
			suite.Tests, suite.Failures, suite.Errors, suite.Skipped, len(suite.Cases), failures, errors, skipped)
	}
	return failures + errors
}

func TestDeviationsAreListedApart(t *testing.T) {
	seen := check.DeviationSeen{ID: "late", Differs: "It is late.", Source: "https://x", Count: 7, Examples: []check.Violation{{Message: "it came at noon", Evidence: []int64{4}}}}
	r := New(listAll(&check.Judgement{Header: history.Header{Strict: true}, Results: []check.Result{
		{ID: "SV-01", Verdict: check.Pass}, {ID: "SV-06", Verdict: check.Deviation, Deviations: []check.DeviationSeen{seen}},
	}}), nil)
	var table bytes.Buffer
	if err := r.Table(&table, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"DEVIATION", "(1 pass, 1 deviation)", "as documented (late, seen 7 times): It is late. See https://x", "the first time: it came at noon (history events 4)"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
	raw, err := r.YAML()
	if err != nil || !strings.Contains(string(raw), "strict: true") || !strings.Contains(string(raw), "count: 7") {
		t.Errorf("%v\n%s", err, raw)
	}
	junit, err := r.JUnit()
	if err != nil || !strings.Contains(string(junit), `skipped="1"`) || redCases(t, r) != 0 {
		t.Errorf("%v\n%s", err, junit)
	}
}
