package indexedjob

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
	"github.com/evenkeel/evenkeel/pkg/run"
)

// indexes is how many the Job has at least.
const indexes = 200

// runMillis is the longest that a run of the fake takes, so that Pods are also disrupted while
// one is played.
const runMillis = 300

// The lines that come out in other ways than a pass, as the fake has them: scenario and seed.
const (
	redLine     = "restart-skew/1"
	openLine    = "restart-skew/5"
	secondTry   = "rolling-upgrade/2"
	refusedLine = "restart-skew/3"
	// couldNotRunLine is one whose first Pod leaves no verdict.
	couldNotRunLine = "rolling-upgrade/4"
	// evictedLine is one whose first Pods are evicted, more of them than may fail.
	evictedLine = "rolling-upgrade/6"
	// lostLine is one whose first Pod is on a machine that Kubernetes gives up, and that
	// goes on all the same.
	lostLine = "restart-skew/7"
)

// planned are the outcomes that also a campaign on one machine comes to.
func planned() map[string]string {
	return map[string]string{redLine: fakerun.Fail, openLine: fakerun.Weak, secondTry: fakerun.WeakOnce, refusedLine: fakerun.Refuse}
}

// planOf is a plan with at least so many lines.
func planOf(t *testing.T, lines int) *conformance.Plan {
	t.Helper()
	for repeat := 1; ; repeat++ {
		plan, err := conformance.NewPlan(t.Context(), conformance.Request{
			Topology: clusters.Default, Version: storyHarness, Providers: cluster.Registry{fakerun.Provider{}},
			Asked: conformance.Asked{Focus: "^" + fakerun.Judges + "$", Repeat: repeat, Tries: mayFail, Seed: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Lines) >= lines {
			return plan
		}
	}
}

// storyHarness is the evenkeel that the histories of the fake name.
const storyHarness = "pkg/story"

// names gives each index of a plan its scenario and seed.
func names(plan *conformance.Plan) []string {
	var all []string
	for _, line := range plan.Lines {
		all = append(all, fmt.Sprintf("%s/%d", line.Scenario, line.Seed))
	}
	return all
}

// indexOf is the index of a line by its scenario and seed.
func indexOf(t *testing.T, plan *conformance.Plan, name string) int {
	t.Helper()
	index := slices.Index(names(plan), name)
	if index < 0 {
		t.Fatalf("the plan has no line %s", name)
	}
	return index
}

// failing are the indexes whose verdict is no pass, in order.
func failing(t *testing.T, plan *conformance.Plan) []int {
	t.Helper()
	indexes := []int{indexOf(t, plan, redLine), indexOf(t, plan, openLine)}
	slices.Sort(indexes)
	return indexes
}

// script is what the runs of a Pod come to: nth is its number among the Pods of the line.
func script(line string, nth int, program string) fakerun.Script {
	s := fakerun.Script{Most: runMillis, Runs: planned(), Program: program}
	switch {
	case line == couldNotRunLine && nth == 1:
		s.Runs[line] = fakerun.Crash
	case line == lostLine && nth == 1:
		s.Runs[line] = fakerun.WeakOnce // another bundle than that of its second Pod
	}
	return s
}

// programDigest is that of this test binary, which the plan names.
func programDigest(t *testing.T) string {
	t.Helper()
	digest, err := run.ProgramDigest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}
