package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/report"
)

func TestVerify(t *testing.T) {
	whole, broken := published(t, "pass"), published(t, "fail")
	change(t, broken, bundle.ReportFile, "verdict: fail", "verdict: pass")
	for _, tc := range []struct {
		name         string
		args         []string
		code         int
		want, stderr string
	}{
		{"whole", []string{whole}, exit.Pass, "matches (5 files, 78 events judged again, verdict pass)", ""},
		{"broken", []string{broken}, exit.Fail, "results[SV-06].verdict: the report says \"pass\", the history says \"fail\"", ""},
		{"both", []string{whole, broken}, exit.Fail, "does not match", ""},
		{"none", []string{"/nowhere"}, exit.CouldNotRun, "", "/nowhere cannot be verified"},
		{"none and a whole one", []string{"/nowhere", whole}, exit.CouldNotRun, "matches", "/nowhere cannot be verified"},
		{"none and a broken one", []string{"/nowhere", broken}, exit.Fail, "does not match", "/nowhere cannot be verified"},
		{"the report of another", []string{"--report", filepath.Join(broken, bundle.ReportFile), whole}, exit.Fail, "does not match", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := execute(append([]string{"verify"}, tc.args...)...)
			if code != tc.code || !strings.Contains(stdout, tc.want) || !strings.Contains(stderr, tc.stderr) {
				t.Errorf("status %d\n%s%s", code, stdout, stderr)
			}
			if _, again, _ := execute(append([]string{"verify"}, tc.args...)...); again != stdout {
				t.Errorf("the second time it says\n%s\nand the first\n%s", again, stdout)
			}
		})
	}
}

// A breach of a requirement that the scenario does not list fails the run in all that
// shows it; the history of SV-06/fail keeps SV-07 and SV-11.
func TestUnlistedFailure(t *testing.T) {
	const listing = `,"judges":["SV-07","SV-11"],"asked":["SV-07","SV-11"]`
	kept, broken := fixture(t, "pass", listing), fixture(t, "fail", listing)
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"judge", kept}, exit.Pass, "Verdict: PASS (2 pass)"},
		{[]string{"judge", broken}, exit.Fail, "Verdict: FAIL (2 pass, 1 fail)"},
		{[]string{"judge", broken}, exit.Fail, report.UnlistedNote},
		{[]string{"judge", "-o", "yaml", broken}, exit.Fail, "  unlisted: true\n  verdict: fail\n"},
		{[]string{"metrics", broken}, exit.Pass, `evenkeel_requirement_verdict{requirement="SV-06",verdict="fail"} 1`},
		{[]string{"diff", kept, broken}, exit.Fail, "SV-06: skipped → fail (unlisted)"},
	} {
		code, stdout, stderr := execute(tc.args...)
		if code != tc.code || !strings.Contains(stdout, tc.want) {
			t.Errorf("%v: status %d, want %d and %q:\n%s%s", tc.args, code, tc.code, tc.want, stdout, stderr)
		}
	}
	for _, args := range [][]string{{"judge", kept}, {"judge", "-o", "yaml", kept}, {"metrics", kept}} {
		if _, stdout, _ := execute(args...); strings.Contains(stdout, "SV-06") {
			t.Errorf("%v tells of SV-06, which is kept and unlisted:\n%s", args, stdout)
		}
	}
	// The command that repeats a run asks for what the run was asked.
	dir := published(t, "fail")
	for _, file := range []string{bundle.ScenarioFile, bundle.TopologyFile, bundle.EnvironmentFile} {
		raw, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(broken, file), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := execute("summary", broken)
	for _, want := range []string{"### Evenkeel: FAIL", "| SV-06 | **fail** |", report.UnlistedNote, "--focus '^(SV-07|SV-11)$'"} {
		if code != exit.Pass || !strings.Contains(stdout, want) {
			t.Errorf("summary: status %d, want %q:\n%s%s", code, want, stdout, stderr)
		}
	}
}

// A report by other rules is never taken for one that matches, and says so in one
// sentence, whatever else it says.
func TestVerifyOfOtherRules(t *testing.T) {
	for _, tc := range []struct{ name, old, by string }{
		{"another suite", "  suite: ", "  suite: 0"},
		{"another schema", "  schema: ", "  schema: 0"},
		{"none", "  suite: ", "  sweet: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := published(t, "pass")
			change(t, dir, bundle.ReportFile, tc.old, tc.by)
			if err := bundle.Seal(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			code, stdout, _ := execute("verify", dir)
			if code != exit.Fail || !strings.Contains(stdout, "report.yaml was written by other rules than those of this evenkeel (suite ") {
				t.Errorf("status %d\n%s", code, stdout)
			}
			if n := strings.Count(stdout, "harness."); tc.name != "none" && n > 0 {
				t.Errorf("it says so more than once:\n%s", stdout)
			}
			// Who made it can write it anew.
			if code, _, stderr := execute("judge", "--update", dir); code != exit.Pass {
				t.Fatalf("status %d, %s", code, stderr)
			}
			if code, stdout, _ := execute("verify", dir); code != exit.Pass {
				t.Errorf("written anew: status %d\n%s", code, stdout)
			}
		})
	}
}

// A vendor's way: make a key, sign, have a user check.
func TestSign(t *testing.T) {
	dir, key := published(t, "fail"), filepath.Join(t.TempDir(), "key")
	if code, stdout, stderr := execute("keygen", key); code != exit.Pass || !strings.Contains(stdout, key+".pub") {
		t.Fatalf("keygen: status %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, _ := execute("verify", "--key", key+".pub", dir); code != exit.Fail || !strings.Contains(stdout, "it is not signed") {
		t.Errorf("unsigned: status %d\n%s", code, stdout)
	}
	if code, stdout, stderr := execute("sign", dir, "--key", key); code != exit.Pass || !strings.Contains(stdout, "is signed by SHA256:") {
		t.Fatalf("sign: status %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, _ := execute("verify", "--key", key+".pub", dir); code != exit.Pass || !strings.Contains(stdout, "signed by SHA256:") {
		t.Errorf("signed: status %d\n%s", code, stdout)
	}
	if code, stdout, _ := execute("verify", dir); code != exit.Pass || !strings.Contains(stdout, "name the public key with --key") {
		t.Errorf("signed, and not asked for: status %d\n%s", code, stdout)
	}
	for _, args := range [][]string{{"sign", dir, "--key", key}, {"judge", "--update", dir}, {"timeline", dir}} {
		if code, _, stderr := execute(args...); code != exit.CouldNotRun || !strings.Contains(stderr, "is signed already") {
			t.Errorf("%v of a signed bundle: status %d, %s", args, code, stderr)
		}
	}
	broken := published(t, "fail")
	change(t, broken, bundle.ReportFile, "verdict: fail", "verdict: pass")
	if code, _, stderr := execute("sign", broken, "--key", key); code != exit.Fail || !strings.Contains(stderr, "does not match, and is not signed") {
		t.Errorf("what does not match: status %d, %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(broken, bundle.SignatureFile)); !os.IsNotExist(err) {
		t.Errorf("what does not match is signed: %v", err)
	}
}

func TestTimeline(t *testing.T) {
	dir := published(t, "fail")
	aside := filepath.Join(t.TempDir(), "t.html")
	if code, stdout, stderr := execute("timeline", dir, "--out", aside); code != exit.Pass || stdout != aside+"\n" {
		t.Fatalf("status %d\n%s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, bundle.TimelineFile)); !os.IsNotExist(err) {
		t.Errorf("--out left a page in the bundle: %v", err)
	}
	if code, _, stderr := execute("timeline", dir); code != exit.Pass {
		t.Fatalf("status %d, %s", code, stderr)
	}
	inside, err := os.ReadFile(filepath.Join(dir, bundle.TimelineFile))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := os.ReadFile(aside); err != nil || !bytes.Equal(inside, want) {
		t.Errorf("the two pages differ (%v)", err)
	}
	if code, stdout, _ := execute("verify", dir); code != exit.Pass {
		t.Errorf("with a page: status %d\n%s", code, stdout)
	}
	change(t, dir, bundle.TimelineFile, "broken", "kept")
	if code, _, stderr := execute("timeline", dir); code != exit.CouldNotRun || !strings.Contains(stderr, "timeline.html has changed") {
		t.Errorf("a bundle that is not whole: status %d, %s", code, stderr)
	}
}

func TestUpdate(t *testing.T) {
	dir := published(t, "fail")
	want, err := os.ReadFile(filepath.Join(dir, bundle.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	change(t, dir, bundle.ReportFile, "verdict: fail", "verdict: pass")
	if code, _, stderr := execute("judge", "--update", dir); code != exit.CouldNotRun || !strings.Contains(stderr, "is not whole") {
		t.Errorf("status %d, %s", code, stderr)
	}
	if err := bundle.Seal(t.Context(), dir); err != nil { // as of an evenkeel that judged otherwise
		t.Fatal(err)
	}
	if code, _, stderr := execute("judge", "--update", dir); code != exit.Fail || stderr != "" {
		t.Errorf("status %d, %s", code, stderr)
	}
	if got, err := os.ReadFile(filepath.Join(dir, bundle.ReportFile)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%s", err, got)
	}
	if code, stdout, _ := execute("verify", dir); code != exit.Pass {
		t.Errorf("status %d\n%s", code, stdout)
	}
}

func TestDiff(t *testing.T) {
	pass, fail := published(t, "pass"), published(t, "fail")
	if code, stdout, _ := execute("diff", pass, pass); code != exit.Pass || !strings.Contains(stdout, "nothing differs") {
		t.Errorf("one run: status %d\n%s", code, stdout)
	}
	if code, stdout, _ := execute("diff", pass, fail); code != exit.Fail || !strings.Contains(stdout, "SV-06: pass → fail\n") || !strings.Contains(stdout, "worse in the second: SV-06\n") {
		t.Errorf("worse: status %d\n%s", code, stdout)
	}
	if code, stdout, _ := execute("diff", fail, pass); code != exit.Pass || !strings.Contains(stdout, "SV-06: fail → pass\n") {
		t.Errorf("better: status %d\n%s", code, stdout)
	}
	if code, _, _ := execute("diff", fail, "/nowhere"); code != exit.CouldNotRun {
		t.Errorf("status %d", code)
	}
}

func TestSummary(t *testing.T) {
	code, stdout, stderr := execute("summary", published(t, "fail"))
	if code != exit.Pass {
		t.Fatalf("status %d, %s", code, stderr)
	}
	for _, want := range []string{
		"### Evenkeel: FAIL (1 fail)", "| SV-06 | **fail** |", "Were upgrade and rollback tested?",
		"evenkeel run --topology clusters/local-3.yaml --release 1.2 --scenario scenario.yaml --focus '^(SV-06)$' --seed 1 --no-traffic\n",
		"The scenario does not ship with evenkeel", "The topology does not say who is responsible for the control plane",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("it does not say %q:\n%s", want, stdout)
		}
	}
}

// A scenario without traffic is repeated as it is: --no-traffic would leave out more.
func TestWithoutTraffic(t *testing.T) {
	for _, tc := range []struct {
		environment, scenario string
		want                  bool
	}{
		{"traffic: true", "traffic: {}", false},
		{"traffic: false", "traffic: {}", true},
		{"traffic: false", "traffic:\n  off: true", false},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, bundle.EnvironmentFile), []byte(tc.environment), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := withoutTraffic(dir, []byte(tc.scenario)); got != tc.want || err != nil {
			t.Errorf("%s, %s: %t, %v", tc.environment, tc.scenario, got, err)
		}
	}
}

func TestQuoted(t *testing.T) {
	for arg, want := range map[string]string{
		"clusters/local-3.yaml": "clusters/local-3.yaml", "^(SV-06)$": "'^(SV-06)$'", "$(rm)": "'$(rm)'", "it's": `'it'\''s'`, "a\nb": "'a b'", "": "",
	} {
		if got := quoted(arg); got != want {
			t.Errorf("%q: %s, want %s", arg, got, want)
		}
	}
}

// published is the bundle of one of the histories of SV-06, as one is published.
func published(t *testing.T, name string) string {
	t.Helper()
	dir := fixture(t, name, `,"judges":["SV-06"],"asked":["SV-06"]`)
	for file, content := range map[string]string{
		bundle.ScenarioFile:    "# Played with seed 1.\nmetadata:\n  name: story\n",
		bundle.TopologyFile:    "metadata:\n  name: local-3\nspec:\n  provider: local\n  distribution: reference\n  members: [{name: cp1}, {name: cp2}, {name: cp3}]\n",
		bundle.EnvironmentFile: "harness: pkg/story\nseed: 1\ntraffic: false\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The report has the digests of the others.
	_, told, _ := execute("judge", "-o", "yaml", dir)
	if err := os.WriteFile(filepath.Join(dir, bundle.ReportFile), []byte(told), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := bundle.Seal(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func change(t *testing.T, dir, file, old, by string) {
	t.Helper()
	path := filepath.Join(dir, file)
	raw, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(raw), old) {
		t.Fatalf("%s has no %q: %v", path, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(raw), old, by, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}
