package verify

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// What is wrong is told in words that name the file or the field.
func TestProblems(t *testing.T) {
	reseal := func(t *testing.T, dir string) {
		if err := bundle.Seal(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	followed := func(t *testing.T, dir string) {
		if !follow(t, dir) {
			t.Fatal("it cannot be judged")
		}
	}
	replace := func(file, old, by string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, file)
			raw := string(read(t, path))
			if !strings.Contains(raw, old) {
				t.Fatalf("%s has no %q", file, old)
			}
			write(t, path, []byte(strings.Replace(raw, old, by, 1)))
		}
	}
	remove := func(file string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name    string
		changes []func(*testing.T, string)
		want    []string
	}{
		{"nothing", nil, nil},
		{"a file more", []func(*testing.T, string){func(t *testing.T, dir string) { write(t, filepath.Join(dir, "more"), nil) }},
			[]string{"more is extra"}},
		{"a file less", []func(*testing.T, string){remove(bundle.JUnitFile)}, []string{`"junit.xml" is missing`}},
		{"a report less, in the digests too", []func(*testing.T, string){remove(bundle.ReportFile), reseal}, []string{"there is no report.yaml"}},
		{"a link", []func(*testing.T, string){remove(bundle.JUnitFile), func(t *testing.T, dir string) {
			if err := os.Symlink(bundle.ReportFile, filepath.Join(dir, bundle.JUnitFile)); err != nil {
				t.Fatal(err)
			}
		}}, []string{"junit.xml is no regular file"}},
		{"two histories", []func(*testing.T, string){func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, bundle.HistoryFile+bundle.Compressed), nil)
		}}, []string{"it has both history.jsonl and history.jsonl.gz"}},
		{"a verdict", []func(*testing.T, string){replace(bundle.ReportFile, "id: SV-06", "id: SV-06\n  more: 1"), reseal},
			[]string{"results[SV-06].more: the report says 1, the history says nothing"}},
		{"a remark", []func(*testing.T, string){replace(bundle.ReportFile, "kind:", "# all is well\nkind:"), reseal},
			[]string{"report.yaml: no field differs from what the history says, but it is not written as evenkeel writes it"}},
		{"the seed's last digit", []func(*testing.T, string){replace(bundle.ReportFile, "seed: 1", "seed: 2"), reseal},
			[]string{"seed: the report says 2, the history says 1"}},
		{"the JUnit file", []func(*testing.T, string){replace(bundle.JUnitFile, "tests=", "texts="), reseal}, []string{"junit.xml is not what the history gives"}},
		{"another scenario", []func(*testing.T, string){replace(bundle.ScenarioFile, "story", "tale"), reseal}, []string{`scenario.yaml, metadata.name: it says "tale", and the history says "story"`}},
		{"another remark in the scenario, and all made anew", []func(*testing.T, string){replace(bundle.ScenarioFile, "seed 1", "seed 2"), followed, reseal},
			[]string{"scenario.yaml is not the file that the history was recorded with: its SHA-256 is "}},
		{"another machine, and all made anew", []func(*testing.T, string){replace(bundle.EnvironmentFile, "go1.26", "go1.27"), followed, reseal},
			[]string{"environment.yaml is not the file that the history was recorded with"}},
		{"a success", []func(*testing.T, string){replace(bundle.ReportFile, "outcome: failure", "outcome: success"), reseal}, []string{
			`profiles[storage-version-rollout].core.outcome: the report says "success", the history says "failure"`,
			"report.yaml breaks a rule: profiles[storage-version-rollout].core: it is a success, and SV-06 is fail",
		}},
		{"another suite", []func(*testing.T, string){replace(bundle.ReportFile, "suite: ", "suite: a"), reseal}, []string{"report.yaml was written by other rules than those of this evenkeel (suite \"a"}},
		{"another form", []func(*testing.T, string){replace(bundle.ReportFile, "schema: ", "schema: a"), reseal}, []string{"report.yaml was written by other rules"}},
		{"another member", []func(*testing.T, string){replace(bundle.TopologyFile, "cp3", "cp4"), reseal}, []string{"topology.yaml, provider, distribution and members"}},
		{"another harness", []func(*testing.T, string){replace(bundle.EnvironmentFile, "pkg/story", "v1"), reseal}, []string{"environment.yaml, harness and seed"}},
		{"a digest twice", []func(*testing.T, string){func(t *testing.T, dir string) {
			raw := read(t, filepath.Join(dir, bundle.DigestFile))
			write(t, filepath.Join(dir, bundle.DigestFile), append(raw, raw...))
		}}, []string{"a second time"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := build(t, "fail")
			for _, change := range tc.changes {
				change(t, dir)
			}
			outcome, err := Bundle(t.Context(), dir, Options{Harness: fixtureHarness})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if !slices.ContainsFunc(outcome.Problems, func(p string) bool { return strings.Contains(p, want) }) {
					t.Errorf("no problem says %q: %q", want, outcome.Problems)
				}
			}
			if outcome.Matches() != (len(tc.want) == 0) {
				t.Errorf("problems %q", outcome.Problems)
			}
		})
	}
}

// What cannot be read is no verdict on the bundle.
func TestUnreadable(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"no digests":     func(dir string) error { return os.Remove(filepath.Join(dir, bundle.DigestFile)) },
		"no such folder": os.RemoveAll,
		"a history of another version, sealed": func(dir string) error {
			raw, err := os.ReadFile(filepath.Join(dir, bundle.HistoryFile))
			if err != nil {
				return err
			}
			changed := strings.Replace(string(raw), `"version":2`, `"version":99`, 1)
			if err := os.WriteFile(filepath.Join(dir, bundle.HistoryFile), []byte(changed), 0o644); err != nil {
				return err
			}
			return bundle.Seal(t.Context(), dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := build(t, "pass")
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			if outcome, err := Bundle(t.Context(), dir, Options{Harness: fixtureHarness}); err == nil {
				t.Errorf("problems %q, and no error", outcome.Problems)
			}
		})
	}
}

// A report that is not in the bundle can be held against its history.
func TestReportBesideItsBundle(t *testing.T) {
	dir, other := build(t, "pass"), build(t, "fail")
	right := filepath.Join(t.TempDir(), "r.yaml")
	write(t, right, read(t, filepath.Join(dir, bundle.ReportFile)))
	if got := noticed(t, dir, Options{Report: right, Harness: fixtureHarness}); got != "" {
		t.Errorf("its own report: %s", got)
	}
	wrong := filepath.Join(other, bundle.ReportFile)
	got := noticed(t, dir, Options{Report: wrong, Harness: fixtureHarness})
	if !strings.Contains(got, `results[SV-06].verdict: the report says "fail", the history says "pass"`) {
		t.Errorf("the report of another run: %s", got)
	}
	if again := noticed(t, dir, Options{Report: wrong, Harness: fixtureHarness}); again != got {
		t.Errorf("the second time it says\n%s\nand the first\n%s", again, got)
	}
}

// Which version of evenkeel a history names is no evidence, so that a file that shows the
// report must be the one that the history gives, whatever version it names.
func TestBundle_ViewOfAnotherVersionIsCompared(t *testing.T) {
	dir := build(t, "pass")
	if got := noticed(t, dir, Options{Harness: "v0.0.1-made-up"}); got != "" {
		t.Errorf("what differs in nothing: %s", got)
	}
	write(t, filepath.Join(dir, bundle.JUnitFile), []byte("<testsuites/>\n"))
	if err := bundle.Seal(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	got := noticed(t, dir, Options{Harness: "v0.0.1-made-up"})
	for _, want := range []string{"junit.xml is not what the history gives here", "recorded it, and this is v0.0.1-made-up"} {
		if !strings.Contains(got, want) {
			t.Errorf("it says %q, and not %q", got, want)
		}
	}
}

// Who interrupts gets no verdict.
func TestBundle_EndsWithTheContext(t *testing.T) {
	dir := build(t, "pass")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if outcome, err := Bundle(ctx, dir, Options{Harness: fixtureHarness}); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v, %v", outcome, err)
	}
}
