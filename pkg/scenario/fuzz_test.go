package scenario

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/evenkeel/evenkeel/fixtures"
)

// Whatever a scenario holds, it is read or refused. What it names it finds among those that
// ship.
func FuzzScenario(f *testing.F) {
	const name = "scenarios/fuzzed.yaml"
	shipped := fstest.MapFS{}
	err := fs.WalkDir(fixtures.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(fixtures.Files, path)
		shipped[path] = &fstest.MapFile{Data: raw}
		if strings.HasPrefix(path, "scenarios/") {
			f.Add(raw)
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		shipped[name] = &fstest.MapFile{Data: raw}
		if s, err := LoadFS(shipped, name); err == nil && s == nil {
			t.Error("neither a scenario nor an error")
		}
	})
}
