package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// goesOn is a scenario that goes on to the next release.
const goesOn = "# \"@oldest\" is replaced once.\napiVersion: evenkeel.dev/v1alpha1\nkind: Scenario\nmetadata: {name: old}\njudges: [SV-01]\n" +
	"start: {release: START} # here\nsteps: [{upgrade: {member: \"@cp1\", to: \"@start+1\"}}, {hold: {name: \"after-oldest\", for: 1s}}]\n"

// A release that is asked for goes before @oldest, in the topology, in the scenario that is played
// and in the one that the bundle gets; and not before a release that the scenario names.
func TestRelease_GoesBeforeARelativeStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.yaml")
	write := func(start string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(strings.Replace(goesOn, "START", start, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, quote := range []string{`"`, `'`} {
		write(quote + "@oldest" + quote)
		for asked, want := range map[string]string{"": "1.1", "1.1": "1.1", "1.2": "1.2"} {
			p, err := prepare(t.Context(), Options{Scenario: file, Release: asked, Providers: providers}, now)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range p.topology.Spec.Members {
				if got := p.topology.ReleaseOf(m); got != want {
					t.Errorf("asked for %q, %s begins at %s", asked, m.Name, got)
				}
			}
			written := strings.Replace(goesOn, "START", quote+"@oldest"+quote, 1)
			if asked != "" {
				written = strings.Replace(goesOn, "START", quote+asked+quote, 1)
			}
			if string(p.scenarioYAML) != written {
				t.Errorf("asked for %q, the bundle gets %s", asked, p.scenarioYAML)
			}
			kept, err := scenario.Load(writeTo(t, p.scenarioYAML))
			if err != nil || kept.Start.Release != p.scenario.Start.Release {
				t.Errorf("asked for %q, %v is played and %v is kept, %v", asked, p.scenario.Start.Release, kept.Start.Release, err)
			}
		}
	}
	write(`"1.2"`)
	if _, err := prepare(t.Context(), Options{Scenario: file, Release: "1.3", Providers: providers}, now); err == nil || !strings.Contains(err.Error(), "leave --release out") {
		t.Errorf("a release that the scenario names gives way: %v", err)
	}
	for _, odd := range []string{`"@old\x65st"`, "*oldest"} {
		write(odd)
		if odd[0] == '*' {
			anchored := strings.Replace(goesOn, "metadata: {name: old}", "metadata: {name: old}\ndescription: &oldest \"@oldest\"", 1)
			if err := os.WriteFile(file, []byte(strings.Replace(anchored, "START", odd, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := prepare(t.Context(), Options{Scenario: file, Release: "1.2", Providers: providers}, now); err == nil || !strings.Contains(err.Error(), "start.release is not written as plain text") {
			t.Errorf("%s: error %v", odd, err)
		}
	}
}

func writeTo(t *testing.T, text []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kept.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The runner holds the cluster against the scenario, and what goes on to another release needs one.
func TestRelease_IsWhatTheRunnerHoldsTheClusterAgainst(t *testing.T) {
	o, _ := fakeRun(t, fakeplane.Broken)
	o.Focus, o.Scenario = "", writeTo(t, []byte(strings.Replace(goesOn, "START", `"@oldest"`, 1)))
	for _, o.Release = range []string{"", "1.0", "1.1"} {
		if err := Check(t.Context(), o); err != nil {
			t.Errorf("asked for %q: %v", o.Release, err)
		}
	}
	o.Release = fakeplane.Blurter
	if err := Check(t.Context(), o); err == nil || !strings.Contains(err.Error(), fakeplane.Blurter) {
		t.Errorf("it goes on from the last release: %v", err)
	}
}

// The digest that a plan has is that of what the bundle gets, whatever release was asked for.
func TestPlayedDigest_IsThatOfTheBundle(t *testing.T) {
	for _, release := range []string{"", "1.2"} {
		p, err := prepare(t.Context(), Options{Scenario: ScenarioPath("window-skip"), Release: release, Seed: 7, Providers: providers}, now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := PlayedDigest("window-skip", release, 7)
		if want := bundle.ContentDigest(p.played()); err != nil || got != want {
			t.Errorf("release %q: %s, %v, want %s", release, got, err, want)
		}
	}
}

// A scenario that ships goes by its path and by its name.
func TestLoadScenario_ByPathAndName(t *testing.T) {
	for _, name := range []string{ScenarioPath("quick"), "quick"} {
		if s, raw, err := LoadScenario(name); err != nil || s.Metadata.Name != "quick" || len(raw) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := LoadScenario("no-such"); err == nil {
		t.Error("a scenario that does not ship is there")
	}
}
