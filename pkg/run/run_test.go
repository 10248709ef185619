package run

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/report"
)

func TestMain(m *testing.M) {
	fakeplane.Main()
	os.Exit(m.Run())
}

func TestStatus(t *testing.T) {
	for verdict, want := range map[check.Verdict]int{
		check.Pass: exit.Pass, check.Fail: exit.Fail, check.Inconclusive: exit.Inconclusive,
		check.Skipped: exit.Inconclusive, check.NotApplicable: exit.Inconclusive, "": exit.Inconclusive, "splendid": exit.Inconclusive,
	} {
		if got := Status(verdict); got != want {
			t.Errorf("%q ends with %d, want %d", verdict, got, want)
		}
	}
}

func TestRunThatCannotBegin(t *testing.T) {
	out := filepath.Join(t.TempDir(), "b")
	for range 2 { // the second try must not find the bundle of the first one
		outcome, err := Run(t.Context(), Options{Out: out, Providers: providers})
		if outcome != nil || exit.Code(err) != exit.CouldNotRun || err.Error() != "port 17000 is in use" {
			t.Fatalf("%+v, %v", outcome, err)
		}
		if _, err := os.Stat(out); !os.IsNotExist(err) {
			t.Errorf("a bundle without a history was left: %v", err)
		}
	}
}

func TestRunRefusesAFullFolder(t *testing.T) {
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), Options{Out: out, Providers: providers}); exit.Code(err) != exit.CouldNotRun || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("error %v", err)
	}
}

func TestRunWhoseControlPlaneDoesNotBoot(t *testing.T) {
	o, shown := fakeRun(t, fakeplane.Broken)
	o.Strict = true
	outcome, err := Run(t.Context(), o)
	if outcome != nil && !outcome.Report.Strict {
		t.Error("the history has forgotten that the judge is to be strict")
	}
	if exit.Code(err) != exit.CouldNotRun || !strings.Contains(err.Error(), "the flag of the year is missing") {
		t.Errorf("error %v", err)
	}
	if outcome == nil {
		t.Fatal("no bundle is told of")
	}
	if outcome.Report.Verdict != check.Inconclusive || Status(outcome.Report.Verdict) != exit.Inconclusive {
		t.Errorf("verdict %s, status %d", outcome.Report.Verdict, Status(outcome.Report.Verdict))
	}
	if !strings.Contains(shown.String(), "step 0/1 boot failed") {
		t.Errorf("the console says\n%s", shown)
	}
	readable(t, outcome)
}

func TestRunIsInterruptedWhileItBoots(t *testing.T) {
	o, shown := fakeRun(t, fakeplane.Good)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	shown.when, shown.do = "is ready", cancel
	outcome, err := Run(ctx, o)
	if exit.Code(err) != exit.CouldNotRun || !strings.HasPrefix(err.Error(), "the run was interrupted") {
		t.Errorf("error %v\n%s", err, shown)
	}
	if outcome == nil || outcome.Report.Complete || !strings.Contains(outcome.Report.Message, "the run was interrupted") {
		t.Fatalf("%+v", outcome)
	}
	readable(t, outcome)
}

// unstoppable is a control plane that comes to nothing and does not go away.
type unstoppable struct{ cluster.Provider }

func (u unstoppable) New(ctx context.Context, topology *cluster.Topology, options cluster.Options) (cluster.Cluster, error) {
	made, err := u.Provider.New(ctx, topology, options)
	return unstoppableCluster{made}, err
}

type unstoppableCluster struct{ cluster.Cluster }

func (u unstoppableCluster) Stop(ctx context.Context) error {
	if err := u.Cluster.Stop(ctx); err != nil {
		return err
	}
	return fmt.Errorf("process 7 does not end")
}

func TestRunTellsThatSomethingIsLeft(t *testing.T) {
	o, shown := fakeRun(t, fakeplane.Broken)
	o.Providers = cluster.Registry{unstoppable{local.Provider{}}}
	if _, err := Run(t.Context(), o); err == nil || strings.Contains(err.Error(), "process 7") {
		t.Errorf("error %v is not the one that kept it from running", err)
	}
	if !strings.Contains(shown.String(), "could not be taken down: process 7 does not end; `evenkeel cluster clean`") {
		t.Errorf("the console says\n%s", shown)
	}
}

func TestJudgeBundle(t *testing.T) {
	const started = `"started":"2026-11-20T10:00:00Z"`
	header := func(more string) string {
		return fmt.Sprintf(`{"format":"evenkeel-history","version":%d,"run":"r",%s,"harness":"v9"%s}`+"\n", history.Version, started, more)
	}
	const end = `{"seq":1,"at":1,"kind":"end","end":{"complete":true}}` + "\n"
	for _, tc := range []struct {
		name, history string
		verdict       check.Verdict
		results       int
		expectError   string
	}{
		{name: "empty", expectError: "the file is empty"},
		{name: "foreign", history: `{"format":"tune"}` + "\n", expectError: `names the format "tune"`},
		{name: "no JSON", history: "hello\n", expectError: "is not the header of a history"},
		{name: "newer", history: strings.Replace(header(""), fmt.Sprintf(`"version":%d`, history.Version), fmt.Sprintf(`"version":%d`, history.Version+1), 1),
			expectError: "judge it with the evenkeel that recorded it (v9)"},
		{name: "unknown requirement", history: header(`,"judges":["SV-99"]`), expectError: "is to judge SV-99, which this evenkeel does not know"},
		{name: "unknown profile", history: header(`,"judges":["SV-06"],"profiles":["moon"]`), expectError: `there is no profile "moon"`},
		{name: "nothing to judge", history: header("") + end, verdict: check.Inconclusive},
		{name: "no events", history: header(`,"judges":["SV-06"],"asked":["SV-06"]`), verdict: check.Inconclusive, results: 1},
		{name: "nothing seen", history: header(`,"judges":["SV-06"],"asked":["SV-06"]`) + end, verdict: check.Inconclusive, results: 1},
		{name: "a requirement without a check", history: header(`,"judges":["SV-08"],"asked":["SV-08"]`) + end, verdict: check.Inconclusive, results: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, bundle.HistoryFile), []byte(tc.history), 0o600); err != nil {
				t.Fatal(err)
			}
			rep, err := JudgeBundle(t.Context(), dir)
			if tc.expectError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.expectError) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, want one sentence with %q", err, tc.expectError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if rep.Verdict != tc.verdict || len(rep.Results) != tc.results {
				t.Errorf("%s over %d results, want %s over %d", rep.Verdict, len(rep.Results), tc.verdict, tc.results)
			}
		})
	}
	if _, err := JudgeBundle(t.Context(), filepath.Join(t.TempDir(), "x")); err == nil || !strings.Contains(err.Error(), "x cannot be judged") {
		t.Errorf("error %v", err)
	}
}

func TestJudgeBundleIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	raw, err := os.ReadFile(filepath.Join("..", "..", "fixtures", "histories", "SV-06", "pass.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, bundle.HistoryFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if rep, err := JudgeBundle(ctx, dir); rep != nil || err == nil || !strings.Contains(err.Error(), "it was interrupted") {
		t.Errorf("%v, %v", rep, err)
	}
}

// A green history, judged by a run that was asked for more, is not green.
func TestJudgeBundleRemembersWhatWasAsked(t *testing.T) {
	for _, tc := range []struct {
		name    string
		asked   []string
		verdict check.Verdict
	}{
		{"what was judged", []string{"SV-06"}, check.Pass},
		{"more", []string{"SV-06", "SV-22"}, check.Inconclusive},
		{"the whole profile", nil, check.Inconclusive},
	} {
		t.Run(tc.name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("..", "..", "fixtures", "histories", "SV-06", "pass.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			line, events, _ := bytes.Cut(raw, []byte("\n"))
			var h history.Header
			if err := json.Unmarshal(line, &h); err != nil {
				t.Fatal(err)
			}
			h.Judges, h.Asked, h.Profiles = []string{"SV-06"}, tc.asked, []string{"storage-version-rollout"}
			if line, err = json.Marshal(h); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, bundle.HistoryFile), fmt.Appendf(nil, "%s\n%s", line, events), 0o600); err != nil {
				t.Fatal(err)
			}
			rep, err := JudgeBundle(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Results[0].Verdict != check.Pass || rep.Verdict != tc.verdict {
				t.Errorf("SV-06 is %s, the whole %s, want %s", rep.Results[0].Verdict, rep.Verdict, tc.verdict)
			}
			if core := rep.Profiles[0].Core.Outcome; core != report.Partial {
				t.Errorf("a profile of which one row was judged is a %s", core)
			}
		})
	}
}

// --- Helpers ---

// screen is a console that may do something when a line comes.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	when string
	do   func()
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.do != nil && bytes.Contains(p, []byte(s.when)) {
		s.do()
	}
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// fakeRun is a run on three members of the fake at a release.
func fakeRun(t *testing.T, release string) (Options, *screen) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv(fakeplane.Variable, "1")
	t.Setenv(reference.Variable, self)
	t.Setenv(state.RootVariable, filepath.Join(dir, "state"))
	topology := filepath.Join(dir, "topology.yaml")
	raw := strings.Replace(shippedTopology(t), `release: "1.2"`, fmt.Sprintf("release: %q", release), 1)
	if err := os.WriteFile(topology, []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, _ := os.ReadDir(filepath.Join(dir, "state")); len(left) > 0 {
			t.Errorf("left of clusters: %v", left)
		}
	})
	shown := &screen{}
	return Options{
		Topology: topology, Scenario: quick, Seed: 7, Out: filepath.Join(dir, "b"), Harness: "test",
		Console: shown, Providers: cluster.Registry{local.Provider{}},
	}, shown
}

// readable checks that a bundle is whole, and that judging it again gives the
// same bytes.
func readable(t *testing.T, outcome *Outcome) {
	t.Helper()
	for _, name := range []string{bundle.ReportFile, bundle.JUnitFile, bundle.HistoryFile, bundle.ScenarioFile, bundle.TopologyFile, bundle.EnvironmentFile, bundle.DigestFile} {
		if info, err := os.Stat(filepath.Join(outcome.Bundle, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	again, err := JudgeBundle(t.Context(), outcome.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	if again.Verdict != outcome.Report.Verdict {
		t.Errorf("judged again it is %s, and was %s", again.Verdict, outcome.Report.Verdict)
	}
	data, err := again.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if written, err := os.ReadFile(filepath.Join(outcome.Bundle, bundle.ReportFile)); err != nil || !bytes.Equal(written, data) {
		t.Errorf("judged again it gives other bytes (%v):\n%s\nwas\n%s", err, data, written)
	}
	if _, err := exec.LookPath("sha256sum"); err == nil {
		sums := exec.Command("sha256sum", "--check", "--quiet", bundle.DigestFile)
		sums.Dir = outcome.Bundle
		if out, err := sums.CombinedOutput(); err != nil {
			t.Errorf("sha256sum: %v\n%s", err, out)
		}
	}
}

// A published bundle may have its history compressed.
func TestJudgeBundleReadsACompressedHistory(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "fixtures", "histories", "SV-06", "pass.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	plain, zipped := t.TempDir(), t.TempDir()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{
		filepath.Join(plain, bundle.HistoryFile):                      raw,
		filepath.Join(zipped, bundle.HistoryFile) + bundle.Compressed: packed.Bytes(),
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := JudgeBundle(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	got, err := JudgeBundle(t.Context(), zipped)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}
