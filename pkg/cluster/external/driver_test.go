package external

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// The first member that gets a release is taken there by `kubeadm upgrade apply`, the others by
// `kubeadm upgrade node`: the stand-in refuses anything else, as the real one does.
func TestDriver_KubeadmUpgradesMembers(t *testing.T) {
	p := newPlane(t, "cp1", "cp2").nodes("kubeadm")
	p.releases = []string{"v1.35.4", "v1.36.3"}
	c := p.up()
	for _, name := range []string{"cp1", "cp2"} {
		if err := c.(cluster.NodeUpgrader).Replace(t.Context(), name, "v1.36.3"); err != nil {
			t.Fatal(err)
		}
		if got := c.Release(name); got != "v1.36.3" {
			t.Errorf("%s runs %s", name, got)
		}
		if got, want := p.changes.of(name), []string{name + " started 1", name + " exited 1 expected", name + " started 2"}; !slices.Equal(got, want) {
			t.Errorf("the observer was told %q, want %q", got, want)
		}
	}
	err := c.(cluster.NodeUpgrader).Replace(t.Context(), "cp1", "v1.35.4")
	if !errors.Is(err, cluster.ErrUnsupported) || !strings.Contains(err.Error(), "the driver kubeadm has no rollback here: kubeadm upgrades a member, and has no way back to an older release") {
		t.Errorf("error %v", err)
	}
	want := "-o BatchMode=yes -o ConnectTimeout=10 -o ControlMaster=no -o ControlPath=none -o ServerAliveInterval=5 -o ServerAliveCountMax=3 -p 2222 -l admin -- node-cp1 sudo -n"
	if log := p.sshLog(); len(log) != 2 || !strings.HasPrefix(log[0], want) {
		t.Errorf("ssh was called with %q, want %q and one more", log, want)
	}
}

func TestDriver_KubeadmStopsAndStarts(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	c := p.up()
	ctx := t.Context()
	if err := c.StopComponent(ctx, "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if _, runs := c.Process("cp1", cluster.APIServer); runs || !p.there("node-cp1/etc/kubernetes/evenkeel-away/kube-apiserver.yaml") {
		t.Errorf("it runs: %v", runs)
	}
	if err := c.StartMembers(ctx, map[string]string{"cp1": "v1.35.4"}); err != nil {
		t.Fatal(err)
	}
	if _, runs := c.Process("cp1", cluster.APIServer); !runs || p.there("node-cp1/etc/kubernetes/evenkeel-away/kube-apiserver.yaml") {
		t.Errorf("it runs: %v", runs)
	}
}

// What a run leaves stopped is started again as it ends.
func TestDriver_StopOfARunStartsMembers(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	c := p.up()
	if err := c.StopMember(t.Context(), "cp1"); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !p.there("node-cp1/etc/kubernetes/manifests/kube-apiserver.yaml") {
		t.Error("the manifest was not moved back")
	}
}

func TestDriver_KubeadmKills(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	c := p.up()
	before, _ := c.Process("cp1", cluster.APIServer)
	if err := c.Kill(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if err := c.StartComponent(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if now, runs := c.Process("cp1", cluster.APIServer); !runs || now == before {
		t.Errorf("the process is %+v (%v), and was %+v", now, runs, before)
	}
}

func TestDriver_KubeadmPauses(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	c := p.up()
	if err := c.Pause(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if !p.there("cp1.frozen") {
		t.Error("it is not frozen")
	}
	if err := c.Resume(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if got, want := p.changes.of("cp1"), []string{"cp1 started 1", "cp1 paused 1", "cp1 resumed 1"}; !slices.Equal(got, want) {
		t.Errorf("the observer was told %q, want %q", got, want)
	}
}

// A pause of the whole member that shows no effect is an error, and is taken back: the exit status
// of ssh is no proof.
func TestDriver_PauseWithoutEffectIsAnError(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	p.put("node-cp1/sys/fs/cgroup/kubepods.slice/cgroup.freeze", "0")
	c := p.up()
	err := c.Pause(t.Context(), "cp1", cluster.Whole)
	if err == nil || !strings.Contains(err.Error(), "the pause of the driver kubeadm has ended, and the API server still answers") {
		t.Errorf("error %v", err)
	}
	if got := p.read("node-cp1/sys/fs/cgroup/kubepods.slice/cgroup.freeze"); got != "0" {
		t.Errorf("the cgroup is left frozen: %s", got)
	}
}

func TestDriver_UnreachableNodeIsAnError(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	p.put("node-cp1/unreachable", "")
	c := p.up()
	err := c.Kill(t.Context(), "cp1", cluster.APIServer)
	for _, want := range []string{"the kill of the driver kubeadm failed: exit status 255", "Connection refused"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := c.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "do by hand at node-cp1 what `evenkeel drivers kubeadm` says of start") {
		t.Errorf("error %v", err)
	}
}

// A hook overrides one operation of the driver, and no other.
func TestDriver_HookOverridesOneOperation(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	p.hook("kill", `kill -KILL $(cat node-cp1/run/kube-apiserver); echo $EVENKEEL_HOOK >> calls`)
	c := p.up()
	if err := c.Kill(t.Context(), "cp1", cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if got := p.read("calls"); got != "kill" || p.there("ssh.log") {
		t.Errorf("the hook was called %q, and ssh was used: %v", got, p.there("ssh.log"))
	}
	if why := c.(cluster.ExternallyManaged).Lacks(cluster.MeansStopComponent); why != "" {
		t.Errorf("it lacks: %s", why)
	}
}

func TestDriver_NothingIsDoneWithoutLeave(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	c, err := p.made(true)
	if err == nil {
		err = c.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Kill(t.Context(), "cp1", cluster.APIServer); err == nil || !strings.Contains(err.Error(), "--allow-disruption") || p.there("ssh.log") {
		t.Errorf("error %v; ssh was used: %v", err, p.there("ssh.log"))
	}
}

func TestTopologyProblems_AreThoseOfTheDriver(t *testing.T) {
	p := newPlane(t, "cp1").nodes("kubeadm")
	topology := p.topology()
	topology.Spec.External.Driver = "kops"
	if got := (Provider{}).TopologyProblems(topology); len(got) != 1 || !strings.Contains(got[0], `"kops" is no driver`) {
		t.Errorf("problems %q", got)
	}
}
