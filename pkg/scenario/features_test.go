package scenario

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// switchable is a cluster that can switch features off.
type switchable struct{ *fakeCluster }

func (s switchable) SwitchOff(member string, features []cluster.Feature) error {
	return s.did("off %s %v", member, features)
}

func TestFeaturesAreSwitchedOffBeforeTheStart(t *testing.T) {
	fake := newFake()
	r := newRunner(fake, newHistory())
	r.cluster = switchable{fake}
	off := []cluster.Feature{cluster.FeatureStorageVersions}
	for i, step := range []Step{
		{Action: &Upgrade{Replace: Replace{Member: "@cp1", To: "@next", DisabledFeatures: off}}},
		{Action: &Restart{Members: []string{"@cp1"}}},
		{Action: &Restart{Members: []string{"@cp2"}, DisabledFeatures: off}},
	} {
		if err := r.play(t.Context(), i+1, &step); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"stop cp1", "off cp1 [storageVersions]", "start cp1 1.3",
		"stop cp1", "off cp1 []", "start cp1 1.3",
		"stop cp2", "off cp2 [storageVersions]", "start cp2 1.2",
	}
	if !slices.Equal(fake.calls, want) {
		t.Errorf("the cluster was asked for\n%s\nwant\n%s", strings.Join(fake.calls, "\n"), strings.Join(want, "\n"))
	}
}

// switchableOwnWay is one that also replaces members in a way of its own.
type switchableOwnWay struct{ ownWay }

func (s switchableOwnWay) SwitchOff(member string, features []cluster.Feature) error {
	return s.did("off %s %v", member, features)
}

func TestFeaturesAreSwitchedOffBeforeAReplacement(t *testing.T) {
	fake := newFake()
	r := newRunner(fake, newHistory())
	r.cluster = switchableOwnWay{ownWay{fakeCluster: fake}}
	for i, step := range []Step{
		{Action: &Upgrade{Replace: Replace{Member: "@cp1", To: "@next", DisabledFeatures: []cluster.Feature{cluster.FeatureStorageVersions}}}},
		{Action: &Rollback{Replace: Replace{Member: "@cp1", To: "@start"}}},
	} {
		if err := r.play(t.Context(), i+1, &step); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"off cp1 [storageVersions]", "replace cp1 1.3", "off cp1 []", "replace cp1 1.2"}
	if !slices.Equal(fake.calls, want) {
		t.Errorf("the cluster was asked for\n%s\nwant\n%s", strings.Join(fake.calls, "\n"), strings.Join(want, "\n"))
	}
}

func TestWhoCannotSwitchFeaturesOffIsToldSo(t *testing.T) {
	for _, step := range []Step{
		{Action: &Upgrade{Replace: Replace{Member: "@cp1", To: "@next", DisabledFeatures: []cluster.Feature{cluster.FeatureStorageVersions}}}},
		{Action: &Restart{Members: []string{"@cp1"}, DisabledFeatures: []cluster.Feature{cluster.FeatureStorageVersions}}},
	} {
		r := newRunner(newFake(), newHistory())
		r.Scenario.Steps = []Step{step}
		if err := r.check(); !errors.Is(err, cluster.ErrUnsupported) || !strings.Contains(err.Error(), "cannot switch features off") {
			t.Errorf("error %v", err)
		}
		r.cluster = switchable{newFake()}
		if err := r.check(); err != nil {
			t.Error(err)
		}
	}
	_, err := LoadFS(fstest.MapFS{"s/x.yaml": {Data: []byte(head + "steps:\n- restart: {members: [cp1], disabledFeatures: [gravity]}\n")}}, "s/x.yaml")
	if err == nil || !strings.Contains(err.Error(), `s/x.yaml:5: step 1 (restart): there is no feature "gravity"`) {
		t.Errorf("error %v", err)
	}
}
