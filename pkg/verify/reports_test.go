package verify

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// Every bundle that is published in the tree matches. Where a check or the catalog
// has changed on purpose, `evenkeel judge --update FOLDER` writes what follows
// from the same history now.
func TestPublishedReportsHold(t *testing.T) {
	root := filepath.Join("..", "..", "reports")
	var found []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == bundle.DigestFile {
			found = append(found, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 2 {
		t.Fatalf("found %v in %s, and there are to be published bundles of the reference and of Kubernetes", found, root)
	}
	for _, dir := range found {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, err := Bundle(t.Context(), dir, Options{Harness: "test"})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range outcome.Problems {
				t.Error(p)
			}
		})
	}
}
