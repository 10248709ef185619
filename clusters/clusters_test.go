package clusters

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// What ships is found by its path and by its name alone, and a file that is there goes before it.
func TestRead_ByPathAndByName(t *testing.T) {
	t.Chdir(t.TempDir())
	want, err := Read(Default)
	if err != nil || len(want) == 0 {
		t.Fatalf("%d bytes, %v", len(want), err)
	}
	for _, name := range []string{"local-3", "local-3.yaml", "clusters/local-3", "./clusters/local-3.yaml"} {
		if got, err := Read(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for _, name := range []string{"local-9", "mine/local-3.yaml", filepath.Join(t.TempDir(), "local-3.yaml"), "../local-3.yaml"} {
		if _, err := Read(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error %v, want that it does not exist", name, err)
		}
	}
	if err := os.WriteFile("local-3.yaml", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Read("local-3.yaml"); err != nil || string(got) != "mine" {
		t.Errorf("%q, %v", got, err)
	}
}
