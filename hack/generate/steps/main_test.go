package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The reference must say what the types say.
func TestReferenceIsNotStale(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is stale: run `make generate`, or `go run ./hack/generate/steps`", name)
		}
	}
}
