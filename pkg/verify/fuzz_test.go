package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// Whatever one file of a bundle holds, the bundle is told to match only if the file is the
// one that was there: with digests made anew as well.
func FuzzBundle(f *testing.F) {
	files := []string{bundle.HistoryFile, bundle.ReportFile, bundle.JUnitFile, bundle.ScenarioFile, bundle.TopologyFile, bundle.EnvironmentFile, bundle.DigestFile, bundle.SignatureFile}
	dir := build(f, "pass")
	whole := map[string][]byte{}
	for i, name := range files {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue // it has no signature
		}
		whole[name] = raw
		f.Add(uint8(i), raw, true)
	}
	f.Fuzz(func(t *testing.T, i uint8, raw []byte, resealed bool) {
		name := files[int(i)%len(files)]
		path := filepath.Join(dir, name)
		write(t, path, raw)
		if resealed && name != bundle.DigestFile {
			if err := bundle.Seal(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
		}
		outcome, err := Bundle(t.Context(), dir, Options{Harness: fixtureHarness})
		follows := name == bundle.ReportFile || name == bundle.JUnitFile || name == bundle.DigestFile
		if err == nil && outcome.Matches() && follows && string(raw) != string(whole[name]) {
			t.Errorf("%s was replaced by %q, and the bundle matches", name, raw)
		}
		// The next one begins with the bundle as it was.
		if whole[name] == nil {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, whole[name], 0o600)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, bundle.DigestFile), whole[bundle.DigestFile], 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
