package cluster

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever a topology holds, it is read or refused.
func FuzzParseTopology(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "clusters", "*.yaml"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no topologies (%v)", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if topology, err := ParseTopology("topology", raw); err == nil && topology == nil {
			t.Error("neither a topology nor an error")
		}
	})
}
