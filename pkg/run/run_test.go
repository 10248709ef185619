package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/evenkeel/evenkeel/pkg/judge"
)

func TestMain(m *testing.M) {
	fakeplane.Main()
	os.Exit(m.Run())
}

func TestRunThatCannotBegin(t *testing.T) {
	out := filepath.Join(t.TempDir(), "b")
	for range 2 { // the second try must not find the bundle of the first one
		outcome, err := Run(t.Context(), Options{Out: out, Providers: providers})
		if outcome != nil || err == nil || err.Error() != "port 17000 is in use" {
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
	if _, err := Run(t.Context(), Options{Out: out, Providers: providers}); err == nil || !strings.Contains(err.Error(), "is not empty") {
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
	if err == nil || !strings.Contains(err.Error(), "the flag of the year is missing") {
		t.Errorf("error %v", err)
	}
	if outcome == nil {
		t.Fatal("no bundle is told of")
	}
	if outcome.Report.Verdict != check.Inconclusive {
		t.Errorf("verdict %s", outcome.Report.Verdict)
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
	if err == nil || !strings.HasPrefix(err.Error(), "the run was interrupted") {
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
	if !strings.Contains(shown.String(), "could not be stopped: process 7 does not end; `evenkeel cluster clean`") {
		t.Errorf("the console says\n%s", shown)
	}
}

// unrestored is a provider of a cluster that was there before the run, and that a hook has
// left frozen.
type unrestored struct {
	local.Provider
	topology *cluster.Topology
}

func (unrestored) Name() string { return "external" }

func (unrestored) Adopts() {}

func (unrestored) Releases(context.Context, string) ([]string, error) { return nil, nil }

func (s unrestored) New(ctx context.Context, _ *cluster.Topology, options cluster.Options) (cluster.Cluster, error) {
	made, err := s.Provider.New(ctx, s.topology, options)
	return unrestoredCluster{made}, err
}

type unrestoredCluster struct{ cluster.Cluster }

func (unrestoredCluster) Lacks(cluster.Means) string { return "" }

func (s unrestoredCluster) Stop(ctx context.Context) error {
	return errors.Join(s.Cluster.Stop(ctx), errors.New("member cp1 is still frozen: run the hook resume"))
}

// A verdict alone would leave a frozen member behind.
func TestRun_ThatLeavesAClusterOtherwiseThanItWasIsNoSuccess(t *testing.T) {
	o, _ := fakeRun(t, fakeplane.Broken)
	raw, err := os.ReadFile(o.Topology)
	if err != nil {
		t.Fatal(err)
	}
	made, err := cluster.ParseTopology(o.Topology, raw)
	if err != nil {
		t.Fatal(err)
	}
	o.Topology, o.Scenario, o.AllowDisruption = theirs(t), "fixtures/scenarios/discovery-quick.yaml", true
	o.Providers = cluster.Registry{unrestored{topology: made}}
	outcome, err := Run(t.Context(), o)
	var left *LeftBehindError
	if !errors.As(err, &left) || !strings.Contains(err.Error(), "the cluster is not as it was found: member cp1 is still frozen: run the hook resume") {
		t.Errorf("error %v", err)
	}
	if outcome == nil || outcome.Report == nil {
		t.Error("there is no report on what was recorded")
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
	again, err := judge.Bundle(t.Context(), outcome.Bundle)
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

func TestCheck_AsksTheClusterWhatItCanPlay(t *testing.T) {
	o, _ := fakeRun(t, fakeplane.Broken)
	o.Focus = ""
	o.Scenario = "fixtures/scenarios/election-denied.yaml"
	if err := Check(t.Context(), o); err == nil || !strings.Contains(err.Error(), "ValidatingAdmissionPolicies") {
		t.Errorf("a scenario that needs policies of the API servers is refused with %v", err)
	}
	o.Scenario = quick
	if err := Check(t.Context(), o); err != nil {
		t.Errorf("a scenario that needs nothing is refused: %v", err)
	}
	if _, err := os.Stat(o.Out); err == nil {
		t.Errorf("the folder of the bundle is there, and nothing was to be run")
	}
}
