package explore

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

func TestDDMin_LeavesJustWhatMatters(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(r, "elements")
		var all []int
		for i := range n {
			all = append(all, i)
		}
		needed := rapid.SliceOfDistinct(rapid.SampledFrom(all), func(i int) int { return i }).Draw(r, "needed")
		asked := 0
		got, err := ddmin(all, func(part []int) (bool, error) {
			asked++
			if !slices.IsSorted(part) {
				r.Fatalf("asked for %v, which is out of order", part)
			}
			return !slices.ContainsFunc(needed, func(i int) bool { return !slices.Contains(part, i) }), nil
		})
		slices.Sort(needed)
		if err != nil || !slices.Equal(got, needed) {
			r.Fatalf("left %v (%v), want %v", got, err, needed)
		}
		if asked > n*n+3*n+3 {
			r.Errorf("asked %d times about %d elements", asked, n)
		}
	})
}

const big = `apiVersion: evenkeel.dev/v1alpha1
kind: Scenario
metadata: {name: big}
description: Has much that does not matter.
judges: [RO-01, SVM-01]
traffic: {workloads: [configmaps.yaml, ballasts.yaml, crates.yaml], share: 0.5}
discovery: {record: true, backends: [tides]}
leaderElection: {coordinated: true, leaderActivityProbe: true}
migrations: {watch: true}
faults:
  f1:
    apiVersion: chaos-mesh.org/v1alpha1
    kind: PodChaos
    metadata: {name: f1}
    spec: {action: pod-failure, mode: one, selector: {namespaces: [kube-system], labelSelectors: {component: kube-apiserver, evenkeel.dev/member: "@member"}}}
steps:
  - hold: {name: first, for: 3s}
  - populate: {name: cargo, workloads: [crates.yaml], count: 400}
  - upgrade: {member: "@cp1", to: "@next", withFaults: [slow-etcd.yaml]}
  - inject: {member: "@cp2", fault: f1}
    when: {elected: kube-controller-manager, within: 20s, optional: true}
  - hold: {name: second, for: 16s}
  - heal: {fault: f1}
  - stop: {member: "@leader", component: controller-manager}
  - boot: {member: "@all", component: controller-manager}
  - migrate: {name: m, member: "@cp1", population: cargo, until: 50%}
  - crash: {member: "@leader", fault: controller-manager-crash.yaml, downFor: 5s}
  - awaitMigrations: {migrations: [m]}
  - hold: {name: end, for: 5s}
`

// showing is an oracle: a candidate shows the find if it has all of these texts.
func showing(needed ...string) func(context.Context, Candidate) (bool, error) {
	return func(_ context.Context, c Candidate) (bool, error) {
		for _, text := range needed {
			if !strings.Contains(string(c.Scenario), text) {
				return false, nil
			}
		}
		return true, nil
	}
}

func bigFind(t *testing.T) Candidate {
	t.Helper()
	topology, err := clusters.Read(clusters.Default)
	if err != nil {
		t.Fatal(err)
	}
	return Candidate{[]byte(big), topology}
}

func TestShrink_LeavesTheStepsThatMatter(t *testing.T) {
	s := Shrinker{Shows: showing("migrate:", "crash:", "@leader"), Tries: 1, Replays: 5, Console: io.Discard}
	got, err := s.Shrink(t.Context(), bigFind(t))
	if err != nil {
		t.Fatal(err)
	}
	// The migration needs its population.
	if got.Steps != 3 || got.Before != 9 || got.Shown != 5 || got.Replays != 5 {
		t.Errorf("%d steps of %d are left, shown in %d of %d:\n%s", got.Steps, got.Before, got.Shown, got.Replays, got.Scenario)
	}
	for _, gone := range []string{"upgrade", "inject", "heal", "stop", "boot", "awaitMigrations", "hold", "faults:", "backends", "leaderElection", "ballasts.yaml", "until", "downFor"} {
		if strings.Contains(string(got.Scenario), gone) {
			t.Errorf("%s is left:\n%s", gone, got.Scenario)
		}
	}
	parsed, err := Load(got.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	if count := scenario.ValuesOf(parsed.Steps[0].Action)["count"]; count != 1 {
		t.Errorf("the population has %v objects", count)
	}
	if strings.Contains(string(got.Topology), "name: cp2") {
		t.Errorf("a single member shows it:\n%s", got.Topology)
	}
}

func TestShrink_KeepsPairsAndTriggers(t *testing.T) {
	s := Shrinker{Shows: showing("inject:", "elected:"), Tries: 1, Console: io.Discard}
	got, err := s.Shrink(t.Context(), bigFind(t))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(got.Scenario); got.Steps != 2 || !strings.Contains(text, "heal:") || !strings.Contains(text, "f1:") {
		t.Errorf("%d steps are left:\n%s", got.Steps, text)
	}
	if !strings.Contains(string(got.Topology), "name: cp3") {
		t.Errorf("@cp2 is gone:\n%s", got.Topology)
	}
}

// A race shows in one of several runs only.
func TestShrink_RepeatsWhatIsARace(t *testing.T) {
	runs := 0
	race := func(ctx context.Context, c Candidate) (bool, error) {
		runs++
		shown, err := showing("crash:")(ctx, c)
		return shown && runs%3 == 0, err
	}
	s := Shrinker{Shows: race, Tries: 3, Replays: 6, Console: io.Discard}
	got, err := s.Shrink(t.Context(), bigFind(t))
	if err != nil {
		t.Fatal(err)
	}
	if got.Steps != 1 || got.Shown != 2 || got.Replays != 6 {
		t.Errorf("%d steps are left, shown in %d of %d", got.Steps, got.Shown, got.Replays)
	}
	once := Shrinker{Shows: func(context.Context, Candidate) (bool, error) { return false, nil }, Tries: 4, Console: io.Discard}
	if _, err := once.Shrink(t.Context(), bigFind(t)); err == nil || !strings.Contains(err.Error(), "played 4 times") {
		t.Errorf("a find that does not show again: %v", err)
	}
}

func TestShrink_GivesWhatItHasWhenItIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	s := Shrinker{Tries: 1, Replays: 3, Console: io.Discard, Shows: func(ctx context.Context, c Candidate) (bool, error) {
		if runs++; runs == 4 {
			cancel()
		}
		return showing("crash:")(ctx, c)
	}}
	got, err := s.Shrink(ctx, bigFind(t))
	if err != nil || got.Steps >= got.Before {
		t.Errorf("after an interrupt: %+v (%v)", got, err)
	}
	few := Shrinker{Shows: showing("crash:"), Tries: 1, MaxRuns: 5, Console: io.Discard}
	if got, err := few.Shrink(t.Context(), bigFind(t)); err != nil || got.Runs != 5 {
		t.Errorf("%+v (%v)", got, err)
	}
	full := errors.New("no disk")
	left := 4
	later := Shrinker{Replays: 3, Console: io.Discard, Shows: func(ctx context.Context, c Candidate) (bool, error) {
		if left--; left < 0 {
			return false, full
		}
		return showing("crash:")(ctx, c)
	}}
	if got, err := later.Shrink(t.Context(), bigFind(t)); !errors.Is(err, full) || got == nil || got.Steps >= got.Before {
		t.Errorf("after a failure of the machine: %+v (%v)", got, err)
	}
	broken := Shrinker{Shows: func(context.Context, Candidate) (bool, error) { return false, full }, Console: io.Discard}
	if _, err := broken.Shrink(t.Context(), bigFind(t)); !errors.Is(err, full) {
		t.Error("a failure of the machine counts as a run that does not show the find")
	}
}

// A run refuses some candidates, such as one that rolls back what was not upgraded.
func TestShrink_GoesOnAfterACandidateThatIsRefused(t *testing.T) {
	s := Shrinker{Tries: 2, Replays: 2, Console: io.Discard, Shows: func(ctx context.Context, c Candidate) (bool, error) {
		if !strings.Contains(string(c.Scenario), "upgrade:") {
			return false, errors.New("the run was refused")
		}
		return showing("crash:")(ctx, c)
	}}
	got, err := s.Shrink(t.Context(), bigFind(t))
	if err != nil || got.Steps != 2 || got.Shown != 2 || got.Replays != 2 {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestShrink_CountsOnlyReplaysThatWereJudgedToTheirEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runs, small := 0, ""
	s := Shrinker{Tries: 1, Replays: 9, Console: io.Discard, Shows: func(ctx context.Context, c Candidate) (bool, error) {
		if played := string(c.Scenario) + string(c.Topology); played != small {
			small, runs = played, 0
		}
		switch runs++; runs {
		case 3:
			return false, errors.New("the judge was killed")
		case 5:
			cancel()
			return false, nil
		}
		return showing("crash:")(ctx, c)
	}}
	got, err := s.Shrink(ctx, bigFind(t))
	// The last of the smaller candidates is played once to be taken, and then again.
	if err != nil || got.Shown != got.Replays || got.Replays == 0 {
		t.Errorf("shown in %d of %d replays (%v)", got.Shown, got.Replays, err)
	}
}

const sized = `apiVersion: evenkeel.dev/v1alpha1
kind: Scenario
metadata: {name: sized}
judges: [RO-01]
traffic: {off: true}
faults:
  f1:
    apiVersion: chaos-mesh.org/v1alpha1
    kind: PodChaos
    metadata: {name: f1}
    spec: {action: pod-failure, mode: one, duration: 15s, selector: {namespaces: [kube-system], labelSelectors: {component: kube-apiserver, evenkeel.dev/member: "@member"}}}
steps:
  - pause: {member: "@cp2", fault: f1}
  - crash: {member: "@leader", fault: controller-manager-crash.yaml, downFor: 5s}
  - restart: {members: ["@cp2", "@cp1", "@cp3"], withFaults: [slow-etcd.yaml, slower-etcd.yaml]}
`

func TestShrink_TakesLengthsAndElementsOfListsAway(t *testing.T) {
	find := bigFind(t)
	find.Scenario = []byte(sized)
	s := Shrinker{Tries: 1, Console: io.Discard, Shows: showing("pause:", "crash:", "downFor", "slower-etcd.yaml", "@cp1")}
	got, err := s.Shrink(t.Context(), find)
	if err != nil {
		t.Fatal(err)
	}
	text := string(got.Scenario)
	for _, want := range []string{"downFor: 500ms", "duration: 500ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not left:\n%s", want, text)
		}
	}
	for _, gone := range []string{"slow-etcd.yaml", "@cp3"} {
		if strings.Contains(text, gone) {
			t.Errorf("%s is left:\n%s", gone, text)
		}
	}
}
