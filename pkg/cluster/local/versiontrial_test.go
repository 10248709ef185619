package local

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
)

// A trial says how the program ended and what it said, and leaves the member as it is.
func TestTryVersions(t *testing.T) {
	useFake(t)
	c := newCluster(t, 1, cluster.Options{})
	if _, _, err := c.TryVersions(t.Context(), "cp1", fakeplane.Broken); err == nil {
		t.Error("versions were tried where no API server runs, whose place the program would take")
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, runs := c.Process("cp1", cluster.APIServer)
	exit, log, err := c.TryVersions(t.Context(), "cp1", fakeplane.Broken)
	if err != nil || exit != "exit status 1" || !slices.ContainsFunc(log, func(line string) bool { return strings.Contains(line, "the flag of the year") }) {
		t.Errorf("%q, %q, %v", exit, log, err)
	}
	if after, still := c.Process("cp1", cluster.APIServer); !runs || !still || after != before {
		t.Errorf("the API server was %+v and is %+v", before, after)
	}
	if _, _, err := c.TryVersions(t.Context(), "cp9", fakeplane.Broken); err == nil {
		t.Error("versions were tried at a member that does not exist")
	}
}
