package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// provider knows releases and defects, and cannot make clusters.
type provider struct{ cluster.Provider }

func (provider) Name() string { return "local" }

func (provider) Releases(_ context.Context, distribution string) ([]string, error) {
	if distribution != cluster.DefaultDistribution {
		return nil, errors.New("only the reference is known here")
	}
	return []string{"1.1", "1.2", "1.3"}, nil
}

func (provider) Defects(context.Context, string) ([]cluster.Defect, error) {
	return []cluster.Defect{{ID: "SV-06-x", Requirement: "SV-06"}, {ID: "XX-99-y", Requirement: "XX-99"}}, nil
}

func (provider) New(context.Context, *cluster.Topology, cluster.Options) (cluster.Cluster, error) {
	return nil, errors.New("port 17000 is in use")
}

var (
	providers = cluster.Registry{provider{}}
	now       = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	quick     = "fixtures/scenarios/quick.yaml"
)

func TestPrepare(t *testing.T) {
	whole, err := requirement.LookupProfile("storage-version-rollout")
	if err != nil {
		t.Fatal(err)
	}
	always, err := requirement.LookupProfile("every-run")
	if err != nil {
		t.Fatal(err)
	}
	all := inALine(whole.Requirements) + " " + inALine(always.Requirements)
	for _, tc := range []struct {
		name     string
		o        Options
		scenario string
		// asked and judged requirements; empty means the whole profile.
		asked, judged string
	}{
		{"main job", Options{}, "upgrade-rollback-crash", all, all},
		{"by profile", Options{Profiles: []string{"storage-version-rollout"}}, "upgrade-rollback-crash", "", ""},
		{"focus", Options{Focus: "SV-01"}, "quick", "SV-01", "SV-01"},
		{"a focus that only the main job can judge as a whole", Options{Focus: "SV-(12|22)"}, "upgrade-rollback-crash", "SV-12 SV-22", "SV-12 SV-22"},
		{"defect", Options{Defect: "SV-06-x"}, "restart-skew", "SV-06", "SV-06"},
		{"defect in a scenario that does not list what it breaks", Options{Defect: "SV-06-x", Scenario: "../../fixtures/scenarios/election-soak.yaml"}, "election-soak", "SV-06", "SV-06"},
		{"defect with a focus", Options{Defect: "XX-99-y", Focus: "SV-01"}, "quick", "SV-01", "SV-01"},
		{"scenario that cannot judge all", Options{Scenario: quick}, "quick", "SV-01 SV-02 SV-03 SV-04 SV-05 SV-11 RO-07", "SV-01 SV-02 SV-03 SV-04 SV-05 SV-11 RO-07"},
		{"scenario that cannot judge all of a focus", Options{Scenario: quick, Focus: "SV-(01|22)"}, "quick", "SV-01 SV-22", "SV-01"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.o.Providers = providers
			p, err := prepare(t.Context(), tc.o, now)
			if err != nil {
				t.Fatal(err)
			}
			if p.scenario.Metadata.Name != tc.scenario {
				t.Errorf("scenario %s, want %s", p.scenario.Metadata.Name, tc.scenario)
			}
			for _, one := range []struct {
				what string
				got  []requirement.Requirement
				want string
			}{{"asked", p.asked, tc.asked}, {"judged", p.requirements, tc.judged}} {
				if one.want == "" {
					for _, id := range whole.Requirements {
						one.want += " " + string(id)
					}
				}
				if got := strings.Join(ids(one.got), " "); got != strings.TrimSpace(one.want) {
					t.Errorf("%s: %s, want %s", one.what, got, one.want)
				}
			}
			if want := tc.scenario + "-20261120-100000"; p.id != want || p.out != filepath.Join(DefaultOut, want) {
				t.Errorf("run %s in %s", p.id, p.out)
			}
			if p.seed == 0 {
				t.Error("no seed was chosen")
			}
			if len(p.scenarioYAML) == 0 || len(p.topologyYAML) == 0 {
				t.Error("there is nothing to put into the bundle")
			}
		})
	}
}

func TestPrepareKeepsSeedAndOut(t *testing.T) {
	p, err := prepare(t.Context(), Options{Seed: 42, Out: "here", Providers: providers}, now)
	if err != nil || p.seed != 42 || p.out != "here" || !strings.HasPrefix(string(p.played()), "# Played with seed 42.\n") {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestPrepareFails(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	topology := func(old, changed string) string {
		return file("topology.yaml", strings.Replace(shippedTopology(t), old, changed, 1))
	}
	const tiny = "apiVersion: evenkeel.dev/v1alpha1\nkind: Scenario\nmetadata: {name: NAME}\ndescription: d\njudges: [SV-01]\nsteps: [{hold: {name: h, for: 1s}}]\n"
	for _, tc := range []struct {
		name string
		// o is made late, because files are written again for each case.
		o           func() Options
		expectError string
	}{
		{"unknown topology", func() Options { return Options{Topology: "clusters/x.yaml"} }, "the topology clusters/x.yaml cannot be read"},
		{"broken topology", func() Options { return Options{Topology: topology("spec:", "spex:")} }, "topology.yaml"},
		{"unknown provider", func() Options { return Options{Topology: topology("provider: local", "provider: moon")} }, `there is no provider "moon"`},
		{"unknown distribution", func() Options { return Options{Topology: topology("distribution: reference", "distribution: moon")} }, "only the reference is known here"},
		{"unknown release", func() Options { return Options{Topology: topology(`release: "1.2"`, `release: "9"`)} }, `has no release "9"`},
		{"unknown defect", func() Options { return Options{Defect: "SV-99-z"} }, `has no defect "SV-99-z"; it has: SV-06-x`},
		{"defect that no requirement judges", func() Options { return Options{Defect: "XX-99-y"} }, "name with --focus what to judge"},
		{"unknown profile", func() Options { return Options{Profiles: []string{"moon"}} }, `there is no profile "moon"`},
		{"empty profile", func() Options { return Options{Profiles: []string{""}} }, `there is no profile ""`},
		{"unknown focus", func() Options { return Options{Focus: "SV-99"} }, "no requirement of the chosen profiles matches"},
		{"broken focus", func() Options { return Options{Focus: "("} }, "is not a regular expression"},
		{"unknown scenario", func() Options { return Options{Scenario: "fixtures/scenarios/x.yaml"} }, "read the scenario fixtures/scenarios/x.yaml"},
		{"a folder for a scenario", func() Options { return Options{Scenario: dir} }, "read the scenario"},
		{"broken scenario", func() Options { return Options{Scenario: file("s.yaml", tiny+"color: red\n")} }, "s.yaml:7"},
		{"scenario with an impossible name", func() Options { return Options{Scenario: file("s.yaml", strings.Replace(tiny, "NAME", "A/B", 1))} }, `metadata.name "A/B" must be a short DNS label`},
		{"scenario with an endless name", func() Options {
			return Options{Scenario: file("s.yaml", strings.Replace(tiny, "NAME", strings.Repeat("a", 60), 1))}
		}, "must be a short DNS label"},
		{"scenario from an unknown release", func() Options {
			text := strings.Replace(strings.Replace(tiny, "NAME", "a", 1), "steps:", "start: {release: \"9\"}\nsteps:", 1)
			return Options{Scenario: file("s.yaml", text)}
		}, `there is no release "9"`},
		{"peers that the scenario does not know of", func() Options {
			return Options{Topology: topology("  settings:\n", "  settings:\n    peerDiscovery: true\n"), Scenario: quick}
		}, "has spec.settings.peerDiscovery, and the scenario quick is judged by what each API server hosts itself: leave the setting out"},
		{"scenario that judges nothing of it", func() Options { return Options{Scenario: quick, Focus: "SV-22"} }, "the scenario quick cannot judge SV-22; leave --scenario out"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := tc.o()
			o.Providers = providers
			_, err := prepare(t.Context(), o, now)
			if err == nil || !strings.Contains(err.Error(), tc.expectError) {
				t.Fatalf("error %v, want %q", err, tc.expectError)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is not one line: %q", err)
			}
		})
	}
}

func TestScenarioSetsTheRelease(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.yaml")
	const text = "apiVersion: evenkeel.dev/v1alpha1\nkind: Scenario\nmetadata: {name: old}\njudges: [SV-01]\nstart: {release: \"@oldest\"}\nsteps: [{hold: {name: h, for: 1s}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := prepare(t.Context(), Options{Scenario: file, Providers: providers}, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.topology.Spec.Members {
		if got := p.topology.ReleaseOf(m); got != "1.1" {
			t.Errorf("%s begins at %s", m.Name, got)
		}
	}
}

func TestReleaseIsPlayedAndRecorded(t *testing.T) {
	p, err := prepare(t.Context(), Options{Release: "1.1", Providers: providers}, now)
	if err != nil {
		t.Fatal(err)
	}
	written, err := cluster.ParseTopology("topology.yaml", p.topologyYAML)
	if err != nil {
		t.Fatal(err)
	}
	for _, topology := range []*cluster.Topology{p.topology, written} {
		for _, m := range topology.Spec.Members {
			if got := topology.ReleaseOf(m); got != "1.1" {
				t.Errorf("%s begins at %s", m.Name, got)
			}
		}
	}
	if written.Spec.Settings != p.topology.Spec.Settings {
		t.Errorf("the bundle's topology has the settings %+v, and %+v are played", written.Spec.Settings, p.topology.Spec.Settings)
	}
	if _, err := prepare(t.Context(), Options{Release: "9.9", Providers: providers}, now); err == nil || !strings.Contains(err.Error(), "9.9") {
		t.Errorf("an unknown release is accepted: %v", err)
	}
}

func TestScenarioOfPeersSwitchesThemOn(t *testing.T) {
	for focus, want := range map[string]bool{"AD-23": true, "AD-24": true, "AD-01": false} {
		p, err := prepare(t.Context(), Options{Focus: focus, Providers: providers}, now)
		if err != nil {
			t.Fatal(err)
		}
		written, err := cluster.ParseTopology("topology.yaml", p.topologyYAML)
		if err != nil {
			t.Fatal(err)
		}
		if p.topology.Spec.Settings.PeerDiscovery != want || written.Spec.Settings != p.topology.Spec.Settings {
			t.Errorf("%s: %s is played with %+v, and the bundle has %+v", focus, p.scenario.Metadata.Name, p.topology.Spec.Settings, written.Spec.Settings)
		}
	}
	// A topology that has them already is fine for it.
	dir := t.TempDir()
	with := filepath.Join(dir, "topology.yaml")
	if err := os.WriteFile(with, []byte(strings.Replace(shippedTopology(t), "  settings:\n", "  settings:\n    peerDiscovery: true\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := prepare(t.Context(), Options{Topology: with, Focus: "AD-23", Providers: providers}, now); err != nil {
		t.Error(err)
	}
}

// A scenario that says whether leaders release their Lease on exit is played so, whatever the
// topology has, and any other one as the topology has it.
func TestScenarioSaysWhetherLeadersReleaseOnExit(t *testing.T) {
	dir := t.TempDir()
	off := filepath.Join(dir, "topology.yaml")
	if err := os.WriteFile(off, []byte(strings.Replace(shippedTopology(t), "  settings:\n", "  settings:\n    leaderElectReleaseOnExit: off\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		topology, scenario string
		want               cluster.Switch
	}{
		{"", "quick", ""}, {off, "quick", cluster.SwitchOff}, {off, "election-release", cluster.SwitchOn}, {"", "window-stopped-uncoordinated", cluster.SwitchOff},
	} {
		p, err := prepare(t.Context(), Options{Topology: tc.topology, Scenario: "fixtures/scenarios/" + tc.scenario + ".yaml", Providers: providers}, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.topology.Spec.Settings.LeaderElectReleaseOnExit; got != tc.want {
			t.Errorf("%s is played with %q, want %q", tc.scenario, got, tc.want)
		}
	}
}

func TestScenarioSaysHowFastMigrationsAre(t *testing.T) {
	rateOf := func(topology, name string) float64 {
		p, err := prepare(t.Context(), Options{Topology: topology, Scenario: "fixtures/scenarios/" + name + ".yaml", Providers: providers}, now)
		if err != nil {
			t.Fatal(err)
		}
		written, err := cluster.ParseTopology("topology.yaml", p.topologyYAML)
		if err != nil {
			t.Fatal(err)
		}
		if written.Spec.Settings != p.topology.Spec.Settings {
			t.Errorf("%s is played with %+v, and the bundle has %+v", name, p.topology.Spec.Settings, written.Spec.Settings)
		}
		return p.topology.Spec.Settings.MigrationRate
	}
	asItIs, fast := rateOf("", "migration"), rateOf("", "migration-large")
	if asItIs == 0 || fast <= asItIs {
		t.Errorf("migration.yaml is played with %v writes a second, migration-large.yaml with %v", asItIs, fast)
	}
	// A scenario does not add a limit where the topology has none.
	without := filepath.Join(t.TempDir(), "topology.yaml")
	text := strings.Replace(shippedTopology(t), "    migrationRate:", "    # migrationRate:", 1)
	if err := os.WriteFile(without, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if rate := rateOf(without, "migration-large"); rate != 0 {
		t.Errorf("a topology without a limit is played with %v writes a second", rate)
	}
}

func TestCheapest(t *testing.T) {
	for _, r := range requirement.All() {
		if !check.Built(r.ID) {
			continue
		}
		file, ok := Cheapest([]string{string(r.ID)})
		if !ok {
			t.Errorf("no shipped scenario judges %s", r.ID)
			continue
		}
		s, err := scenario.LoadFS(fixtures.Files, strings.TrimPrefix(file, "fixtures/"))
		if err != nil || !slices.Contains(s.Judges, string(r.ID)) {
			t.Errorf("%s: %s judges it not: %v", r.ID, file, err)
		}
	}
	for _, tc := range []struct{ ids, want string }{
		{"SV-01", quick},
		{"SV-01 SV-14", "fixtures/scenarios/restart-skew.yaml"},
		{"SV-02 SV-12", "fixtures/scenarios/node-faults.yaml"},
		{"SV-02 SV-22", DefaultScenario},
		{"CLE-24", "fixtures/scenarios/election-faults.yaml"},
		{"SV-01 AD-01", ""},
		{"", ""},
	} {
		if got, ok := Cheapest(strings.Fields(tc.ids)); got != tc.want || ok != (tc.want != "") {
			t.Errorf("Cheapest(%s) = %s, %v, want %s", tc.ids, got, ok, tc.want)
		}
	}
}

func shippedTopology(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", DefaultTopology))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// inALine are requirements in a line.
func inALine(of []requirement.ID) string {
	var out []string
	for _, id := range of {
		out = append(out, string(id))
	}
	return strings.Join(out, " ")
}
