package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/storageversion/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

func TestMain(m *testing.M) {
	fakerun.Main()
	fakeplane.Main()
	os.Exit(m.Run())
}

func TestUsage(t *testing.T) {
	useFake(t)
	out := filepath.Join(t.TempDir(), "b")
	for _, tc := range []struct{ args, expectError string }{
		{"", "name what to do; see `evenkeel --help`"},
		{"moon", "there is no `evenkeel moon`"},
		{"rn", "there is no `evenkeel rn`"},
		{"--moon", "unknown flag: --moon; see `evenkeel --help`"},
		{"run --moon", "unknown flag: --moon; see `evenkeel run --help`"},
		{"run quick", "evenkeel run takes no arguments, but got \"quick\""},
		{"run --seed x", "--seed \"x\" is not a whole number; see `evenkeel run --help`"},
		{"run --strict=x", "--strict \"x\" is not true or false"},
		{"conformance run --repeat two", "--repeat \"two\" is not a whole number; see `evenkeel conformance run --help`"},
		{"run --topology x", "the topology x cannot be read"},
		{"run --scenario x", "read the scenario x: there is no such file, nor does a scenario of that name ship"},
		{"run --profile x", "there is no profile \"x\""},
		{"run --focus (", "is not a regular expression"},
		{"run --focus SV-99", "no requirement of the chosen profiles matches"},
		{"run --defect x", "has no defect \"x\""},
		{"run --scenario fixtures/scenarios/quick.yaml --focus SV-22", "the scenario quick cannot judge SV-22"},
		{"run --out /proc/self/x", "cannot be made"},
		{"judge", "evenkeel judge needs exactly one BUNDLE"},
		{"judge a b", "evenkeel judge needs exactly one BUNDLE"},
		{"judge /nowhere", "the bundle /nowhere cannot be judged"},
		{"judge -o json x", "--output \"json\" is neither table nor yaml"},
		{"verify", "evenkeel verify needs at least one BUNDLE"},
		{"verify /nowhere", "/nowhere cannot be verified: there is no such folder"},
		{"verify --report x a b", "--report is the report of a single bundle"},
		{"verify --key /nowhere x", "the key cannot be read"},
		{"sign x", "name the key to sign with"},
		{"sign ../../reports/reference/local --key nosuch.key", "there is no key nosuch.key: `evenkeel keygen` makes one"},
		{"diff x", "evenkeel diff needs two BUNDLEs"},
		{"summary /nowhere", "the bundle /nowhere cannot be judged"},
		{"timeline /nowhere", "the timeline of /nowhere cannot be drawn: there is no such folder"},
		{"requirements SV-99", "there is no requirement SV-99"},
		{"schema x", "evenkeel schema takes no arguments"},
		{"doctor x", "evenkeel doctor takes no arguments"},
		{"cluster moon", "there is no `evenkeel cluster moon`"},
		{"cluster down", "no cluster is up"},
	} {
		t.Run(tc.args, func(t *testing.T) {
			args := strings.Fields(tc.args)
			if len(args) > 0 && args[0] == "run" && !strings.Contains(tc.args, "--out") {
				args = append(args, "--out", out) // should it run after all
			}
			if len(args) > 0 && args[0] == "run" && !strings.Contains(tc.args, "--topology") {
				args = append(args, "--topology", topology(t, fakeplane.Broken))
			}
			code, stdout, stderr := execute(args...)
			if code != exit.CouldNotRun {
				t.Errorf("status %d", code)
			}
			if !strings.HasPrefix(stderr, "evenkeel: ") || !strings.Contains(stderr, tc.expectError) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("the message is %q, want one line with %q", stderr, tc.expectError)
			}
			if stdout != "" {
				t.Errorf("printed %q beside it", stdout)
			}
		})
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("bad usage left a bundle: %v", err)
	}
}

func TestHelpAndVersion(t *testing.T) {
	for args, want := range map[string]string{"--help": "Exit status:", "help run": "--no-traffic", "--version": Version(), "judge --help": "evenkeel judge BUNDLE"} {
		if code, stdout, stderr := execute(strings.Fields(args)...); code != exit.Pass || !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("%s: status %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

func TestSchema(t *testing.T) {
	for field, args := range map[string][]string{"results": {"schema"}, "lines": {"schema", "--kind", "ConformanceReport"}} {
		code, stdout, stderr := execute(args...)
		var schema struct {
			Schema     string `json:"$schema"`
			Properties map[string]struct {
				Description string `json:"description"`
			} `json:"properties"`
		}
		if err := json.Unmarshal([]byte(stdout), &schema); code != exit.Pass || stderr != "" || err != nil {
			t.Fatalf("%v: status %d, %v, %s", args, code, err, stderr)
		}
		if !strings.Contains(schema.Schema, "2020-12") || schema.Properties[field].Description == "" {
			t.Errorf("%v: %s", args, stdout)
		}
	}
	if code, _, stderr := execute("schema", "--kind", "Plan"); code != exit.CouldNotRun || !strings.Contains(stderr, `--kind "Plan" is neither RunReport nor ConformanceReport`) {
		t.Errorf("status %d, %s", code, stderr)
	}
}

func TestRunWhoseControlPlaneDoesNotBoot(t *testing.T) {
	useFake(t)
	out := filepath.Join(t.TempDir(), "b")
	code, stdout, stderr := execute("run", "--topology", topology(t, fakeplane.Broken), "--focus", "SV-01", "--out", out)
	if code != exit.CouldNotRun || !strings.Contains(stderr, "the flag of the year is missing") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, %q", code, stderr)
	}
	if !strings.Contains(stdout, "Bundle: "+out) || strings.Contains(stdout, "Verdict:") {
		t.Errorf("printed\n%s", stdout)
	}
	// What can be judged of it is open.
	if code, stdout, _ := execute("judge", out); code != exit.Inconclusive || !strings.Contains(stdout, "the scenario was not played to its end: ") {
		t.Errorf("judged with status %d:\n%s", code, stdout)
	}
}

func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		file, more string
		code       int
		want       string
	}{
		{"pass", `,"asked":["SV-06"]`, exit.Pass, "Verdict: PASS (1 pass)"},
		{"fail", `,"asked":["SV-06"]`, exit.Fail, "Verdict: FAIL (1 fail)"},
		{"inconclusive", `,"asked":["SV-06"]`, exit.Inconclusive, "Verdict: INCONCLUSIVE (1 inconclusive)"},
		{"pass", `,"asked":["SV-06","SV-22"]`, exit.Inconclusive, "Verdict: INCONCLUSIVE (1 pass, 1 skipped)"},
		{"fail", `,"asked":["SV-06","SV-22"]`, exit.Fail, "Verdict: FAIL (1 fail, 1 skipped)"},
	} {
		t.Run(tc.file+tc.more, func(t *testing.T) {
			dir := fixture(t, tc.file, `,"judges":["SV-06"]`+tc.more)
			code, stdout, stderr := execute("judge", dir)
			if code != tc.code || stderr != "" || !strings.Contains(stdout, tc.want) {
				t.Errorf("status %d, want %d and %q:\n%s%s", code, tc.code, tc.want, stdout, stderr)
			}
			yamlCode, first, _ := execute("judge", "-o", "yaml", dir)
			_, second, _ := execute("judge", "--output=yaml", dir)
			if yamlCode != tc.code || first != second || !strings.HasPrefix(first, "apiVersion: ") {
				t.Errorf("as YAML: status %d, and twice the same: %v\n%s", yamlCode, first == second, first)
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
				t.Errorf("judging changed the bundle: %v, %v", files, err)
			}
		})
	}
}

var columns = regexp.MustCompile(` {2,}`)

// listed is what `evenkeel requirements` prints.
func listed(t *testing.T) string {
	t.Helper()
	code, stdout, stderr := execute("requirements")
	if code != exit.Pass || stderr != "" {
		t.Fatalf("status %d, %q", code, stderr)
	}
	return stdout
}

func TestRequirements_HaveOneLineEach(t *testing.T) {
	lines := strings.Split(listed(t), "\n")
	for _, r := range requirement.All() {
		want := "no"
		if check.Built(r.ID) {
			want = "yes"
		}
		found := 0
		for _, line := range lines {
			// Two spaces part columns; a source may have one in it.
			if f := columns.Split(line, 5); len(f) > 4 && f[0] == string(r.ID) && (f[1] == "MUST" || f[1] == "SHOULD") {
				found++
				if f[1] != string(r.Level) || f[2] != r.Source || f[3] != want || !strings.HasSuffix(line, r.Promise) {
					t.Errorf("%q is not %+v, judged %s", line, r, want)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s is in %d lines", r.ID, found)
		}
	}
}

func TestRequirements_ListsBounds(t *testing.T) {
	stdout := listed(t)
	bounds := strings.Fields(stdout)
	for _, r := range requirement.All() {
		for _, b := range slices.Concat(r.Bounds, r.Tolerances) {
			if !slices.Contains(bounds, b.Name) || !strings.Contains(stdout, b.Reason) {
				t.Errorf("the bound %s of %s is not listed", b.Name, r.ID)
			}
		}
	}
}

func TestRequirements_ListsProfiles(t *testing.T) {
	stdout := listed(t)
	for _, p := range requirement.Profiles() {
		if !strings.Contains(stdout, "\n"+p.Name) || !strings.Contains(stdout, p.Description) {
			t.Errorf("the profile %s is not listed", p.Name)
		}
	}
}

func TestDoctor(t *testing.T) {
	useFake(t)
	if code, stdout, stderr := execute("doctor"); code != exit.Pass || stderr != "" || !strings.Contains(stdout, "with the provider local") {
		t.Errorf("status %d, %q\n%s", code, stderr, stdout)
	}
	t.Setenv(reference.Variable, "/nowhere")
	if code, stdout, stderr := execute("doctor"); code != exit.CouldNotRun || !strings.Contains(stdout, "MISSING") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, %q\n%s", code, stderr, stdout)
	}
}

func TestOneSentence(t *testing.T) {
	joined := errors.Join(errors.New("the first"), nil, fmt.Errorf("the second:\n\n   with\tmore"))
	if got, want := oneSentence(joined), "the first; the second:; with more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 targets", 1: "1 target", 2: "2 targets"} {
		if got := counted(n, "target"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestVerdictStatus(t *testing.T) {
	for verdict, want := range map[check.Verdict]int{check.Pass: exit.Pass, check.Fail: exit.Fail, check.Inconclusive: exit.Inconclusive, "": exit.Inconclusive} {
		if err := verdictStatus(verdict); exit.Code(err) != want || err != nil && err.Error() != "" {
			t.Errorf("%q: %v", verdict, err)
		}
	}
}

// --- Helpers ---

func execute(args ...string) (code int, stdout, stderr string) {
	var out, complaints bytes.Buffer
	if args == nil {
		args = []string{} // nil would have cobra read this program's own
	}
	code = Main(args, &out, &complaints)
	return code, out.String(), complaints.String()
}

// useFake has the fake instead of the reference control plane run.
func useFake(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(fakeplane.Variable, "1")
	t.Setenv(reference.Variable, self)
	t.Setenv(state.RootVariable, t.TempDir())
}

// topology is the shipped one with a release of the fake's.
func topology(t *testing.T, release string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "clusters", "local-1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "topology.yaml")
	text := strings.Replace(string(raw), `release: "1.2"`, fmt.Sprintf("release: %q", release), 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// fixture is a bundle of one of the histories of SV-06, with more in its header.
func fixture(t *testing.T, name, more string) string {
	t.Helper()
	raw := story.Named(stories.All(), "SV-06/"+name).File()
	line, events, _ := bytes.Cut(raw, []byte("\n"))
	line = fmt.Appendf(nil, "%s%s}", bytes.TrimSuffix(line, []byte("}")), more)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, bundle.HistoryFile), fmt.Appendf(nil, "%s\n%s", line, events), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := history.Open(t.Context(), filepath.Join(dir, bundle.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}
