package cluster

import (
	"os"
	"runtime"
	"strconv"
	"testing"
)

// Runs that are played at a time share the CPUs; one that is played alone has all of them.
func TestCPUsEach(t *testing.T) {
	for _, one := range []struct{ runs, cpus, each int }{{0, 8, 8}, {1, 8, 8}, {2, 8, 4}, {3, 8, 2}, {9, 8, 1}, {3, 1, 1}} {
		if each := CPUsEach(one.runs, one.cpus); each != one.each {
			t.Errorf("%d at a time on %d CPUs: %d for each process, not %d", one.runs, one.cpus, each, one.each)
		}
	}
}

func TestShareCPUs_LeavesOneRunAllOfThem(t *testing.T) {
	t.Setenv(CPUsVariable, "as it was")
	for runs, want := range map[int]string{1: "as it was", 1000: strconv.Itoa(CPUsEach(1000, runtime.GOMAXPROCS(0)))} {
		t.Setenv(CPUsVariable, "as it was")
		if err := ShareCPUs(runs); err != nil || os.Getenv(CPUsVariable) != want {
			t.Errorf("%d runs: %q, %v", runs, os.Getenv(CPUsVariable), err)
		}
	}
}
