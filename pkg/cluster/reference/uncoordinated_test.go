package reference

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// What a release knows nothing of its processes are without, whatever is switched off (KEP-4355).
func TestUncoordinated_Lacks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "refplane")
	const lists = `#!/bin/sh
echo '[{"name":"1.1","coordination":false},{"name":"1.2","coordination":true},{"name":"odd"}]'
`
	if err := os.WriteFile(path, []byte(lists), 0o700); err != nil {
		t.Fatal(err)
	}
	uncoordinated, err := Binary{Path: path}.Uncoordinated(t.Context())
	if err != nil || !slices.Equal(uncoordinated, Uncoordinated{"1.1"}) {
		t.Fatalf("%v, %v", uncoordinated, err)
	}
	for _, tc := range []struct {
		component cluster.Component
		release   string
		lacks     bool
	}{
		{cluster.ControllerManager, "1.1", true},
		{cluster.APIServer, "1.1", true},
		{cluster.Etcd, "1.1", false},
		{cluster.ControllerManager, "1.2", false},
		{cluster.ControllerManager, "1.2 emulating 1.1", true},
		{cluster.ControllerManager, "odd", false},
	} {
		got := uncoordinated.Lacks(tc.component, tc.release)
		if want := []cluster.Feature{cluster.FeatureCoordination}; tc.lacks != slices.Equal(got, want) || !tc.lacks && len(got) > 0 {
			t.Errorf("%s at %s: %v", tc.component, tc.release, got)
		}
	}
	off := []cluster.Feature{cluster.FeatureCoordination, cluster.FeatureStorageVersions}
	if got := cluster.Union(off, uncoordinated.Lacks(cluster.APIServer, "1.1")); !slices.Equal(got, off) {
		t.Errorf("with what is switched off: %v", got)
	}
}
