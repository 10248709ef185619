package run

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// outsider is a provider of external clusters that does not connect to one.
type outsider struct{ provider }

func (outsider) Name() string { return "external" }

func (outsider) Adopts() {}

func (outsider) Releases(context.Context, string) ([]string, error) { return nil, nil }

func theirs(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "theirs.yaml")
	content := "apiVersion: evenkeel.dev/v1alpha1\nkind: Topology\nmetadata: {name: theirs}\nspec:\n  provider: external\n" +
		"  members:\n  - name: cp1\n    external: {kubeconfig: private.kubeconfig}\n  external:\n    hooks: {kill: {command: [private.sh]}}\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPrepare_ExternalClusterIsNotDisrupted(t *testing.T) {
	file, outsiders := theirs(t), cluster.Registry{outsider{}}
	for _, tc := range []struct{ name, scenario, release, expectError string }{
		{"the main job", "", "", "step 2 (upgrade) of the scenario upgrade-rollback-crash disrupts the control plane"},
		{"a restart", "fixtures/scenarios/discovery.yaml", "", "step 5 (restart) of the scenario discovery disrupts"},
		{"tampering", "fixtures/scenarios/departed.yaml", "", "allow it with --allow-disruption"},
		{"a release", "fixtures/scenarios/discovery-quick.yaml", "v1.36.3", "--release is not supported with the provider external"},
		{"only looks", "fixtures/scenarios/discovery-quick.yaml", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := Options{Topology: file, Scenario: tc.scenario, Release: tc.release, Providers: outsiders}
			p, err := prepare(t.Context(), o, now)
			if tc.expectError == "" && err != nil || tc.expectError != "" && (err == nil || !strings.Contains(err.Error(), tc.expectError)) {
				t.Fatalf("error %v, want %q", err, tc.expectError)
			}
			if err == nil && strings.Contains(string(p.topologyYAML), "private") {
				t.Errorf("the bundle gets\n%s", p.topologyYAML)
			}
			if tc.release != "" {
				return
			}
			o.AllowDisruption = true
			if _, err := prepare(t.Context(), o, now); err != nil {
				t.Errorf("with leave: %v", err)
			}
		})
	}
	_, err := Run(t.Context(), Options{Topology: file, Out: filepath.Join(t.TempDir(), "b"), Providers: outsiders})
	if err == nil {
		t.Error("it was played")
	}
}

// A scenario that changes settings does not bring private fields of the topology into the
// bundle either.
func TestPrepare_ExternalClusterKeepsItsSettings(t *testing.T) {
	for _, name := range []string{"discovery-peers", "election-quick"} {
		p, err := prepare(t.Context(), Options{
			Topology: theirs(t), Scenario: "fixtures/scenarios/" + name + ".yaml", AllowDisruption: true, Providers: cluster.Registry{outsider{}},
		}, now)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(p.topologyYAML), "private") || p.topology.Spec.Settings != (cluster.Settings{}) {
			t.Errorf("%s: the settings are %+v, and the bundle gets\n%s", name, p.topology.Spec.Settings, p.topologyYAML)
		}
	}
}

func TestWhatCouldJudgeNothingIsNotPlayed(t *testing.T) {
	for scenario, worthwhile := range map[string]bool{"discovery-quick": true, "election-rollout": false, "migration": false, "discovery-peers": false} {
		p, err := prepare(t.Context(), Options{
			Topology: theirs(t), Scenario: "fixtures/scenarios/" + scenario + ".yaml", AllowDisruption: true, Providers: cluster.Registry{outsider{}},
		}, now)
		if err != nil {
			t.Fatal(err)
		}
		err = p.worthwhile(history.Header{Lacks: []history.Lack{{What: history.LackBeginning, Reason: "it ran before"}}})
		if (err == nil) != worthwhile {
			t.Errorf("%s: error %v", scenario, err)
		}
		if err != nil && !strings.Contains(err.Error(), "no requirement could be judged there") {
			t.Errorf("%s: error %v", scenario, err)
		}
	}
}

// moon is a provider that nothing but the registry knows.
type moon struct{ local.Provider }

func (moon) Name() string { return "moon" }

// A provider is its own folder and a line in the registry: the rest goes by what it can do.
func TestRun_ProviderThatNothingElseKnows(t *testing.T) {
	o, _ := fakeRun(t, fakeplane.Broken)
	raw, err := os.ReadFile(o.Topology)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.Topology, []byte(strings.Replace(string(raw), "provider: local", "provider: moon", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Providers = append(o.Providers, moon{})
	outcome, err := Run(t.Context(), o)
	if outcome == nil || outcome.Report == nil {
		t.Fatalf("there is no report: %v", err)
	}
	if got := outcome.Report.Target.Provider; got != "moon" {
		t.Errorf("the report names the provider %q", got)
	}
	readable(t, outcome)
}
