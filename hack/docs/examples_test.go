package docs

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// Topologies and scenarios in documents are such files, and Go is formatted and compiles.
func TestExamples_AreValid(t *testing.T) {
	root, all := repository(t)
	seen := map[string]int{}
	for _, d := range all {
		for _, block := range d.Blocks() {
			where, text := fmt.Sprintf("%s:%d", d.File, block.Line), strings.Join(block.Lines, "\n")+"\n"
			switch {
			case block.Language == "go":
				seen["go"]++
				if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
					t.Errorf("%s: is not formatted Go: %v", where, err)
				}
				if !testing.Short() {
					build(t, root, where, text)
				}
			case block.Language == "yaml" && strings.Contains(text, "\nkind: Topology\n"):
				seen["topology"]++
				if _, err := cluster.LoadTopology(write(t, t.TempDir(), "topology.yaml", text)); err != nil {
					t.Errorf("%s: %v", where, err)
				}
			case block.Language == "yaml" && strings.Contains(text, "\nkind: Scenario\n"):
				seen["scenario"]++
				folder := t.TempDir()
				if err := os.CopyFS(folder, fixtures.Files); err != nil {
					t.Fatal(err)
				}
				if _, err := scenario.Load(write(t, filepath.Join(folder, "scenarios"), "example.yaml", text)); err != nil {
					t.Errorf("%s: %v", where, err)
				}
			}
		}
	}
	if seen["go"] == 0 || seen["topology"] == 0 || seen["scenario"] == 0 {
		t.Errorf("there are only these examples: %v", seen)
	}
}

// build compiles a file as a package of this module, without a file in it.
func build(t *testing.T, root, where, text string) {
	t.Helper()
	folder := t.TempDir()
	file := write(t, folder, "example.go", text)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "suites", "documented", "example.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "go", "build", "-overlay", write(t, folder, "overlay.json", string(overlay)), "./suites/documented")
	run.Dir = root
	if said, err := run.CombinedOutput(); err != nil {
		t.Errorf("%s: does not compile: %v\n%s", where, err, said)
	}
}

func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	file := filepath.Join(folder, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

var shownPromise = regexp.MustCompile(`^([A-Z]+-\d+) +(MUST|SHOULD) +PASS +\d+  (.*)…$`)

// What README.md shows of a run has the promises of the catalog.
func TestReadme_ShowsPromisesOfTheCatalog(t *testing.T) {
	shown := 0
	for _, block := range document(t, "README.md").Blocks() {
		for _, line := range block.Lines {
			match := shownPromise.FindStringSubmatch(line)
			if match == nil {
				continue
			}
			shown++
			r, ok := requirement.Lookup(requirement.ID(match[1]))
			if !ok || string(r.Level) != match[2] || !strings.HasPrefix(r.Promise, match[3]) {
				t.Errorf("README.md shows %q, and the catalog has %s %s: %q", line, match[1], r.Level, r.Promise)
			}
		}
	}
	if shown == 0 {
		t.Error("README.md shows no verdict")
	}
}
