package fault

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever a fault's file holds, it is read or refused.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "fixtures", "faults", "*.yaml"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no faults (%v)", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if fault, err := Parse("fault", raw); err == nil && fault == nil {
			t.Error("neither a fault nor an error")
		}
	})
}
