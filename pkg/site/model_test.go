package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/report/results"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func reportOf(distribution, release, scenario string, res ...check.Result) *report.ConformanceReport {
	return &report.ConformanceReport{
		APIVersion: report.APIVersion, Kind: report.Kind, Scenario: scenario, Verdict: check.Worst(res), Results: res,
		Target:   report.Target{Provider: "local", Distribution: distribution, Releases: []string{release}},
		Digests:  report.Digests{History: strings.Repeat("a", 64)},
		Profiles: []report.Profile{},
	}
}

func result(id requirement.ID, v check.Verdict, seen int64) check.Result {
	res := check.Result{ID: id, Verdict: v, Obligations: &law.Counts{Met: seen}}
	if v == check.Fail {
		res.Violations, res.ViolationCount = []check.Violation{{Message: "it was not so", Evidence: []int64{3, 4}}}, 7
	}
	return res
}

// folder writes files, each a text or what is written as YAML.
func folder(t *testing.T, files map[string]any) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "reports")
	for name, content := range files {
		raw, isText := content.(string)
		if !isText {
			out, err := yaml.Marshal(content)
			if err != nil {
				t.Fatal(err)
			}
			raw = string(out)
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(raw), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, dir string) *Model {
	t.Helper()
	m, err := Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func scenarioOf(name string, reports ...*report.ConformanceReport) results.Scenario {
	s := results.Scenario{Name: name}
	for _, r := range reports {
		s.Add(r, 5*(s.Runs+1))
	}
	return s
}

func campaign() *conformance.Report {
	return &conformance.Report{
		APIVersion: conformance.APIVersion, Kind: conformance.Kind, Verdict: check.Fail,
		Target: conformance.Target{Topology: "theirs.yaml", Provider: "external", Distribution: "theirs", Releases: []string{"v1", "v2"}},
		Asked:  conformance.Asked{Profiles: []string{"storage-version"}},
		Runs:   conformance.Runs{Planned: 30, Kept: 29, Broken: 1, Tries: 30},
		Requirements: []conformance.Requirement{
			{ID: "SV-01", Verdict: check.Pass, Tested: conformance.Tested{Planned: 29, Kept: 29, Observations: 290}, MayFail: &conformance.MayFail{Runs: 29, AtMost: "9.9%", Confidence: "95%"}},
			{ID: "SV-06", Verdict: check.Fail, Tested: conformance.Tested{Planned: 30, Kept: 29, Broken: 1, Observations: 31}, Breaches: []conformance.Breach{{Line: 4, Try: 1, Bundle: strings.Repeat("b", 64), Message: "it was not so", Events: []int64{3}}}},
			{ID: "SV-02", Verdict: check.Skipped, Reasons: []string{"no run was to judge it"}},
		},
		LeftOut: []conformance.LeftOut{{Scenario: "departed", Reason: "members cannot leave"}},
		Lines: []conformance.LineReport{
			{Line: 1, Scenario: "quick", Seed: 1, Verdict: check.Pass, Tries: []conformance.TryReport{{Verdict: check.Pass, Bundle: strings.Repeat("c", 64)}}},
			{Line: 2, Scenario: "quick", Seed: 2, Verdict: check.Fail, Tries: []conformance.TryReport{{Verdict: check.Fail, Bundle: strings.Repeat("b", 64), Why: "SV-06: it was not so"}}},
		},
	}
}

func (m *Model) target(t *testing.T, name string) *Target {
	t.Helper()
	for _, of := range m.Targets {
		if of.Name == name {
			return of
		}
	}
	t.Fatalf("there is no target %s", name)
	return nil
}

func TestMarkdown_HasTargetsOfAllKinds(t *testing.T) {
	theirs := results.Target{Target: "theirs", Topology: "clusters/local-3-kubernetes.yaml", Release: "v1.36.3", Scenarios: []results.Scenario{
		scenarioOf("quick", reportOf("kubernetes", "v1.36.3", "quick", result("SV-01", check.Fail, 20)), reportOf("kubernetes", "v1.36.3", "quick", result("SV-01", check.Pass, 20))),
		{Name: "storm", Refused: "not here"},
	}}
	ours := results.Target{Target: "ours", Topology: "clusters/local-3.yaml", Scenarios: []results.Scenario{
		scenarioOf("quick", reportOf("reference", "1.2", "quick", result("SV-01", check.Pass, 135))),
	}}
	text := read(t, folder(t, map[string]any{"results/a.yaml": ours, "results/b.yaml": theirs, "vendor/conformance.yaml": campaign()})).Markdown()
	for _, line := range []string{
		"| requirement | level | ours | theirs | theirs v1 → v2, external, campaign |",
		"| SV-01 | MUST | pass (135) | **FAIL** 1/2 (40) | pass (290) ≤ 9.9% |",
		"| SV-06 | MUST | – | – | **FAIL** 1/30 (31) |",
		"| SV-02 | MUST | – | – | – |",
		"| scenario | ours | theirs | theirs v1 → v2, external, campaign |",
		"| quick | 1/1, 5–5 s | 1/2, 5–10 s | 1/2 |",
		"| storm | – | refused | – |",
		"| departed | – | – | refused |",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

// A bundle is often one of the runs in the results, so that it counts only where it shows worse.
func TestCell_CountsABundleOnlyWhereItShowsWorse(t *testing.T) {
	theirs := results.Target{Target: "theirs", Topology: "clusters/local-3-kubernetes.yaml", Release: "v1.36.3", Scenarios: []results.Scenario{
		scenarioOf("quick", reportOf("kubernetes", "v1.36.3", "quick", result("SV-01", check.Pass, 20), result("SV-06", check.Fail, 2))),
	}}
	planted := reportOf("kubernetes", "v1.36.3", "quick", result("SV-04", check.Fail, 1))
	planted.Defect = "SV-04-planted"
	m := read(t, folder(t, map[string]any{
		"results/theirs.yaml":  theirs,
		"runs/x/report.yaml":   reportOf("kubernetes", "v1.36.3", "departed", result("SV-01", check.Fail, 4), result("SV-06", check.Fail, 9), result("SV-03", check.Inconclusive, 1)),
		"runs/x/SHA256SUMS":    "",
		"runs/y/report.yaml":   reportOf("kubernetes", "v1.36.3", "departed", result("SV-01", check.Inconclusive, 4), result("SV-03", check.Pass, 5)),
		"runs/y/SHA256SUMS":    "",
		"runs/p/report.yaml":   planted,
		"runs/p/SHA256SUMS":    "",
		"runs/cut/report.yaml": "verdict: pass\n",
		"runs/old/report.yaml": reportOf("kubernetes", "v1.34.4", "quick", result("SV-01", check.Pass, 6)),
		"runs/old/SHA256SUMS":  "",
	}))
	of := m.target(t, "theirs")
	for id, want := range map[requirement.ID]string{"SV-01": "**FAIL** 1/2 (24)", "SV-06": "**FAIL** (2)", "SV-03": "pass (5)", "SV-04": "–"} {
		if got := m.Cell(of, id).String(); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if why := m.Cell(of, "SV-01").Why; len(why) != 1 || why[0] != "runs/x: it was not so" {
		t.Errorf("why: %q", why)
	}
	if got := m.Cell(m.target(t, "local-kubernetes-v1.34.4"), "SV-01").String(); got != "pass (6)" {
		t.Errorf("a bundle without results: %s", got)
	}
	if len(m.Runs) != 4 || len(m.Targets) != 2 {
		t.Errorf("%d runs and %d targets, want 4 and 2: a folder without digests is no bundle, and a planted defect is of no target", len(m.Runs), len(m.Targets))
	}
}

// An empty cell says why.
func TestCell_SaysWhyItIsEmpty(t *testing.T) {
	few := campaign()
	few.Asked = conformance.Asked{Scenarios: []string{"quick", "gates"}}
	m := read(t, folder(t, map[string]any{
		"results/theirs.yaml": results.Target{Target: "theirs", Topology: "clusters/local-3-kubernetes.yaml", Scenarios: []results.Scenario{
			{Name: "departed", Refused: "members cannot leave"}, {Name: "registration", Runs: 1, Clean: 1},
		}},
		"vendor/conformance.yaml": campaign(),
		"few/conformance.yaml":    few,
	}))
	for _, r := range m.Requirements {
		for _, of := range m.Targets {
			if c := m.Cell(of, r.ID); c.Verdict == "" && len(c.Why) == 0 {
				t.Errorf("%s on %s: the cell is empty without a reason", r.ID, of.Title)
			}
		}
	}
	theirs, asked := m.target(t, "theirs"), m.target(t, "vendor")
	for _, tc := range []struct {
		on   *Target
		id   requirement.ID
		want string
	}{
		{theirs, "SV-16", "departed is refused: members cannot leave"},
		{theirs, "SV-01", "not played on this target: "},
		{asked, "SV-02", "no run was to judge it"},
		{asked, "AD-01", "the campaign was not asked for it"},
		{m.target(t, "few"), "AD-01", "the campaign was asked for no scenario that judges it, only for quick, gates"},
	} {
		if why := strings.Join(m.Cell(tc.on, tc.id).Why, "; "); !strings.Contains(why, tc.want) {
			t.Errorf("%s on %s: %q, want %q", tc.id, tc.on.Title, why, tc.want)
		}
	}
}

func TestRead_RefusesWhatIsNoReport(t *testing.T) {
	old := reportOf("reference", "1.2", "quick")
	old.Kind = "ConformanceReport"
	for name, tc := range map[string]struct {
		files map[string]any
		want  string
	}{
		"a report of an older kind":    {map[string]any{"x/report.yaml": old, "x/SHA256SUMS": ""}, "evenkeel judge --update"},
		"a report of something else":   {map[string]any{"x/report.yaml": "a: b\n", "x/SHA256SUMS": ""}, "is no report of a run"},
		"a campaign of something else": {map[string]any{"conformance.yaml": "a: b\n"}, "is no report of a campaign"},
		"results of something else":    {map[string]any{"results/x.yaml": "a: b\n"}, "holds no results"},
		"a skew of something else":     {map[string]any{"skew.yaml": "a: b\n"}, "has no runs of hack/skew"},
	} {
		if _, err := Read(t.Context(), folder(t, tc.files)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error = %v, want one with %q", name, err, tc.want)
		}
	}
	if _, err := Read(t.Context(), filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("a folder that is not there was read")
	}
}

// A campaign's own bundles belong to it, whatever they are of.
func TestRead_GivesBundlesToTheirCampaign(t *testing.T) {
	m := read(t, folder(t, map[string]any{"conformance.yaml": campaign(), "runs/1/report.yaml": reportOf("theirs", "v1", "quick"), "runs/1/SHA256SUMS": ""}))
	if len(m.Targets) != 1 || m.Targets[0].Name != "campaign" || len(m.Targets[0].Runs) != 1 {
		t.Errorf("%+v", m.Targets)
	}
}

func TestTitle_NamesTheImplementation(t *testing.T) {
	path := []string{"v1", "v2"}
	for _, c := range []struct {
		by       *history.Implementation
		releases []string
		want     string
	}{
		{nil, path, "x v1 → v2, kind"},
		{nil, nil, "x, kind"},
		{&history.Implementation{Project: "Plane"}, path, "Plane v1 → v2, kind"},
		{&history.Implementation{Project: "Plane", Version: "v1"}, path, "Plane v1 → v2, kind"},
		{&history.Implementation{Project: "Plane", Version: "7.1"}, path, "Plane 7.1 (v1 → v2), kind"},
		{&history.Implementation{Project: "Plane", Version: "7.1"}, nil, "Plane 7.1, kind"},
	} {
		if got := titleOf(c.by, "x", c.releases, "kind"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
