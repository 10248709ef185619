package reference

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	t.Setenv(Variable, "/nowhere/refplane")
	_, err := Find(t.Context())
	expectError(t, err, "EVENKEEL_REFPLANE names no program that can be run")

	folder := t.TempDir()
	t.Chdir(folder)
	t.Setenv(Variable, "")
	t.Setenv("PATH", folder)
	_, err = Find(t.Context())
	expectError(t, err, "run `go install github.com/evenkeel/evenkeel/impl/cmd/refplane@latest`, or set EVENKEEL_REFPLANE")
	if err := os.WriteFile(filepath.Join(folder, refplane), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if path, err := Find(t.Context()); err != nil || path != filepath.Join(folder, refplane) {
		t.Errorf("Find = %q, %v", path, err)
	}
}

func expectError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want one with %q", err, want)
	}
}
