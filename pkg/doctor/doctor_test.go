package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

// provider has these releases and nothing else.
type provider struct {
	cluster.Provider
	releases []string
	err      error
}

func (provider) Name() string { return "local" }

func (p provider) Releases(context.Context, string) ([]string, error) { return p.releases, p.err }

func TestExamine(t *testing.T) {
	root := filepath.Join(t.TempDir(), "not", "there", "yet")
	t.Setenv(state.RootVariable, root)
	findings := Examine(t.Context(), cluster.Registry{provider{releases: []string{"1.2", "1.3"}}})
	for _, f := range findings {
		if f.What == "" || f.Detail == "" || strings.Contains(f.Detail, "\n") {
			t.Errorf("%+v does not say in a line what was found", f)
		}
		if f.Needed && !f.OK {
			t.Errorf("%s: %s, on a machine that runs these tests", f.What, f.Detail)
		}
	}
	if _, err := os.Stat(filepath.Dir(root)); !os.IsNotExist(err) {
		t.Errorf("looking at the machine left something: %v", err)
	}
}

func TestReference(t *testing.T) {
	for _, tc := range []struct {
		name      string
		providers cluster.Registry
		ok        bool
		detail    string
	}{
		{"there", cluster.Registry{provider{releases: []string{"1.2", "1.3"}}}, true, "releases 1.2, 1.3"},
		{"not found", cluster.Registry{provider{err: errors.New("run `go install`")}}, false, "run `go install`"},
		{"without releases", cluster.Registry{provider{}}, false, "no provider runs it"},
		{"no provider", nil, false, "no provider runs it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if f := reference(t.Context(), tc.providers); f.OK != tc.ok || !f.Needed || !strings.Contains(f.Detail, tc.detail) {
				t.Errorf("%+v, want ok %v and %q", f, tc.ok, tc.detail)
			}
		})
	}
}

func TestStateFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, root, expectError string }{
		{"there", dir, ""},
		{"not there yet", filepath.Join(dir, "a", "b"), ""},
		{"a file", file, "is no folder; name another with EVENKEEL_STATE"},
		{"below a file", filepath.Join(file, "a"), "not a directory; name another with EVENKEEL_STATE"},
		{"where no user can write", "/proc/self/evenkeel", "name another with EVENKEEL_STATE"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(state.RootVariable, tc.root)
			f := stateFolder()
			if f.OK != (tc.expectError == "") || !strings.Contains(f.Detail, tc.expectError) {
				t.Errorf("%+v, want %q", f, tc.expectError)
			}
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestGoIsNotNeeded(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if f := goToolchain(t.Context()); f.OK || f.Needed || !strings.Contains(f.Detail, "only needed to build") {
		t.Errorf("%+v", f)
	}
}
