package command

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/run"
)

// threeFakes is a topology of three members of the fake control plane.
func threeFakes(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "clusters", "local-3.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "topology.yaml")
	text := strings.Replace(string(raw), `release: "1.2"`, `release: "`+fakeplane.Good+`"`, 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// campaign plays a small campaign of the fake, and gives its folder.
func campaign(t *testing.T, runs map[string]string, more ...string) (dir, stdout string, code int) {
	t.Helper()
	useFake(t)
	program, err := run.ProgramDigest()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(fakerun.Variable, fakerun.Script{Runs: runs, Program: program}.String())
	dir = filepath.Join(t.TempDir(), "campaign")
	code, stdout, stderr := execute(append([]string{"conformance", "run", "--topology", threeFakes(t), "--focus", "^" + fakerun.Judges + "$",
		"--scenario", "restart-skew", "--repeat", "2", "--seed", "1", "--parallel", "2", "--out", dir}, more...)...)
	if code == exit.CouldNotRun {
		t.Fatal(stderr, stdout)
	}
	return dir, stdout, code
}

func TestConformance_PlaysAndReports(t *testing.T) {
	dir, stdout, code := campaign(t, map[string]string{"restart-skew/2": fakerun.WeakOnce})
	for _, want := range []string{
		"2 runs, of which 0 are over; 2 at a time", "restart-skew, seed 1: pass after", "inconclusive after 0 s, and is tried again",
		"SV-06   MUST   PASS                 2/2", "Runs: 2 planned, 2 kept all that they judge, 0 broken; 3 tries", "Verdict: PASS (1 pass)",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("it does not say %q:\n%s", want, stdout)
		}
	}
	if code != exit.Pass {
		t.Errorf("status %d", code)
	}
	for form, want := range map[string]string{
		"text": "Played more than once", "markdown": "### Evenkeel conformance: PASS (1 pass)", "junit": `tests="1" failures="0" errors="0"`, "yaml": "kind: ConformanceReport",
	} {
		if code, stdout, stderr := execute("conformance", "report", "-o", form, dir); code != exit.Pass || !strings.Contains(stdout, want) {
			t.Errorf("%s: status %d, %s%s", form, code, stdout, stderr)
		}
	}
	for _, command := range []string{"judge", "summary", "timeline", "metrics"} {
		if code, _, stderr := execute(command, dir); code != exit.CouldNotRun || !strings.Contains(stderr, "is the folder of a campaign: name a bundle in "+filepath.Join(dir, "runs")) {
			t.Errorf("%s: status %d, %s", command, code, stderr)
		}
	}
	if code, stdout, _ := execute("conformance", "status", dir); code != exit.Pass || !strings.Contains(stdout, "2 of 2 runs are over.") {
		t.Errorf("status %d: %s", code, stdout)
	}
	written, err := os.ReadFile(filepath.Join(dir, conformance.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, printed, _ := execute("conformance", "report", "-o", "yaml", dir); printed != string(written) {
		t.Errorf("the report is\n%s\nand computed again\n%s", written, printed)
	}
	// Nothing is left to be played.
	if code, stdout, _ := execute("conformance", "resume", dir); code != exit.Pass || !strings.Contains(stdout, "2 runs, all of them over") || strings.Contains(stdout, "[") {
		t.Errorf("status %d: %s", code, stdout)
	}
}

func TestConformance_OneBreachFails(t *testing.T) {
	dir, stdout, code := campaign(t, map[string]string{"restart-skew/2": fakerun.Fail})
	if code != exit.Fail || !strings.Contains(stdout, "broken in 1 of 2 conclusive runs") || !strings.Contains(stdout, "history events") {
		t.Errorf("status %d: %s", code, stdout)
	}
	if code, stdout, _ := execute("conformance", "report", "-o", "junit", dir); code != exit.Fail || !strings.Contains(stdout, `failures="1"`) {
		t.Errorf("status %d: %s", code, stdout)
	}
	if code, _, _ := campaignOf(t, fakerun.Weak); code != exit.Inconclusive {
		t.Errorf("an open run ends with %d", code)
	}
}

func campaignOf(t *testing.T, outcome string) (code int, dir, stdout string) {
	t.Helper()
	dir, stdout, code = campaign(t, map[string]string{"restart-skew/1": outcome})
	return code, dir, stdout
}

func TestConformance_RefusesBadUsage(t *testing.T) {
	useFake(t)
	topology := threeFakes(t)
	for args, want := range map[string]string{
		"":                                     "name what to do with a campaign",
		"moon":                                 "there is no `evenkeel conformance moon`",
		"run --confidence 95":                  "--confidence and --rate belong together",
		"run --rate x --confidence 95":         "--rate \"x\" is no number of percent",
		"run --shard 1/2":                      "--shard needs the --seed",
		"run --shard 3/2 --seed 1":             "is no part of a plan",
		"run --parallel 0":                     `--parallel "0" is neither auto nor a number of at least 1`,
		"run --tries 0":                        "--tries between 1 and",
		"run --scenario moon":                  "there is no scenario \"moon\"",
		"run --focus ^SV-06$ --scenario gates": "no scenario judges what is asked",
		"status /nowhere":                      "/nowhere has no plan.yaml",
		"resume /nowhere":                      "/nowhere has no plan.yaml",
		"report /nowhere":                      "/nowhere has no plan.yaml",
	} {
		fields := append([]string{"conformance"}, strings.Fields(args)...)
		if strings.HasPrefix(args, "run") {
			fields = append(fields, "--topology", topology, "--out", filepath.Join(t.TempDir(), "c"))
		}
		if code, _, stderr := execute(fields...); code != exit.CouldNotRun || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", args, code, stderr, want)
		}
	}
}

// A vendor's path: one campaign, one signature, verified by another user.
func TestConformance_IsSignedAndVerified(t *testing.T) {
	dir, _, _ := campaign(t, map[string]string{"restart-skew/2": fakerun.Fail})
	key := filepath.Join(t.TempDir(), "key")
	if code, _, stderr := execute("keygen", key); code != exit.Pass {
		t.Fatal(stderr)
	}
	if code, stdout, stderr := execute("sign", dir, "--key", key); code != exit.Pass {
		t.Fatal(stdout, stderr)
	}
	if code, stdout, _ := execute("verify", "--key", key+".pub", dir); code != exit.Pass || !strings.Contains(stdout, "matches (2 runs planned, 2 bundles judged again, verdict fail, signed by SHA256:") {
		t.Errorf("status %d: %s", code, stdout)
	}
	change(t, dir, conformance.ReportFile, "verdict: fail", "verdict: pass")
	if code, stdout, _ := execute("verify", dir); code != exit.Fail || !strings.Contains(stdout, "does not match") || !strings.Contains(stdout, "conformance.yaml") {
		t.Errorf("status %d: %s", code, stdout)
	}
	if code, _, stderr := execute("verify", "--bundles", "/nowhere", dir); code != exit.CouldNotRun || !strings.Contains(stderr, "is neither a folder nor an http URL") {
		t.Errorf("status %d: %s", code, stderr)
	}
	if err := os.Remove(filepath.Join(dir, "signature.dsse.json")); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := execute("sign", dir, "--key", key); code != exit.Fail || !strings.Contains(stdout, "does not match") || !strings.Contains(stderr, "is not signed") {
		t.Errorf("status %d: %s%s", code, stdout, stderr)
	}
}

func TestConformance_IsCollectedAndCompared(t *testing.T) {
	whole, _, _ := campaign(t, nil)
	// The topology is another file each time, and shards are parts of one plan.
	useFake(t)
	topology := threeFakes(t)
	var shards []string
	for _, shard := range []string{"1/2", "2/2"} {
		dir := filepath.Join(t.TempDir(), "shard")
		code, stdout, stderr := execute("conformance", "run", "--topology", topology, "--focus", "^"+fakerun.Judges+"$",
			"--scenario", "restart-skew", "--repeat", "2", "--seed", "1", "--shard", shard, "--out", dir)
		if code != exit.Pass || !strings.Contains(stdout, "The shard is played") {
			t.Fatal(code, stdout, stderr)
		}
		shards = append(shards, dir)
	}
	merged := filepath.Join(t.TempDir(), "merged")
	if code, stdout, stderr := execute("conformance", "collect", shards[0], shards[1], "--out", merged); code != exit.Pass || !strings.Contains(stdout, "Verdict: PASS") {
		t.Fatal(code, stdout, stderr)
	}
	if code, stdout, _ := execute("diff", whole, merged); code != exit.Pass || !strings.Contains(stdout, "topology: ") || strings.Contains(stdout, "SV-06") {
		t.Errorf("status %d: %s", code, stdout)
	}
	red, _, _ := campaign(t, map[string]string{"restart-skew/1": fakerun.Fail})
	if code, stdout, _ := execute("diff", merged, red); code != exit.Fail || !strings.Contains(stdout, "0 of 2 runs → 1 of 2: too few runs to tell") || !strings.Contains(stdout, "worse in the second: SV-06") {
		t.Errorf("status %d: %s", code, stdout)
	}
	if code, _, stderr := execute("diff", merged, t.TempDir()); code != exit.CouldNotRun || !strings.Contains(stderr, "name two of a kind") {
		t.Errorf("status %d: %s", code, stderr)
	}
	if code, _, stderr := execute("conformance", "collect", merged); code != exit.CouldNotRun || !strings.Contains(stderr, "--out DIR") {
		t.Errorf("status %d: %s", code, stderr)
	}
}

// The path of a Job: a plan and a manifest, a Pod for each line, and one report.
func TestConformance_PlaysAPlanAsAJob(t *testing.T) {
	campaign(t, map[string]string{"restart-skew/2": fakerun.Fail})
	topology, folder, store := threeFakes(t), filepath.Join(t.TempDir(), "job"), filepath.Join(t.TempDir(), "store")
	ask := []string{"--topology", topology, "--focus", "^" + fakerun.Judges + "$", "--scenario", "restart-skew", "--repeat", "2", "--seed", "1"}
	code, stdout, stderr := execute(append([]string{"conformance", "job", "--image", "example/evenkeel", "--claim", "bundles", "--out", folder}, ask...)...)
	if code != exit.Pass || !strings.Contains(stdout, "2 runs are planned, one for each index") {
		t.Fatal(code, stdout, stderr)
	}
	plan := filepath.Join(folder, conformance.PlanFile)
	for index, want := range []int{exit.Pass, exit.Fail} {
		t.Setenv(indexVariable, strconv.Itoa(index))
		code, stdout, stderr := execute("conformance", "line", "--plan", plan, "--store", store, "--out", filepath.Join(t.TempDir(), "work"))
		if code != want || !strings.Contains(stdout, "of the plan: ") {
			t.Errorf("index %d: status %d\n%s%s", index, code, stdout, stderr)
		}
	}
	merged := filepath.Join(t.TempDir(), "merged")
	if code, stdout, stderr := execute("conformance", "collect", "--plan", plan, "--store", store, "--out", merged); code != exit.Fail || !strings.Contains(stdout, "broken in 1 of 2") {
		t.Errorf("status %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, _ := execute("verify", merged); code != exit.Pass {
		t.Errorf("status %d: %s", code, stdout)
	}
	for args, want := range map[string]string{
		"line": "name plan, store and folder", "collect --plan x --out y": "name where the Pods have put", "job": "name the folder for plan", "line --plan " + plan + " --store " + store + " --out x --line 3": "the plan has no line 3",
	} {
		if code, _, stderr := execute(append([]string{"conformance"}, strings.Fields(args)...)...); code != exit.CouldNotRun || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q", args, code, stderr)
		}
	}
}
