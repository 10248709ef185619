package local

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	refplane "github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

func TestSwitchOff(t *testing.T) {
	useFolders(t, "v1.35.4")
	c := newPublished(t, publishedTopology())
	gates := func(member string) string {
		t.Helper()
		line, err := c.distribution.command(cluster.APIServer, c.byName[member].site, "v1.35.4")
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(line.args, func(arg string) bool { return strings.HasPrefix(arg, "--feature-gates=") })
		if len(line.off) > 0 != strings.Contains(line.args[at], "StorageVersionAPI=false") {
			t.Errorf("%s is told %s, and counts as without %v", member, line.args[at], line.off)
		}
		return line.args[at]
	}
	before := gates("cp1")
	if err := c.SwitchOff("cp2", []cluster.Feature{cluster.FeatureStorageVersions}); err != nil {
		t.Fatal(err)
	}
	if gates("cp1") != before || gates("cp2") == before {
		t.Errorf("cp1 is told %s, and cp2 %s", gates("cp1"), gates("cp2"))
	}
	line, err := c.distribution.command(cluster.ControllerManager, c.byName["cp2"].site, "v1.35.4")
	if err != nil || len(line.off) > 0 {
		t.Errorf("the controller manager is without %v (%v)", line.off, err)
	}
	expectError(t, c.SwitchOff("cp2", []cluster.Feature{"gravity"}), "gravity")
	expectError(t, c.SwitchOff("cp9", nil), "no member")
	if gates("cp2") == before {
		t.Error("what could not be switched off has switched the rest on")
	}
	if err := c.SwitchOff("cp2", nil); err != nil || gates("cp2") != before {
		t.Errorf("cp2 is told %s (%v)", gates("cp2"), err)
	}
}

// What a release knows nothing of its processes are recorded without, as what is switched off.
func TestCommand_IsWithoutWhatTheReleaseLacks(t *testing.T) {
	useFolders(t, "v1.35.4")
	site := newPublished(t, publishedTopology()).byName["cp1"].site
	plays := reference{uncoordinated: refplane.Uncoordinated{"1.1"}}
	for release, want := range map[string][]cluster.Feature{"1.1": {cluster.FeatureCoordination}, "1.2": nil, "1.3 emulating 1.1": {cluster.FeatureCoordination}} {
		line, err := plays.command(cluster.ControllerManager, site, release)
		if err != nil || !slices.Equal(line.off, want) {
			t.Errorf("at %s it is without %v (%v), want %v", release, line.off, err, want)
		}
	}
}
