// Package hack holds the tests of what developers and CI run.
package hack

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorder stands in for a program: it notes its arguments, and the reference that it is
// given, one a line.
const recorder = `#!/bin/sh
{ echo "== $(basename "$0")"; for one in "$@"; do echo "$one"; done; [ -z "$EVENKEEL_REFPLANE" ] || echo "refplane $EVENKEEL_REFPLANE"; } >> "$RECORD"
`

// A clone may lie in a folder with a blank in its name, and so may what goes out.
func TestMake_InAFolderWithABlank(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Fatalf("make is needed: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "my clone")
	out, record := filepath.Join(dir, "what goes out"), filepath.Join(dir, "record")
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"Makefile": string(makefile), "go": recorder}
	for _, script := range []string{"e2e.sh", "e2e-kind.sh", "bench.sh", "reports.sh", "test.sh", "fuzz.sh", "lint.sh"} {
		files["hack/"+script] = recorder
	}
	for _, keep := range []string{"bin/x", "what/x", "goes/x"} {
		files[keep] = "kept"
	}
	writeFiles(t, dir, files)
	run := func(target string, variables ...string) []string {
		t.Helper()
		if err := os.RemoveAll(record); err != nil {
			t.Fatal(err)
		}
		// Nothing is built, and no daemon started.
		args := append([]string{"--no-print-directory", "-o", "build", "-o", "docker", target, "GO=./go", "OUT=" + out, "VERSION=v"}, variables...)
		command := exec.CommandContext(t.Context(), "make", args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "RECORD="+record, "MAKEFLAGS=", "EVENKEEL_REFPLANE=")
		if said, err := command.CombinedOutput(); err != nil {
			t.Errorf("make %s: %v: %s", target, err, said)
		}
		raw, err := os.ReadFile(record)
		if err != nil && target != "clean" {
			t.Errorf("make %s has run nothing: %v", target, err)
		}
		return strings.Split(string(raw), "\n")
	}
	refplane := "refplane " + filepath.Join(dir, "bin/refplane")
	topology := filepath.Join(dir, "a topology.yaml")
	for _, tc := range []struct {
		target    string
		variables []string
		want      []string
	}{
		{"migrate-install", []string{"TOPOLOGY=" + topology}, []string{refplane}},
		{"bench-migration", []string{"REPORT=a report.md"}, []string{refplane, "a report.md"}},
		{"bench-discovery", []string{"REPORT=a report.md"}, []string{refplane, "a report.md"}},
		{"bench-election", []string{"REPORT=a report.md"}, []string{refplane, "a report.md"}},
		{"skew", nil, []string{refplane, out + "/skew"}},
		{"mutation", nil, []string{out + "/mutation"}},
		{"soak", nil, []string{out + "/survey"}},
		{"survey", []string{"TOPOLOGY=" + topology}, []string{out + "/survey", topology}},
		{"e2e", nil, []string{out}},
		{"e2e-kind", nil, []string{out}},
	} {
		got := run(tc.target, tc.variables...)
		for _, want := range tc.want {
			if !slices.Contains(got, want) {
				t.Errorf("make %s: %q is no single argument of what is run:\n%s", tc.target, want, strings.Join(got, "\n"))
			}
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	run("clean")
	for name, kept := range map[string]bool{"what": true, "goes": true, "what goes out": false, "bin": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != kept {
			t.Errorf("make clean: %s is there: %v, want %v", name, err == nil, kept)
		}
	}
}

// writeFiles puts files that can be run into a folder, by name.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
