package external

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Members that a run before has left at another release are taken to the one with which the
// topology begins, by the hook of that direction, and only as a run begins.
func TestBegin_TakesMembersToTheReleaseOfTheTopology(t *testing.T) {
	p := newPlane(t, "cp1", "cp2", "cp3")
	const script = `echo "$EVENKEEL_HOOK $EVENKEEL_HOST $EVENKEEL_FROM $EVENKEEL_RELEASE" >> calls
echo "$EVENKEEL_RELEASE" > "$EVENKEEL_MEMBER.version"; echo "18000000$(wc -l < calls)" > "$EVENKEEL_MEMBER.start"`
	p.hook("upgrade", script).hook("rollback", script)
	p.release, p.releases = "v1.36.3", []string{"v1.35.4", "v1.36.3", "v1.37.1"}
	p.put("cp2.version", "v1.37.1")
	p.put("cp3.version", "v1.36.3")

	planned, err := p.made(false)
	if err != nil || planned.Release("cp1") != "v1.36.3" || planned.Release("cp2") != "v1.36.3" || p.there("calls") {
		t.Fatalf("a cluster that is only looked at is %v, %v, and the hooks were called: %q", planned, err, p.read("calls"))
	}
	begin := func() (told []string) {
		err := Provider{}.Begin(t.Context(), p.topology(), cluster.Options{LogDir: filepath.Join(p.dir, "logs"), AllowDisruption: true}, func(line string) { told = append(told, line) })
		if err != nil {
			t.Fatal(err)
		}
		return told
	}
	if told, want := begin(), []string{"cp1 runs v1.35.4, and is taken to v1.36.3, with which the run begins", "cp2 runs v1.37.1, and is taken to v1.36.3, with which the run begins"}; !slices.Equal(told, want) {
		t.Errorf("it tells %q, want %q", told, want)
	}
	if got, want := p.read("calls"), "upgrade node-cp1 v1.35.4 v1.36.3\nrollback node-cp2 v1.37.1 v1.36.3"; got != want {
		t.Errorf("the hooks were called as %q, want %q", got, want)
	}
	if told := begin(); len(told) > 0 || strings.Count(p.read("calls"), "\n") > 1 {
		t.Errorf("once they are there it tells %q, and the hooks were called as %q", told, p.read("calls"))
	}
}

// Where the topology names no release the cluster is not even asked.
func TestBegin_AsksNothingWhereNoReleaseIsNamed(t *testing.T) {
	p := newPlane(t, "cp1")
	p.put("cp1.down", "")
	if err := (Provider{}).Begin(t.Context(), p.topology(), cluster.Options{}, func(string) {}); err != nil || p.deaf.Load() > 0 {
		t.Errorf("%d requests were sent: %v", p.deaf.Load(), err)
	}
}
