//go:build linux

package kind

import (
	"context"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
)

// commandOf is what a component's next static Pod runs.
func commandOf(t *testing.T, c *kindCluster, member string, component cluster.Component, release string) string {
	t.Helper()
	raw, err := c.distribution.pod(c, c.byName[member], component, release)
	if err != nil {
		t.Fatal(err)
	}
	pod, err := parsePod(raw)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(pod.Spec.Containers[0].Command, " ")
}

func TestSwitchOff(t *testing.T) {
	recordNodes(t, newRelease)
	for _, tc := range []struct {
		distribution distribution
		release      string
		// server and manager are what they are told with both features switched off.
		server, manager []string
	}{
		{&published{}, newRelease, []string{"StorageVersionAPI=false", "CoordinatedLeaderElection=false"}, []string{"CoordinatedLeaderElection=false"}},
		{&reference{image: "evenkeel.dev/refplane:abc"}, "1.3", []string{"--storage-version-api=false", "--coordinated-leader-election=false"}, nil},
	} {
		c := newFakeCluster(t, tc.distribution, 2, nil)
		c.topology.Spec.Settings.CoordinatedLeaderElection = true
		for _, m := range c.members {
			for component, program := range binaries {
				m.pods[component] = kubeadmPod(program)
			}
		}
		told := func(member string, component cluster.Component) string {
			return commandOf(t, c, member, component, tc.release)
		}
		both := []cluster.Feature{cluster.FeatureStorageVersions, cluster.FeatureCoordination}
		server, manager := told("cp2", cluster.APIServer), told("cp2", cluster.ControllerManager)
		if err := c.SwitchOff("cp2", both); err != nil {
			t.Fatal(err)
		}
		for _, want := range tc.server {
			if strings.Contains(server, want) || !strings.Contains(told("cp2", cluster.APIServer), want) || strings.Contains(told("cp1", cluster.APIServer), want) {
				t.Errorf("cp2 was told %s, is told %s, and cp1 %s", server, told("cp2", cluster.APIServer), told("cp1", cluster.APIServer))
			}
		}
		if told("cp2", cluster.ControllerManager) == manager || strings.Contains(told("cp2", cluster.ControllerManager), "StorageVersionAPI=false") {
			t.Errorf("the controller manager was told %s, and is told %s", manager, told("cp2", cluster.ControllerManager))
		}
		for _, want := range tc.manager {
			if !strings.Contains(told("cp2", cluster.ControllerManager), want) {
				t.Errorf("the controller manager is told %s", told("cp2", cluster.ControllerManager))
			}
		}
		expectError(t, c.SwitchOff("cp2", []cluster.Feature{"gravity"}), "gravity")
		expectError(t, c.SwitchOff("cp9", nil), "no member")
		if told("cp2", cluster.APIServer) == server {
			t.Error("what could not be switched off has switched the rest on")
		}
		if err := c.SwitchOff("cp2", nil); err != nil || told("cp2", cluster.APIServer) != server {
			t.Errorf("cp2 is told %s (%v)", told("cp2", cluster.APIServer), err)
		}
	}
}

// What a static Pod was put without, its processes are started without, and those of the
// next one only if that is put without it too.
func TestProcessesOfWhatIsSwitchedOff(t *testing.T) {
	var told changes
	c := newFakeCluster(t, fakeDistribution{}, 1, told.add)
	m := c.members[0]
	startAgent(t, m.shared)
	for i, step := range []struct {
		off     []cluster.Feature
		release string
		want    []string
	}{
		{[]cluster.Feature{cluster.FeatureCoordination, cluster.FeatureStorageVersions}, "1.3", []string{"scheduler started 1 pid 1 at 1.3 without [coordinatedLeaderElection]"}},
		{nil, "1.3", []string{"scheduler exited 1 pid 1 at 1.3 without [coordinatedLeaderElection]", "scheduler started 2 pid 2 at 1.3"}},
		{nil, fakeUncoordinated, []string{"scheduler exited 2 pid 2 at 1.3", "scheduler started 3 pid 3 at 0.9 without [coordinatedLeaderElection]"}},
	} {
		told = nil
		if err := c.SwitchOff("cp1", step.off); err != nil {
			t.Fatal(err)
		}
		if err := c.put(context.Background(), m, cluster.Scheduler, step.release); err != nil {
			t.Fatal(err)
		}
		m.units.Listener()(agent.Event{Component: cluster.Scheduler, PID: i + 1, StartTime: 1})
		told.expect(t, step.want...)
	}
}
